/** Has the ids of a stream's duplicate window forgotten when they are too old, some in a turn. */

import type { Timer, Timers } from '../../server/io/io.ts';
import type { DedupWindow } from './dedup-window.ts';
import type { WindowClock } from './window-clock.ts';

const PER_TURN = 1000;
const PAUSE_MS_MIN = 100;

export class IdExpiry {
  private readonly timers: Timers;
  private readonly dedup: DedupWindow;
  private readonly clock: WindowClock;
  private readonly windowMs: () => number;
  private timer: Timer | null = null;
  private isStopped = false;

  /** `windowMs`: how long ids are remembered at present. */
  constructor(timers: Timers, dedup: DedupWindow, clock: WindowClock, windowMs: () => number) {
    this.timers = timers;
    this.dedup = dedup;
    this.clock = clock;
    this.windowMs = windowMs;
  }

  /** There may be an id now: forgets what is too old, and comes back when more will be. */
  start(): void {
    if (this.timer === null && this.dedup.size > 0) this.expire();
  }

  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
  }

  private expire(): void {
    this.timer = null;
    const windowMs = this.windowMs();
    const more = this.dedup.expire(this.clock.nowMs - windowMs, PER_TURN);
    if (this.isStopped || this.dedup.size === 0) return;
    this.timer = this.timers.after(more ? 1 : Math.max(PAUSE_MS_MIN, windowMs / 10), () => this.expire());
  }
}
