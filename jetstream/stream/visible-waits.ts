/**
 * Who wants to know of a stream what somebody published before, with or without acknowledgement: their answers wait until
 * what was appended by then is visible. Where the disk does not take it they wait WAIT_MS_MAX and no longer.
 *
 * Bound: API requests, which are limited themselves.
 */

import type { Timer, Timers } from '../../server/io/io.ts';
import type { MessageStore } from '../store/store.ts';

const WAIT_MS_MAX = 250;

interface Wait {
  readonly sequence: number;
  readonly done: () => void;
  readonly timer: Timer;
}

export class VisibleWaits {
  private readonly timers: Timers;
  private readonly store: MessageStore;
  private waits: Wait[] = [];

  constructor(timers: Timers, store: MessageStore) {
    this.timers = timers;
    this.store = store;
  }

  /** Calls back when everything that is appended now is visible: at once where it is. */
  wait(done: () => void): void {
    const { appendedSequence: sequence, lastSequence } = this.store;
    if (sequence <= lastSequence) {
      done();
      return;
    }
    const timer = this.timers.after(WAIT_MS_MAX, () => this.release((wait) => wait.timer === timer));
    this.waits.push({ sequence, done, timer });
  }

  /** Everything up to this sequence is visible. */
  visible(sequence: number): void {
    if (this.waits.length > 0) this.release((wait) => wait.sequence <= sequence);
  }

  /** Nobody waits any more. */
  stop(): void {
    this.release(() => true);
  }

  private release(isOver: (wait: Wait) => boolean): void {
    const over = this.waits.filter(isOver);
    this.waits = this.waits.filter((wait) => !isOver(wait));
    for (const { done, timer } of over) {
      timer.cancel();
      done();
    }
  }
}
