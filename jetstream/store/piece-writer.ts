/**
 * Writes a file that is made while it is written, a piece at a time, so that a large one neither takes a long turn nor
 * memory for all of it. The head is written last, with the checksum of everything: until then the file is none.
 *
 *     │ head, checksum │ piece │ piece │ …          written: piece, piece, …, head, sync
 */

import { Buffer } from 'node:buffer';
import type { Done, FileHandle } from '../../server/io/io.ts';
import { crc32 } from './crc32.ts';
import { put32 } from './integers.ts';
import { shortWrite } from './segment.ts';

/** Less than this is not worth a write of its own. */
const WRITE_BYTES_MIN = 64 * 1024;

export interface PieceFile {
  /** What the file begins with, but for the checksum. */
  readonly head: Buffer;
  readonly checksumAt: number;
  /** Checksum of what counts of the head: that of the pieces goes on from there. */
  readonly headChecksum: number;
  /** The bytes of a piece die when the next one is asked for. */
  readonly pieces: Iterator<Buffer>;
}

/** Writes and syncs the file, which is open and empty, and closes it. `wrote` hears of the bytes. */
export function writePieces(handle: FileHandle, file: PieceFile, wrote: (bytes: number) => void, done: Done): void {
  const { head, checksumAt, pieces } = file;
  let checksum = file.headChecksum;
  let position = head.length;
  const finish: Done = (error) => handle.close((closeError) => done(error ?? closeError));
  const write = (bytes: Buffer, at: number, then: () => void): void => {
    handle.write(bytes, 0, bytes.length, at, (error, written) => {
      const problem = error ?? shortWrite(written, bytes.length);
      if (problem !== null) {
        finish(problem);
        return;
      }
      wrote(bytes.length);
      then();
    });
  };
  const writeHead = (behind: Buffer): void => {
    put32(head, checksumAt, checksum);
    write(behind.length === 0 ? head : Buffer.concat([head, behind]), 0, () => handle.sync(finish));
  };
  const next = (): void => {
    const { bytes, isLast } = takeSome(pieces);
    checksum = crc32(bytes, 0, bytes.length, checksum);
    // A small file is one write.
    if (isLast && position === head.length) writeHead(bytes);
    else if (bytes.length === 0) writeHead(bytes);
    else {
      const at = position;
      position += bytes.length;
      write(bytes, at, next);
    }
  };
  next();
}

/**
 * The next pieces, at least as many as make a write worth while; `isLast`: there are no more. A large one is not copied: it
 * lives until the next is asked for, and garbage outside of the heap may stay for long.
 */
function takeSome(pieces: Iterator<Buffer>): { bytes: Buffer; isLast: boolean } {
  const together: Buffer[] = [];
  let bytes = 0;
  while (bytes < WRITE_BYTES_MIN) {
    const piece = pieces.next();
    if (piece.done === true) return { bytes: Buffer.concat(together), isLast: true };
    if (together.length === 0 && piece.value.length >= WRITE_BYTES_MIN) return { bytes: piece.value, isLast: false };
    together.push(Buffer.from(piece.value));
    bytes += piece.value.length;
  }
  return { bytes: Buffer.concat(together), isLast: false };
}
