/**
 * What a block wrote to its file and holds in memory until it is on the device, since the log does not have it: the
 * records of large messages, and what stands between them.
 */

import type { Buffer } from 'node:buffer';
import type { StoreFiles } from './store-files.ts';

/** Bytes `[start, end)` of a block; without a buffer they are in the file already. */
export interface Piece {
  readonly buffer: Buffer | null;
  readonly start: number;
  readonly end: number;
}

export class KeptPieces {
  private readonly files: StoreFiles;
  private pieces: Piece[] = [];
  /** What begins below this offset is kept. */
  private below = 0;

  constructor(files: StoreFiles) {
    this.files = files;
  }

  /** Everything below this offset is to be kept. */
  keepBelow(offset: number): void {
    this.below = offset;
  }

  /** The piece is in the file now. */
  wrote(piece: Piece): void {
    if (piece.start >= this.below) return;
    this.pieces.push(piece);
    this.files.keptBytes += piece.end - piece.start;
  }

  /** Everything below this offset is on the device. */
  synced(end: number): void {
    if (this.pieces.length === 0) return;
    for (const piece of this.pieces) if (piece.end <= end) this.files.keptBytes -= piece.end - piece.start;
    this.pieces = this.pieces.filter((piece) => piece.end > end);
  }

  /** Overwrites this range of the block with zeros. */
  erase(start: number, end: number): void {
    for (const piece of this.pieces) {
      if (piece.start <= start && piece.end >= end) piece.buffer?.fill(0, start - piece.start, end - piece.start);
    }
  }

  /** Whether these bytes of the block are kept. */
  holds(start: number, end: number): boolean {
    return this.pieces.some((piece) => piece.buffer !== null && piece.start <= start && piece.end >= end);
  }

  /** Puts what is kept into a copy of the block. */
  copyTo(copy: Buffer): void {
    for (const { buffer, start, end } of this.pieces) buffer?.copy(copy, start, 0, end - start);
  }
}
