/**
 * A small state kept in two files that take turns, `state.0` and `state.1`, each with its log position and checksum:
 *
 *      0  8 bytes  magic and version
 *      8  u64      log position that the state reflects
 *     16  u32      CRC of everything else
 *     20           the state
 *
 * One that is being written is `state.0.new`; the next one overwrites what was left of it.
 */

import { Buffer } from 'node:buffer';
import type { Done } from '../../server/io/io.ts';
import type { Captured } from './captured.ts';
import { crc32 } from './crc32.ts';
import { get32, get64, put64 } from './integers.ts';
import type { PieceFile } from './piece-writer.ts';
import { inOrder, type Step } from './steps.ts';
import type { StoreFiles } from './store-files.ts';
import { readFileTolerantly } from './tolerant-read.ts';

const MAGIC = 'PETCON01';
const HEADER_BYTES = 20;
const CRC_AT = 16;
const SLOTS = 2;

export interface FoundState {
  readonly state: Buffer;
  readonly lsn: number;
  /** Position of the state in the other file, 0 when there is none. */
  readonly olderLsn: number;
}

export class StateFile {
  private readonly files: StoreFiles;
  private readonly directory: string;
  private slot = 0;
  /** The state that was found at start may be seen and not be on the device. */
  private isDoubtful = false;

  constructor(files: StoreFiles, directory: string) {
    this.files = files;
    this.directory = directory;
  }

  write(lsn: number, state: Captured, done: Done): void {
    const { files, directory } = this;
    const slot = (this.slot + 1) % SLOTS;
    inOrder(
      [
        ...(this.isDoubtful ? this.makeSure() : []),
        (next) => files.replaceCopy(this.path(slot), stateFile(lsn, state), next),
        (next) => files.syncNames(directory, next),
      ],
      (error) => {
        if (error === null) {
          this.slot = slot;
          this.isDoubtful = false;
        }
        done(error);
      },
    );
  }

  /** The newest intact state, at start. */
  readNow(): FoundState | null {
    const { disk } = this.files;
    if (disk.statusNow(this.directory) === null) return null;
    this.files.noteDirectory(this.directory);
    const found: { slot: number; state: Buffer; lsn: number }[] = [];
    for (let slot = 0; slot < SLOTS; slot++) {
      const bytes = readFileTolerantly(disk, this.path(slot));
      if (bytes === null) continue;
      if (isState(bytes)) found.push({ slot, lsn: get64(bytes, 8), state: bytes.subarray(HEADER_BYTES) });
      else this.files.damage.note(`"${this.path(slot)}" is damaged`);
    }
    const [newest, older] = found.sort((a, b) => b.lsn - a.lsn);
    if (newest === undefined) return null;
    this.slot = newest.slot;
    this.isDoubtful = true;
    return { state: newest.state, lsn: newest.lsn, olderLsn: older?.lsn ?? 0 };
  }

  remove(): void {
    this.files.disk.removeDirectory(this.directory, (error) => {
      if (error !== null && error.code !== 'ENOENT') this.files.noteError(error);
    });
  }

  /** While one state is overwritten the other one has to stand. */
  private makeSure(): Step[] {
    const { files, directory } = this;
    return [(next) => files.syncFile(this.path(this.slot), next), (next) => files.syncNames(directory, next)];
  }

  private path(slot: number): string {
    return `${this.directory}/state.${slot}`;
  }
}

function stateFile(lsn: number, state: Captured): PieceFile {
  const head = Buffer.alloc(HEADER_BYTES);
  head.write(MAGIC, 0, 'latin1');
  put64(head, 8, lsn);
  return { head, checksumAt: CRC_AT, headChecksum: crc32(head, 0, CRC_AT), pieces: state.pieces() };
}

function isState(bytes: Buffer): boolean {
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return false;
  return get32(bytes, CRC_AT) === checksum(bytes);
}

function checksum(bytes: Buffer): number {
  return crc32(bytes, HEADER_BYTES, bytes.length, crc32(bytes, 0, CRC_AT));
}
