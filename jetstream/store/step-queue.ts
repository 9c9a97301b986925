/**
 * What happens to the visible messages of one stream, in the order of the log: messages appear, messages go, limits change.
 * Each step counts once the log is durable up to its position. A step that has to wait for an index holds up those behind
 * it: what is visible is always what the log says up to `appliedLsn`, whatever had to be loaded.
 */

import type { StoreLimits, Time } from './store.ts';

export type Removal = 'remove' | 'lost' | 'purge';

export interface Gone {
  readonly kind: Removal;
  readonly sequence: number;
  /** What the record holds is overwritten. */
  readonly erases: boolean;
}

/** First everything up to `sequence` appears, whose last message has this time; then the rest happens. */
export interface Step {
  readonly lsn: number;
  readonly sequence: number;
  readonly time: Time;
  readonly removal: Gone | null;
  readonly limits: StoreLimits | null;
}

/** Steps taken are cleared away once there are so many. */
const TAKEN_MAX = 1024;
/** So many steps are taken in one turn: a purge of a pattern is one for each message. */
const STEPS_PER_TURN = 1000;

export class StepQueue {
  /** What is visible reflects the log up to here. */
  appliedLsn = 0;
  private readonly steps: Step[] = [];
  private taken = 0;
  private isApplying = false;
  /** Takes the step; false when it has to be taken again. */
  private readonly take: (step: Step) => boolean;
  /** Called between steps. */
  private readonly onTaken: () => void;
  /** Enough was done in this turn: `goOn` and `apply` are to be called in another. */
  private readonly onTired: () => void;
  private isTired = false;

  constructor(take: (step: Step) => boolean, onTaken: () => void, onTired: () => void) {
    this.take = take;
    this.onTaken = onTaken;
    this.onTired = onTired;
  }

  push(step: Step): void {
    this.steps.push(step);
  }

  /** Puts the step behind those up to its position and before the others. */
  insert(step: Step): void {
    let at = this.steps.length;
    while (at > this.taken && (this.steps[at - 1] as Step).lsn > step.lsn) at--;
    this.steps.splice(at, 0, step);
  }

  /** Takes every step up to this position; false when one has to wait, or when a step is being taken. */
  apply(durableLsn: number): boolean {
    // What happens in a step may lead here again; the steps go on when it is over.
    if (this.isApplying || this.isTired) return false;
    this.isApplying = true;
    let left = STEPS_PER_TURN;
    while (left > 0 && this.hasStepUpTo(durableLsn) && this.take(this.steps[this.taken] as Step)) {
      left--;
      this.appliedLsn = Math.max(this.appliedLsn, (this.steps[this.taken] as Step).lsn);
      this.taken++;
      this.onTaken();
    }
    this.isApplying = false;
    const isDone = !this.hasStepUpTo(durableLsn);
    if (isDone) this.appliedLsn = Math.max(this.appliedLsn, durableLsn);
    else if (left === 0) this.rest();
    if (this.taken === this.steps.length || this.taken > TAKEN_MAX) {
      this.steps.splice(0, this.taken);
      this.taken = 0;
    }
    return isDone;
  }

  /** No step is taken any more in this turn. */
  rest(): void {
    if (this.isTired) return;
    this.isTired = true;
    this.onTired();
  }

  goOn(): void {
    this.isTired = false;
  }

  /** A step up to this position is not taken yet. */
  private hasStepUpTo(durableLsn: number): boolean {
    const step = this.steps[this.taken];
    return step !== undefined && step.lsn <= durableLsn;
  }
}
