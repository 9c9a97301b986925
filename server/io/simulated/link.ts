/**
 * The way from one machine to another, one direction of it: how long something takes, and whether it arrives at all.
 *
 * A link may be cut for several reasons at a time (a partition, the machine at its end without power). What would arrive
 * meanwhile is lost; whoever sent it tries again after the link is whole, later the longer it was cut, as TCP's doubling
 * time-outs make it.
 */

import type { Scheduler } from './scheduler.ts';
import type { SeededRandom } from './seeded-random.ts';

/** Arrivals fall on a grid, so that some meet in one turn of a receiver. */
const GRID_US = 20;
const RETRY_MIN_US = 200_000;
const RETRY_MAX_US = 120_000_000;
const US_PER_MS = 1000;

export interface LinkConditions {
  readonly latencyMs: number;
  /** How much longer it takes at most; most things take little of it. */
  readonly jitterMs: number;
}

export type CutReason = 'partition' | 'power';

export class Link {
  readonly from: string;
  readonly to: string;
  conditions: LinkConditions;
  private readonly scheduler: Scheduler;
  private readonly random: SeededRandom;
  private readonly reasons = new Set<CutReason>();
  private readonly waiting: (() => void)[] = [];
  private cutSinceUs = 0;

  constructor(from: string, to: string, conditions: LinkConditions, scheduler: Scheduler, random: SeededRandom) {
    this.from = from;
    this.to = to;
    this.conditions = conditions;
    this.scheduler = scheduler;
    this.random = random;
  }

  get isCut(): boolean {
    return this.reasons.size > 0;
  }

  /** When something sent now would arrive. */
  arrivalUs(): number {
    const { latencyMs, jitterMs } = this.conditions;
    const jitter = jitterMs * this.random.fraction() ** 2;
    const time = this.scheduler.nowUs + (latencyMs + jitter) * US_PER_MS;
    return Math.ceil(time / GRID_US) * GRID_US;
  }

  cut(reason: CutReason): void {
    if (!this.isCut) this.cutSinceUs = this.scheduler.nowUs;
    this.reasons.add(reason);
  }

  heal(reason: CutReason): void {
    if (!this.reasons.delete(reason) || this.isCut) return;
    const retryUs = Math.min(RETRY_MAX_US, RETRY_MIN_US + this.scheduler.nowUs - this.cutSinceUs);
    for (const retry of this.waiting.splice(0)) {
      this.scheduler.after(this.random.below(retryUs), null, 'resend', retry);
    }
  }

  /** Runs `retry` some time after the link is whole again. */
  whenWhole(retry: () => void): void {
    this.waiting.push(retry);
  }
}
