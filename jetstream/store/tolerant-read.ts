/**
 * Reading at start what may be damaged: a sector that can't be read is tried again, and then counts as ones, which no
 * checksum accepts and which nobody takes for a part never written. So an unreadable sector costs what stands in it and
 * not the start.
 */

import { Buffer } from 'node:buffer';
import type { Disk } from '../../server/io/io.ts';

const PIECE_BYTES = 4096;
const ATTEMPTS = 3;
const UNREADABLE = 0xff;

/** Reads `length` bytes at `position` of something into the buffer that it was made for, from offset `at` on. */
export type ReadNow = (at: number, length: number, position: number) => number;

/** Reads `length` bytes at `position` into `buffer`, fewer only at the end of the file. */
export function readTolerantly(read: ReadNow, buffer: Buffer, length: number, position: number): number {
  const whole = attempt(() => read(0, length, position));
  if (whole !== null) return whole;
  let end = 0;
  for (let at = 0; at < length; at += PIECE_BYTES) {
    const piece = Math.min(PIECE_BYTES, length - at);
    const bytes = attempt(() => read(at, piece, position + at));
    if (bytes === null) buffer.fill(UNREADABLE, at, at + piece);
    end = at + (bytes ?? piece);
    if (bytes !== null && bytes < piece) break;
  }
  return end;
}

/** A range of a file that is to be read into a buffer of its own. `null` when the file is not there or can't be opened. */
export function readRangeTolerantly(disk: Disk, path: string, position: number, length: number): Buffer | null {
  const file = attempt(() => (disk.statusNow(path) === null ? null : disk.openNow(path, 'read')));
  if (file === null) return null;
  const buffer = Buffer.alloc(length);
  const read: ReadNow = (at, bytes, from) => file.readNow(buffer, at, bytes, from);
  const end = readTolerantly(read, buffer, length, position);
  file.closeNow();
  return buffer.subarray(0, end);
}

/** What is in the file, as far as it can be read; `null` when it is not there or can't be opened. */
export function readFileTolerantly(disk: Disk, path: string): Buffer | null {
  const status = attempt(() => disk.statusNow(path));
  return status === null ? null : readRangeTolerantly(disk, path, 0, status.bytes);
}

/** What the operation gives; `null` when the system refuses each time. */
function attempt<T>(operation: () => T): T | null {
  for (let i = 0; i < ATTEMPTS; i++) {
    try {
      return operation();
    } catch (error) {
      if ((error as { code?: string }).code === undefined) throw error;
    }
  }
  return null;
}
