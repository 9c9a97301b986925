/**
 * A small state kept in two files that take turns, each with its log position and checksum:
 *
 *      0  8 bytes  magic and version
 *      8  u48      log position that the state reflects
 *     14  u16      0
 *     16  u32      CRC of the state
 *     20           the state
 */

import { Buffer } from 'node:buffer';
import type { Done } from '../../server/io/io.ts';
import { crc32 } from './crc32.ts';
import { get32, get48, put32, put48 } from './integers.ts';
import type { StoreFiles } from './store-files.ts';

const MAGIC = 'PETCON01';
const HEADER_BYTES = 20;
const SLOTS = 2;

export class StateFile {
  /** Position of the last state written or read; 0: none. */
  lsn = 0;
  private readonly files: StoreFiles;
  private readonly directory: string;
  private slot = 0;
  private named = 0;

  constructor(files: StoreFiles, directory: string) {
    this.files = files;
    this.directory = directory;
  }

  write(lsn: number, state: Buffer, done: Done): void {
    const bytes = Buffer.alloc(HEADER_BYTES + state.length);
    bytes.write(MAGIC, 0, 'latin1');
    put48(bytes, 8, lsn);
    put32(bytes, 16, crc32(state, 0, state.length, lsn >>> 0));
    state.copy(bytes, HEADER_BYTES);
    const slot = (this.slot + 1) % SLOTS;
    this.files.writeFile(this.path(slot), bytes, (error) => {
      if (error !== null) {
        done(error);
        return;
      }
      this.slot = slot;
      this.lsn = lsn;
      if (this.named >= SLOTS) done(null);
      else {
        this.named++;
        this.files.disk.syncDirectory(this.directory, done);
      }
    });
  }

  /** The newest intact state, at start. */
  readNow(): Buffer | null {
    let newest: Buffer | null = null;
    for (let slot = 0; slot < SLOTS; slot++) {
      const path = this.path(slot);
      if (this.files.disk.statusNow(path) === null) continue;
      const bytes = this.files.disk.readFileNow(path);
      if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) continue;
      const lsn = get48(bytes, 8);
      if (get32(bytes, 16) !== crc32(bytes, HEADER_BYTES, bytes.length, lsn >>> 0) || lsn < this.lsn) continue;
      newest = bytes.subarray(HEADER_BYTES);
      this.lsn = lsn;
      this.slot = slot;
    }
    return newest;
  }

  remove(): void {
    this.files.disk.removeDirectory(this.directory, (error) => {
      if (error !== null && error.code !== 'ENOENT') this.files.noteError(error);
    });
  }

  private path(slot: number): string {
    return `${this.directory}/state.${slot}`;
  }
}
