/**
 * Messages whose record was found damaged when it was read. Each is looked for in the log and put back; one that is not
 * there any more is lost.
 */

import type { BlockFiles } from './block-files.ts';
import type { MessageBlock } from './message-block.ts';

export class DamagedRecords {
  private readonly blockFiles: BlockFiles;
  private readonly onLost: (sequence: number) => void;
  /** What is being looked for, and who waits for the outcome. */
  private readonly searches = new Map<number, (() => void)[]>();

  constructor(blockFiles: BlockFiles, onLost: (sequence: number) => void) {
    this.blockFiles = blockFiles;
    this.onLost = onLost;
  }

  /** The record of this message is damaged: looks for it unless that goes on already. */
  found(block: MessageBlock, sequence: number): void {
    if (this.searches.has(sequence)) return;
    this.searches.set(sequence, []);
    this.blockFiles.heal(block, sequence, (isHealed) => {
      const waiting = this.searches.get(sequence) ?? [];
      this.searches.delete(sequence);
      if (!isHealed) this.onLost(sequence);
      for (const done of waiting) done();
    });
  }

  /** Calls back when it is known what became of the message; false when nobody looks for it. */
  wait(sequence: number, done: () => void): boolean {
    const waiting = this.searches.get(sequence);
    waiting?.push(done);
    return waiting !== undefined;
  }
}
