/**
 * What assets there are: streams and consumers with their configurations, and a few values about the store. A SQLite
 * database in memory, a few MiB at most; changes are frames of the commit log, and now and then the whole is written to
 * a file that the `sqlite3` tool can read.
 *
 *     catalog.0.db, catalog.1.db    written in turn; behind the database a trailer of 16 bytes that SQLite ignores:
 *                                   magic, u32 bytes before it, u32 CRC of them
 */

import { Buffer } from 'node:buffer';
import Database from 'better-sqlite3';
import { crc32 } from './crc32.ts';
import { get32, put32 } from './integers.ts';

const TRAILER_BYTES = 16;
const TRAILER_MAGIC = 'PETCAT01';
/** Goes with the format of the whole store, which is looked at first. */
export const SCHEMA_VERSION = 2;

export type AssetKind = 'stream' | 'consumer';

export interface CatalogEntry {
  readonly number: number;
  readonly kind: AssetKind;
  readonly account: string;
  /** The stream's name. */
  readonly stream: string;
  /** The consumer's name; empty for a stream. */
  readonly consumer: string;
  /** The configuration as JSON. */
  readonly config: string;
  /** When it was created, RFC 3339 with nanoseconds. */
  readonly created: string;
}

export interface DeletedAsset {
  readonly number: number;
  readonly kind: AssetKind;
}

export type CatalogChange =
  | { readonly put: CatalogEntry }
  | { readonly delete: { readonly number: number; readonly kind: AssetKind } };

export class Catalog {
  private readonly database: Database.Database;

  /** `image`: a catalog written before, `null` for a new one. `addon`: the loaded SQLite addon. */
  constructor(addon: object, image: Buffer | null) {
    this.database = new Database(image ?? ':memory:', { nativeBinding: addon as never });
    if (image === null) this.createTables();
  }

  /** Position below which all frames are reflected. */
  get lsn(): number {
    return this.value('lsn');
  }

  /** Position from which the log has to be kept. */
  get replayLsn(): number {
    return this.value('replay_lsn');
  }

  /** Position from which the log has to be read at start if every checkpoint is there. */
  get neededLsn(): number {
    return this.value('needed_lsn');
  }

  /** Counts the images made: of two, the one with the higher number is the newer. */
  get generation(): number {
    return this.value('generation');
  }

  /** Where the log ended when the store was closed in order; -1 when it was not. */
  get cleanLsn(): number {
    return this.value('clean_lsn');
  }

  get schemaVersion(): number {
    return this.value('schema_version');
  }

  apply(change: CatalogChange): void {
    if ('delete' in change) {
      this.remove(change.delete.number, change.delete.kind);
      return;
    }
    const { number, kind, account, stream, consumer, config, created } = change.put;
    this.database
      .prepare(
        `INSERT INTO asset (number, kind, account, stream, consumer, config, created) VALUES (?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (number) DO UPDATE SET config = excluded.config
           ON CONFLICT (account, stream, consumer) DO UPDATE SET config = excluded.config`,
      )
      .run(number, kind, account, stream, consumer, config, created);
    if (number >= this.nextNumber) this.setValue('next_number', number + 1);
  }

  /** A stream goes with its consumers. What they leave on disk is noted until that is gone too. */
  private remove(number: number, kind: AssetKind): void {
    const condition =
      kind === 'stream'
        ? `number = @number OR kind = 'consumer'
             AND (account, stream) = (SELECT account, stream FROM asset WHERE number = @number)`
        : 'number = @number';
    this.database
      .prepare(`INSERT OR IGNORE INTO deleted SELECT number, kind FROM asset WHERE ${condition}`)
      .run({ number });
    this.database.prepare('DELETE FROM asset WHERE number IN (SELECT number FROM deleted)').run();
  }

  /** Deleted assets that may have left something on disk. */
  deleted(): DeletedAsset[] {
    return this.database.prepare('SELECT number, kind FROM deleted ORDER BY number').all() as DeletedAsset[];
  }

  /** Nothing is left of this deleted asset. */
  forget(number: number): void {
    this.database.prepare('DELETE FROM deleted WHERE number = ?').run(number);
  }

