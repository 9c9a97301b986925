/**
 * A search of a stream that may be long and may need what is on the disk: a generator that yields 0 between pieces of
 * work, or a sequence that has to be in memory before it can go on.
 */

import type { Io } from '../../server/io/io.ts';
import type { MessageStore } from '../store/store.ts';

const SLICE_MS = 4;

export class SlicedSearch {
  private readonly io: Io;
  private readonly store: MessageStore;
  private isCancelled = false;

  constructor(io: Io, store: MessageStore) {
    this.io = io;
    this.store = store;
  }

  /** Runs the search; `done` gets its result, at once when it is short. */
  run<T>(work: Generator<number, T>, done: (result: T) => void): void {
    if (this.isCancelled) return;
    const { clock, timers } = this.io;
    const until = clock.monotonicMs() + SLICE_MS;
    for (;;) {
      const step = work.next();
      if (step.done === true) {
        done(step.value);
        return;
      }
      if (step.value > 0) {
        this.store.whenReadable(step.value, () => this.run(work, done));
        return;
      }
      if (clock.monotonicMs() >= until) {
        timers.afterTurn(() => this.run(work, done));
        return;
      }
    }
  }

  /** `done` will not be called any more. */
  cancel(): void {
    this.isCancelled = true;
  }
}
