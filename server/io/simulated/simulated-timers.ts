/** Timers of one simulated process. They run late, usually by less than a millisecond and now and then by many. */

import type { Timer, Timers } from '../io.ts';
import type { EventOwner } from './event-queue.ts';
import type { Scheduler } from './scheduler.ts';
import type { SeededRandom } from './seeded-random.ts';

const US_PER_MS = 1000;
/** As on the host's timers, less is taken for this. */
const SHORTEST_MS = 1;
const USUAL_LATENESS_US = 1000;
const LATE_CHANCE = 0.02;
const LATE_US = 30_000;

export class SimulatedTimers implements Timers {
  private readonly scheduler: Scheduler;
  private readonly owner: EventOwner;
  private readonly random: SeededRandom;

  constructor(scheduler: Scheduler, owner: EventOwner, random: SeededRandom) {
    this.scheduler = scheduler;
    this.owner = owner;
    this.random = random;
  }

  after(delayMs: number, callback: () => void): Timer {
    const lateUs = this.random.below(this.random.chance(LATE_CHANCE) ? LATE_US : USUAL_LATENESS_US);
    const delayUs = Math.max(SHORTEST_MS, delayMs) * US_PER_MS;
    return this.scheduler.after(delayUs + lateUs, this.owner, 'timer', callback);
  }

  afterTurn(callback: () => void): void {
    this.scheduler.afterTurn(this.owner, callback);
  }
}
