/**
 * A run of consecutive messages of one stream: their bytes, where each stands, and which are removed.
 *
 * The last block of a stream is open: it takes new records. The others are closed and never change in place; what is
 * removed from them is only noted. The index of a closed block may be given back and loaded again.
 */

import type { BlockBytes } from './block-bytes.ts';
import { BlockIndex, NO_RECORD } from './block-index.ts';
import { SequenceBits } from './sequence-bits.ts';

/** What names the files of a block. */
export interface BlockName {
  readonly number: number;
  /** How often it was written anew without what had been removed from it. */
  readonly generation: number;
}

export class MessageBlock implements BlockName {
  readonly number: number;
  readonly generation: number;
  readonly firstSequence: number;
  readonly bytes: BlockBytes;
  /** `null`: not in memory. */
  index: BlockIndex | null;
  removed: SequenceBits;
  /** The highest sequence that has a record here; below `firstSequence` while there is none. */
  lastSequence: number;
  /** Messages that are visible and not removed, and the bytes they count. */
  liveMessages = 0;
  liveBytes = 0;
  /** Messages that are on their way to become visible. */
  hiddenMessages = 0;
  isOpen = true;
  /** Its index was used since somebody looked last. */
  wasUsed = false;

  constructor(number: number, generation: number, firstSequence: number, bytes: BlockBytes) {
    this.number = number;
    this.generation = generation;
    this.firstSequence = firstSequence;
    this.bytes = bytes;
    this.index = new BlockIndex(firstSequence);
    this.removed = new SequenceBits(firstSequence);
    this.lastSequence = firstSequence - 1;
  }

  /** Whether a record with this sequence stands here and is not removed. The index is in memory. */
  has(sequence: number): boolean {
    const { index } = this;
    return index !== null && index.offset(sequence) !== NO_RECORD && !this.removed.has(sequence);
  }

  /** Bytes of the record with this sequence. The index is in memory. */
  recordBytes(sequence: number): number {
    const index = this.index as BlockIndex;
    return index.endOffset(sequence, this.bytes.end) - index.offset(sequence);
  }
}