  /** The asset has two checkpoints: the log need not hold everything of it any more. */
  noteCovered(number: number): void {
    this.database.prepare('UPDATE asset SET covered = 1 WHERE number = ?').run(number);
  }

  isCovered(number: number): boolean {
    const row = this.database.prepare('SELECT covered FROM asset WHERE number = ?').get(number);
    return (row as { covered: number } | undefined)?.covered === 1;
  }

  /** All assets that have two checkpoints. */
  covered(): ReadonlySet<number> {
    const rows = this.database.prepare('SELECT number FROM asset WHERE covered = 1').all() as { number: number }[];
    return new Set(rows.map(({ number }) => number));
  }

  /** The number of the asset with the name that this entry has; the entry's own unless two came to be at once. */
  numberOf({ account, stream, consumer, number }: CatalogEntry): number {
    const sql = 'SELECT number FROM asset WHERE account = ? AND stream = ? AND consumer = ?';
    const row = this.database.prepare(sql).get(account, stream, consumer);
    return (row as { number: number } | undefined)?.number ?? number;
  }

  /** Every asset, streams before the consumers on them. */
  entries(): CatalogEntry[] {
    const columns = 'number, kind, account, stream, consumer, config, created';
    const rows = this.database.prepare(`SELECT ${columns} FROM asset ORDER BY kind = 'consumer', number`).all();
    return rows as CatalogEntry[];
  }

  /** The number for the next asset; numbers are never used again. */
  get nextNumber(): number {
    return this.value('next_number');
  }

  /** Numbers below this one belong to something. */
  reserveBelow(number: number): void {
    if (number > this.nextNumber) this.setValue('next_number', number);
  }

  /** The bytes of a catalog file that reflects the log up to `lsn`, where it ends if the store is being closed. */
  image(lsn: number, replayLsn: number, neededLsn: number, isClosing: boolean): Buffer {
    this.setValue('lsn', lsn);
    this.setValue('replay_lsn', replayLsn);
    this.setValue('needed_lsn', neededLsn);
    this.setValue('clean_lsn', isClosing ? lsn : -1);
    this.setValue('generation', this.generation + 1);
    const database = this.database.serialize();
    const trailer = Buffer.alloc(TRAILER_BYTES);
    trailer.write(TRAILER_MAGIC, 0, 'latin1');
    put32(trailer, 8, database.length);
    put32(trailer, 12, crc32(database, 0, database.length));
    return Buffer.concat([database, trailer]);
  }

  close(): void {
    this.database.close();
  }

  private createTables(): void {
    this.database.exec(`
      CREATE TABLE asset (
        number INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        account TEXT NOT NULL,
        stream TEXT NOT NULL,
        consumer TEXT NOT NULL,
        config TEXT NOT NULL,
        created TEXT NOT NULL,
        covered INTEGER NOT NULL DEFAULT 0,
        UNIQUE (account, stream, consumer)
      ) STRICT;
      CREATE TABLE deleted (number INTEGER PRIMARY KEY, kind TEXT NOT NULL) STRICT;
      CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
    `);
    this.setValue('schema_version', SCHEMA_VERSION);
    this.setValue('next_number', 1);
    this.setValue('lsn', 0);
    this.setValue('replay_lsn', 0);
    this.setValue('clean_lsn', -1);
    this.setValue('generation', 0);
  }

  private value(name: string): number {
    const row = this.database.prepare('SELECT value FROM meta WHERE name = ?').get(name);
    return (row as { value: number } | undefined)?.value ?? 0;
  }

  private setValue(name: string, value: number): void {
    this.database.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(name, value);
  }
}

/** The database in a catalog file, or `null` when the file is damaged. */
export function databaseIn(file: Buffer): Buffer | null {
  const at = file.length - TRAILER_BYTES;
  if (at < 0 || file.toString('latin1', at, at + TRAILER_MAGIC.length) !== TRAILER_MAGIC) return null;
  if (get32(file, at + 8) !== at || get32(file, at + 12) !== crc32(file, 0, at)) return null;
  return file.subarray(0, at);
}
