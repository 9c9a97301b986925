/**
 * Who wants to know of a stream what somebody published or acknowledged before, whether that was answered or not: their
 * answers wait until what was asked of the store by then is to be seen. Where the disk does not take it they wait
 * WAIT_MS_MAX and no longer.
 *
 * Bound: API requests, which are limited themselves.
 */

import type { Timer, Timers } from '../../server/io/io.ts';
import { FileStore } from '../store/file-store.ts';
import type { MessageStore } from '../store/store.ts';

const WAIT_MS_MAX = 250;

interface Wait {
  readonly sequence: number;
  readonly done: () => void;
  isOver: boolean;
  timer: Timer | null;
}

export class VisibleWaits {
  private readonly timers: Timers;
  private readonly store: MessageStore;
  private readonly waits = new Set<Wait>();

  constructor(timers: Timers, store: MessageStore) {
    this.timers = timers;
    this.store = store;
  }

  /** Calls back when everything that is appended and removed now is to be seen so: at once where it is. */
  wait(done: () => void): void {
    const { store } = this;
    const wait: Wait = { sequence: store.appendedSequence, done, isOver: false, timer: null };
    if (store instanceof FileStore) store.whenDurable(() => this.end(wait));
    else if (wait.sequence <= store.lastSequence) this.end(wait);
    if (wait.isOver) return;
    wait.timer = this.timers.after(WAIT_MS_MAX, () => this.end(wait));
    this.waits.add(wait);
  }

  /** Everything up to this sequence is visible; what a file store removes may not be so yet. */
  visible(sequence: number): void {
    if (this.waits.size === 0 || this.store instanceof FileStore) return;
    for (const wait of this.waits) if (wait.sequence <= sequence) this.end(wait);
  }

  /** Nobody waits any more. */
  stop(): void {
    for (const wait of this.waits) this.end(wait);
  }

  private end(wait: Wait): void {
    if (wait.isOver) return;
    wait.isOver = true;
    this.waits.delete(wait);
    wait.timer?.cancel();
    wait.done();
  }
}
