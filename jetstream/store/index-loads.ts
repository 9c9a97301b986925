/** The indexes of one stream that are on their way into memory, and who waits until one more is there. */

import type { MessageBlock } from './message-block.ts';

export class IndexLoads {
  private readonly load: (block: MessageBlock, done: () => void) => void;
  private readonly onLoaded: () => void;
  private readonly loading = new Set<MessageBlock>();
  private waiting: (() => void)[] = [];

  /** `onLoaded` is called before those who wait. */
  constructor(load: (block: MessageBlock, done: () => void) => void, onLoaded: () => void) {
    this.load = load;
    this.onLoaded = onLoaded;
  }

  get isEmpty(): boolean {
    return this.loading.size === 0;
  }

  /** Starts loading the block's index unless it is being loaded. */
  need(block: MessageBlock): void {
    if (this.loading.has(block)) return;
    this.loading.add(block);
    this.load(block, () => {
      this.loading.delete(block);
      this.onLoaded();
      this.answer();
    });
  }

  /** Calls back when one more is loaded, or could not be. */
  wait(done: () => void): void {
    this.waiting.push(done);
  }

  answer(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const done of waiting) done();
  }
}
