/**
 * The two files of the catalog, written in turn: `catalog.0.db` and `catalog.1.db`. The newer intact one counts; a
 * damaged one is moved aside.
 */

import type { Buffer } from 'node:buffer';
import type { Done } from '../../server/io/io.ts';
import { Catalog, databaseIn, SCHEMA_VERSION } from './catalog.ts';
import { StoreError } from './store-directory.ts';
import type { StoreFiles } from './store-files.ts';
import { readFileTolerantly } from './tolerant-read.ts';

const SLOTS = 2;

export class CatalogFiles {
  /** Files that could not be read. */
  readonly damaged: string[] = [];
  /** Position that the older of the two reflects; 0: there is none. */
  olderLsn = 0;
  private readonly files: StoreFiles;
  private readonly directory: string;
  private slot = 0;

  constructor(files: StoreFiles, directory: string) {
    this.files = files;
    this.directory = directory;
  }

  /** The newest intact database, at start; `null` when there is none. Throws a `StoreError` when one is of another form. */
  read(addon: object): Buffer | null {
    const { disk } = this.files;
    const found: { slot: number; database: Buffer; lsn: number; generation: number }[] = [];
    for (let slot = 0; slot < SLOTS; slot++) {
      const path = this.path(slot);
      if (disk.statusNow(path) === null) continue;
      const bytes = readFileTolerantly(disk, path);
      const database = bytes === null ? null : databaseIn(bytes);
      if (database === null) this.damaged.push(path);
      else found.push({ slot, database, ...ageOf(addon, path, database) });
    }
    const [newest, older] = found.sort((a, b) => b.generation - a.generation);
    this.slot = newest?.slot ?? 0;
    this.olderLsn = older?.lsn ?? 0;
    return newest?.database ?? null;
  }

  /** Writes a catalog file's bytes in the place of the older one. */
  write(bytes: Buffer, done: Done): void {
    const slot = (this.slot + 1) % SLOTS;
    this.files.replaceFile(this.path(slot), bytes, (error) => {
      if (error === null) this.slot = slot;
      done(error);
    });
  }

  /** Gives what could not be read another name; the new names. */
  moveAside(): string[] {
    return this.damaged.map((path) => {
      const aside = `${path}.damaged`;
      this.files.disk.rename(path, aside, (error) => this.files.noteError(error));
      return aside;
    });
  }

  /** Directories of assets have numbers below this one. */
  numbersBelow(): number {
    let below = 1;
    for (const kind of ['streams', 'consumers']) {
      for (const name of this.files.disk.readDirectoryNow(`${this.directory}/${kind}`)) {
        if (/^\d{8,}$/.test(name)) below = Math.max(below, Number(name) + 1);
      }
    }
    return below;
  }

  private path(slot: number): string {
    return `${this.directory}/catalog.${slot}.db`;
  }
}

function ageOf(addon: object, path: string, database: Buffer): { lsn: number; generation: number } {
  const catalog = new Catalog(addon, database);
  const { lsn, generation, schemaVersion } = catalog;
  catalog.close();
  if (schemaVersion !== SCHEMA_VERSION) {
    const detail = `form ${schemaVersion}, this version reads ${SCHEMA_VERSION}; nothing was touched`;
    throw new StoreError('STORE_FORMAT', `the catalog "${path}" is of another form (${detail})`);
  }
  return { lsn, generation };
}
