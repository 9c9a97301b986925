/** How large the files of a store become and how much memory it may take. A test makes them small. */

/** How large the segments of the commit log become. */
export interface SegmentSizes {
  readonly segmentBytesMin: number;
  readonly segmentBytesMax: number;
}

export interface StoreSizes extends SegmentSizes {
  /** A block is closed before it exceeds this. */
  readonly blockBytesMax: number;
  /** What an open block collects before it is written. */
  readonly tailBytesMax: number;
  /** What all open blocks together may collect; above it smaller tails are written too. */
  readonly tailsBytesMax: number;
  /** What is read from a block at once, at least. */
  readonly readBytes: number;
  /** What was read from blocks or written to them lately, kept in memory. */
  readonly cacheBytesMax: number;
  /** Indexes of closed blocks kept in memory. */
  readonly indexBytesMax: number;
  /** How long removals gather before blocks are written anew without what was removed. */
  readonly compactRestMs: number;
  /** So much of the log is read again at the start after an orderly end, at most. */
  readonly rereadBytesMax: number;
  /** After so long without use what is in memory for later goes; Infinity: never. */
  readonly idleMs: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

export const STORE_SIZES: StoreSizes = {
  segmentBytesMin: MIB,
  segmentBytesMax: 64 * MIB,
  blockBytesMax: 8 * MIB,
  tailBytesMax: 256 * KIB,
  tailsBytesMax: 8 * MIB,
  readBytes: 256 * KIB,
  cacheBytesMax: 4 * MIB,
  indexBytesMax: 8 * MIB,
  compactRestMs: 1000,
  rereadBytesMax: 8 * MIB,
  idleMs: 5000,
};
