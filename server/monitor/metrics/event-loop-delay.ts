/**
 * How late the event loop is: a timer that runs again and again, and how much later than it was to. That is what
 * everything else waits that comes in at some moment.
 *
 * It runs from the first time somebody looks until nobody has looked for LOOKED_AT_MS: who doesn't look pays nothing.
 */

import type { Io, Timer } from '../../io/io.ts';
import { LatencyCounts } from '../../io/latency-counts.ts';

const INTERVAL_MS = 100;
const LOOKED_AT_MS = 15 * 60_000;
/** Timers are up to 2 ms late by themselves. */
const BOUNDS_MS = [2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000];

export class EventLoopDelay {
  private readonly io: Io;
  private readonly late = new LatencyCounts(BOUNDS_MS);
  private timer: Timer | null = null;
  private lookedAtMs = 0;

  constructor(io: Io) {
    this.io = io;
  }

  /** What was measured so far; measures on for a while. */
  look(): LatencyCounts {
    this.lookedAtMs = this.io.clock.monotonicMs();
    if (this.timer === null) this.measure();
    return this.late;
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = null;
  }

  private measure(): void {
    const { clock, timers } = this.io;
    const startedMs = clock.monotonicMs();
    this.timer = timers.after(INTERVAL_MS, () => {
      const nowMs = clock.monotonicMs();
      this.late.add(Math.max(0, nowMs - startedMs - INTERVAL_MS));
      if (nowMs - this.lookedAtMs > LOOKED_AT_MS) this.timer = null;
      else this.measure();
    });
  }
}
