/**
 * Timers of the runtime, made to keep their promise never to run early. The runtime counts whole milliseconds and drops
 * the fraction of both the delay and the present, which ran a timer up to 1.8 ms early by the clock that set it; and a
 * delay of more than 2^31 - 1 ms (24.8 days) it runs at once.
 */

import type { Timer, Timers } from './io.ts';

const LONGEST_MS = 2 ** 31 - 1;

export const realTimers: Timers = {
  after(delayMs, callback) {
    // One more: what the runtime drops of the present.
    const wholeMs = Math.ceil(delayMs) + 1;
    if (wholeMs > LONGEST_MS) return new LongTimer(wholeMs, callback);
    const timeout = setTimeout(callback, wholeMs);
    return { cancel: () => clearTimeout(timeout) };
  },
  afterTurn: setImmediate,
};

/** Waits as long as the runtime can at a time, then for the rest. */
class LongTimer implements Timer {
  private readonly callback: () => void;
  private remainingMs: number;
  private timeout: NodeJS.Timeout;

  constructor(delayMs: number, callback: () => void) {
    this.callback = callback;
    this.remainingMs = delayMs;
    this.timeout = this.wait();
  }

  cancel(): void {
    clearTimeout(this.timeout);
  }

  private wait(): NodeJS.Timeout {
    const stepMs = Math.min(this.remainingMs, LONGEST_MS);
    this.remainingMs -= stepMs;
    return setTimeout(() => {
      if (this.remainingMs > 0) this.timeout = this.wait();
      else this.callback();
    }, stepMs);
  }
}
