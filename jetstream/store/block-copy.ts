/**
 * Reads a file back as far as that is possible: in pieces, the ones that fail in smaller ones, and what can't be read
 * after ATTEMPTS stays zeros in the copy.
 */

import { Buffer } from 'node:buffer';
import type { CountedFile } from './counted-file.ts';

const PIECE_BYTES = 256 * 1024;
const SMALL_BYTES = 4096;
const ATTEMPTS = 3;

/** Copies the first `bytes` of the file; calls back with the copy, and whether all of it was read. */
export function copyReadable(file: CountedFile, bytes: number, done: (copy: Buffer, isWhole: boolean) => void): void {
  const copy = Buffer.alloc(bytes);
  readPieces(file, copy, 0, bytes, PIECE_BYTES, (isWhole) => done(copy, isWhole));
}

function readPieces(
  file: CountedFile,
  into: Buffer,
  start: number,
  end: number,
  pieceBytes: number,
  done: (isWhole: boolean) => void,
): void {
  if (start >= end) {
    done(true);
    return;
  }
  const pieceEnd = Math.min(end, start + pieceBytes);
  const next = (isRead: boolean): void =>
    readPieces(file, into, pieceEnd, end, pieceBytes, (isRestRead) => done(isRead && isRestRead));
  readPiece(file, into, start, pieceEnd, ATTEMPTS, (isRead) => {
    if (isRead || pieceBytes === SMALL_BYTES) next(isRead);
    else readPieces(file, into, start, pieceEnd, SMALL_BYTES, next);
  });
}

function readPiece(
  file: CountedFile,
  into: Buffer,
  start: number,
  end: number,
  attempts: number,
  done: (isRead: boolean) => void,
): void {
  file.read(into, start, end - start, start, (error) => {
    if (error === null) done(true);
    else if (attempts > 1) readPiece(file, into, start, end, attempts - 1, done);
    else done(false);
  });
}
