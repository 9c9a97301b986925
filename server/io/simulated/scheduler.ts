/**
 * Virtual time, and what happens when. One seed decides the order of what happens at the same moment, so a run can be
 * repeated exactly.
 *
 *     an instant:   events, in seeded order ─► what was put behind the turn ─► the next instant
 *
 * Time is in whole microseconds and moves only from one event to the next, so a simulated hour costs what happens in
 * it. What is put behind a turn from behind a turn belongs to the next one, a microsecond later: a loop that gives way
 * makes time pass, as it does on a host.
 *
 * Bounds: `stepsMax` events in a run; more is an endless loop. Failures name the seed, the time and the last entries of
 * the trace.
 */

import { EventQueue, SimulatedEvent, type EventOwner } from './event-queue.ts';
import { SeededRandom } from './seeded-random.ts';
import { Trace } from './trace.ts';

const STEPS_MAX = 5_000_000;
const US_PER_MS = 1000;

/** A simulated run went wrong; the message says how to recognize it again. */
export class SimulationError extends Error {
  override readonly name = 'SimulationError';
  readonly code = 'SIMULATION_FAILED';
  readonly seed: number;

  constructor(seed: number, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.seed = seed;
  }
}

interface TurnCallback {
  readonly owner: EventOwner | null;
  readonly run: () => void;
}

export class Scheduler {
  readonly seed: number;
  readonly trace: Trace = new Trace();
  nowUs = 0;
  private readonly queue = new EventQueue();
  private readonly ties: SeededRandom;
  private readonly stepsMax: number;
  private turn: TurnCallback[] = [];
  private inTurnEnd = false;
  private age = 0;
  private steps = 0;

  constructor(seed: number, stepsMax: number = STEPS_MAX) {
    this.seed = seed;
    this.ties = new SeededRandom(seed).fork('ties');
    this.stepsMax = stepsMax;
  }

  get nowMs(): number {
    return this.nowUs / US_PER_MS;
  }

  /** Runs `run` at the time, or now when that has passed; not while its owner is paused, and not once it is gone. */
  at(timeUs: number, owner: EventOwner | null, what: string, run: () => void): SimulatedEvent {
    const time = Math.max(Math.ceil(timeUs), this.nowUs);
    const event = new SimulatedEvent(time, owner, what, run, this.ties.uint32(), this.age++);
    this.queue.add(event);
    return event;
  }

  after(delayUs: number, owner: EventOwner | null, what: string, run: () => void): SimulatedEvent {
    return this.at(this.nowUs + delayUs, owner, what, run);
  }

  /** Runs `run` when everything of this instant has happened. */
  afterTurn(owner: EventOwner | null, run: () => void): void {
    if (this.inTurnEnd) this.after(1, owner, 'turn', () => this.turn.push({ owner, run }));
    else this.turn.push({ owner, run });
  }

  /** Lets so much time pass. */
  runFor(ms: number): void {
    const endUs = this.nowUs + Math.round(ms * US_PER_MS);
    while (this.step(endUs));
    this.nowUs = endUs;
  }

  /** Lets time pass until the condition holds; fails when it takes longer, or when nothing more would happen. */
  runUntil(condition: () => boolean, what: string, withinMs: number): void {
    const endUs = this.nowUs + Math.round(withinMs * US_PER_MS);
    while (!condition()) {
      if (this.step(endUs)) continue;
      const why = this.isIdle ? 'nothing more would happen' : `${withinMs} ms passed`;
      throw this.failure(`in vain for ${what}: ${why}`);
    }
  }

  /** Lets time pass until nothing is left to happen; fails when there is still something after so much time. */
  runUntilIdle(withinMs: number): void {
    this.runUntil(() => this.isIdle, 'everything to come to rest', withinMs);
  }

  /** Nothing is left to happen. */
  get isIdle(): boolean {
    for (let next = this.queue.peek(); next !== undefined; next = this.queue.peek()) {
      if (!next.isCancelled && next.owner?.isAlive !== false) return false;
      this.queue.take();
    }
    return this.turn.length === 0;
  }

  failure(message: string, cause?: unknown): SimulationError {
    const place = `seed ${this.seed}, step ${this.steps}, ${this.nowMs} ms`;
    const lines = ['', 'what happened last:', ...this.trace.lines()].join('\n  ');
    return new SimulationError(this.seed, `${place}: ${message}${lines}`, cause);
  }

  /** The next thing that happens, unless it is later than `endUs`. False when there is none. */
  private step(endUs: number): boolean {
    const next = this.queue.peek();
    if (this.turn.length > 0 && (next === undefined || next.timeUs > this.nowUs)) {
      this.endTurn();
      return true;
    }
    if (next === undefined || next.timeUs > endUs) return false;
    this.queue.take();
    if (next.isCancelled || next.owner?.isAlive === false) return true;
    this.nowUs = next.timeUs;
    if (next.owner !== null && next.owner.pausedUntilUs > this.nowUs) {
      next.timeUs = next.owner.pausedUntilUs;
      this.queue.add(next);
      return true;
    }
    this.perform(next.what, next.run);
    return true;
  }

  private endTurn(): void {
    const { turn } = this;
    this.turn = [];
    this.inTurnEnd = true;
    for (const { owner, run } of turn) {
      if (owner?.isAlive === false) continue;
      if (owner !== null && owner.pausedUntilUs > this.nowUs) {
        this.at(owner.pausedUntilUs, owner, 'turn', () => this.turn.push({ owner, run }));
      } else this.perform('turn', run);
    }
    this.inTurnEnd = false;
  }

  private perform(what: string, run: () => void): void {
    this.steps++;
    if (this.steps > this.stepsMax) throw this.failure(`more than ${this.stepsMax} steps`);
    this.trace.record(this.nowUs, what);
    try {
      run();
    } catch (error) {
      this.inTurnEnd = false;
      if (error instanceof SimulationError) throw error;
      throw this.failure(`${what}: ${error instanceof Error ? error.message : String(error)}`, error);
    }
  }
}
