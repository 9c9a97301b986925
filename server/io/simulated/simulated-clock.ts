/**
 * The clocks of one simulated machine. Wall time can be set, as administrators and time servers do; monotonic time runs
 * on from where the machine's own beginning is, so that values of two machines can't be compared by mistake.
 */

import type { Clock } from '../io.ts';
import type { Scheduler } from './scheduler.ts';

/** 2026-01-01T00:00:00Z */
const WALL_START_MS = 1_767_225_600_000;

export class SimulatedClock implements Clock {
  private readonly scheduler: Scheduler;
  private readonly monotonicStartMs: number;
  private wallOffsetMs = 0;

  constructor(scheduler: Scheduler, monotonicStartMs: number) {
    this.scheduler = scheduler;
    this.monotonicStartMs = monotonicStartMs;
  }

  wallMs(): number {
    return WALL_START_MS + this.wallOffsetMs + this.scheduler.nowMs;
  }

  monotonicMs(): number {
    return this.monotonicStartMs + this.scheduler.nowMs;
  }

  /** Sets wall time forward by so much, or back. */
  jumpWall(ms: number): void {
    this.wallOffsetMs += ms;
  }
}
