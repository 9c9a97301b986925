/**
 * The host's clocks. Wall time has a fraction: Date gives whole milliseconds, so it is taken from the monotonic clock
 * plus an offset that follows Date whenever the two disagree by more than a reading can explain (the clock was set).
 */

import type { Clock } from './io.ts';

const JUMP_MS = 1.5;

export class RealClock implements Clock {
  private offsetMs = Date.now() - performance.now();

  wallMs(): number {
    const monotonic = performance.now();
    const date = Date.now();
    const wall = monotonic + this.offsetMs;
    if (wall - date < JUMP_MS && date - wall < JUMP_MS) return wall;
    this.offsetMs = date - monotonic;
    return date;
  }

  monotonicMs(): number {
    return performance.now();
  }
}
