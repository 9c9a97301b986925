/**
 * The blocks of one stream, oldest first, and the search among them: by sequence, and for the next or last message of a
 * subject. Searching reads indexes, never records. It ends where an index is not in memory, or after SLOTS_MAX messages:
 * then `reached` and `missing` say where to go on and what is needed for that.
 */

import type { MessageBlock } from './message-block.ts';
import { LOADING, NONE } from './store.ts';

/** So many messages are looked at in one turn. */
const SLOTS_MAX = 100_000;

export class BlockList {
  readonly blocks: MessageBlock[] = [];
  /** After LOADING: the next sequence to look at, and the block whose index is missing; `null`: none is. */
  reached = 0;
  missing: MessageBlock | null = null;

  get last(): MessageBlock | undefined {
    return this.blocks.at(-1);
  }

  /** Position of the block that holds `sequence`, or of the last one that begins at or below it. */
  positionOf(sequence: number): number {
    const { blocks } = this;
    let low = 0;
    let high = blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((blocks[middle] as MessageBlock).firstSequence <= sequence) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The block that holds `sequence`, or the last one that begins at or below it. */
  at(sequence: number): MessageBlock | undefined {
    return this.blocks[this.positionOf(sequence)];
  }

  remove(block: MessageBlock): void {
    const position = this.blocks.indexOf(block);
    if (position >= 0) this.blocks.splice(position, 1);
  }

  /** Puts `block` in the place of these, which follow each other. */
  replace(run: readonly MessageBlock[], block: MessageBlock): void {
    this.blocks.splice(this.blocks.indexOf(run[0] as MessageBlock), run.length, block);
  }

  /** The lowest sequence in `[from, to]` that is there and whose subject `accepts`; NONE or LOADING. */
  next(from: number, to: number, accepts: ((subject: number) => boolean) | null): number {
    let each = from;
    let left = SLOTS_MAX;
    for (let at = this.positionOf(each); at < this.blocks.length && each <= to; at++) {
      const block = this.blocks[at] as MessageBlock;
      if (each < block.firstSequence) each = block.firstSequence;
      if (each > block.lastSequence || each > to) continue;
      if (block.index === null) return this.stopAt(each, block);
      block.wasUsed = true;
      const end = Math.min(block.lastSequence, to);
      for (; each <= end; each++) {
        if (left-- === 0) return this.stopAt(each, null);
        if (block.has(each) && (accepts === null || accepts(block.index.subject(each)))) return each;
      }
    }
    return NONE;
  }

  /** The highest sequence of the subject in `[from, to]`; NONE or LOADING. */
  lastOf(subject: number, from: number, to: number): number {
    let each = to;
    let left = SLOTS_MAX;
    for (let at = this.positionOf(each); at >= 0 && each >= from; at--) {
      const block = this.blocks[at];
      if (block === undefined || block.firstSequence > each) continue;
      if (block.index === null) return this.stopAt(each, block);
      block.wasUsed = true;
      each = Math.min(each, block.lastSequence);
      for (; each >= block.firstSequence && each >= from; each--) {
        if (left-- === 0) return this.stopAt(each, null);
        if (block.has(each) && block.index.subject(each) === subject) return each;
      }
    }
    return NONE;
  }

  private stopAt(reached: number, missing: MessageBlock | null): number {
    this.reached = reached;
    this.missing = missing;
    return LOADING;
  }
}
