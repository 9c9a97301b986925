/**
 * Messages whose record was found damaged when it was read. Each is looked for in the log and put back; one that is not
 * there any more is lost.
 *
 *     damaged ─► log ─found─► put back
 *        ▲        ├─all of it was read─► lost
 *        │        └─part of it was not─► rest ─► log … ATTEMPTS times, then lost
 *        └─ whoever waits reads again
 *
 * A disk that fails to read once may well read the next time, and what is called lost is never looked for again.
 */

import type { BlockFiles } from './block-files.ts';
import type { MessageBlock } from './message-block.ts';

const ATTEMPTS = 8;
const REST_MS = 250;
/** What is lost within this time is told together. */
const SAY_MS = 1000;

export class DamagedRecords {
  private readonly blockFiles: BlockFiles;
  private readonly onLost: (sequence: number) => void;
  /** What is being looked for, and who waits for the outcome. */
  private readonly searches = new Map<number, (() => void)[]>();
  /** Messages found lost that the log does not tell of yet. */
  private firstUnsaid = 0;
  private unsaid = 0;

  constructor(blockFiles: BlockFiles, onLost: (sequence: number) => void) {
    this.blockFiles = blockFiles;
    this.onLost = onLost;
  }

  /** The record of this message is damaged: looks for it unless that goes on already. */
  found(block: MessageBlock, sequence: number): void {
    if (this.searches.has(sequence)) return;
    this.searches.set(sequence, []);
    this.search(block, sequence, ATTEMPTS);
  }

  /** Calls back when it is known what became of the message; false when nobody looks for it. */
  wait(sequence: number, done: () => void): boolean {
    const waiting = this.searches.get(sequence);
    waiting?.push(done);
    return waiting !== undefined;
  }

  private search(block: MessageBlock, sequence: number, attempts: number): void {
    const { files } = this.blockFiles;
    this.blockFiles.heal(block, sequence, (isHealed) => {
      if (isHealed === null && files.isClosing) return;
      if (isHealed === null && attempts > 1) {
        files.timers.after(REST_MS, () => this.search(block, sequence, attempts - 1));
        return;
      }
      const waiting = this.searches.get(sequence) ?? [];
      this.searches.delete(sequence);
      if (isHealed !== true) {
        this.onLost(sequence);
        this.sayLost(sequence);
      }
      for (const done of waiting) done();
    });
  }

  private sayLost(sequence: number): void {
    this.unsaid++;
    if (this.unsaid > 1) return;
    this.firstUnsaid = sequence;
    const { files, directory } = this.blockFiles;
    files.timers.after(SAY_MS, () => {
      const others = this.unsaid === 1 ? '' : ` and ${this.unsaid - 1} more`;
      files.damage.note(`Message ${this.firstUnsaid}${others} in "${directory}" can't be read any more: lost`);
      this.unsaid = 0;
    });
  }
}
