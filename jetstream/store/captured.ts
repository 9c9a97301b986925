/** A state that was captured at one moment and is encoded later, in pieces, while things go on. */

import type { Buffer } from 'node:buffer';

export interface Captured {
  /** How many bytes all pieces have together. */
  readonly bytes: number;
  /** The pieces in order. Each dies when the next one is asked for. */
  pieces(): Generator<Buffer>;
}

/** Pieces are about so large: encoding one takes well below a millisecond. */
export const PIECE_BYTES: number = 256 * 1024;
