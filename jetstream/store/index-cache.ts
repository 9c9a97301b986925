/**
 * The indexes of closed blocks that are in memory although they are on the device too, for all streams of a server
 * together. Those not used for the longest time go first: a block that was used since it was looked at last is passed
 * over once (the clock algorithm), so that using one costs a single store.
 *
 * Bound: `bytesMax`; the one used last stays also when it alone is larger, and so do those of which messages are on
 * their way to become visible.
 */

import type { BlockIndex } from './block-index.ts';
import type { MessageBlock } from './message-block.ts';

export class IndexCache {
  bytes = 0;
  private readonly bytesMax: number;
  /** In the order in which they will be looked at, with the bytes that each takes. */
  private readonly kept = new Map<MessageBlock, number>();

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** The block has its index in memory and on the device. */
  keep(block: MessageBlock): void {
    this.drop(block);
    const { bytes } = block.index as BlockIndex;
    this.kept.set(block, bytes);
    this.bytes += bytes;
    block.wasUsed = true;
    this.shrink(block);
  }

  /** The block is gone, or its index is not on the device any more. */
  drop(block: MessageBlock): void {
    const bytes = this.kept.get(block);
    if (bytes === undefined) return;
    this.kept.delete(block);
    this.bytes -= bytes;
  }

  /** Drops all indexes that are not needed at present. */
  clear(): void {
    for (const block of this.kept.keys()) {
      if (block.hiddenMessages > 0) continue;
      this.drop(block);
      block.index = null;
    }
  }

  private shrink(spared: MessageBlock): void {
    for (const [block, bytes] of this.kept) {
      if (this.bytes <= this.bytesMax) return;
      if (block === spared || block.hiddenMessages > 0) continue;
      if (block.wasUsed) {
        // It gets a second chance, behind all others.
        block.wasUsed = false;
        this.kept.delete(block);
        this.kept.set(block, bytes);
      } else {
        this.drop(block);
        block.index = null;
      }
    }
  }
}
