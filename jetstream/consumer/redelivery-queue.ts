/**
 * When delivered messages have to be delivered again: the deadlines of what is pending, under one timer, and the queue of
 * those whose time has come or that were refused. A message that was taken out of the queue and queued again may stand in
 * it twice; it is delivered once.
 *
 * What is pending is looked at some in a turn: there may be a million of it.
 */

import type { Io, Timer } from '../../server/io/io.ts';
import type { PendingTable } from './pending-table.ts';

/** The part of the queue in front that was delivered is dropped when it is this long and half of all. */
const DROPPED_MIN = 64;
/** Looking at all that is pending costs something: the more there is, the less often it is done. */
const PENDING_PER_MS = 10_000;
/** In one turn so many are looked at, or so many are found whose time has come. */
const LOOKED_PER_TURN = 20_000;
const EXPIRED_PER_TURN = 1000;

export class RedeliveryQueue {
  private readonly io: Io;
  private readonly nowMs: () => number;
  private readonly pending: PendingTable;
  private readonly onExpired: (sequences: number[]) => void;
  private queue: number[] = [];
  private front = 0;
  private timer: Timer | null = null;
  private timerDueMs = Number.POSITIVE_INFINITY;
  private isLooking = false;
  /** Everything is to be delivered again, whatever its deadline is. */
  private takesAll = false;
  /** A deadline came while others were looked at: it may be one that was passed. */
  private isDue = false;
  /** The next deadline that was seen. */
  private nextMs = Number.POSITIVE_INFINITY;

  /** `nowMs`: the time that deadlines are in. `onExpired` gets the sequences whose deadline has passed, in order. */
  constructor(io: Io, nowMs: () => number, pending: PendingTable, onExpired: (sequences: number[]) => void) {
    this.io = io;
    this.nowMs = nowMs;
    this.pending = pending;
    this.onExpired = onExpired;
  }

  get size(): number {
    return this.queue.length - this.front;
  }

  /** Queues a pending message, unless it is queued already or about to leave. */
  add(row: number): void {
    if (this.pending.isQueued(row) || this.pending.isHeld(row)) return;
    this.pending.setQueued(row, true);
    this.queue.push(this.pending.sequence(row));
  }

  /** The next queued message that is still pending, 0 when there is none. It stays in front. */
  peek(): number {
    while (this.front < this.queue.length) {
      const sequence = this.queue[this.front] as number;
      const row = this.pending.row(sequence);
      if (row >= 0 && this.pending.isQueued(row)) return sequence;
      this.shift();
    }
    return 0;
  }

  /** The message in front is being delivered. */
  shift(): void {
    this.front++;
    if (this.front < DROPPED_MIN || this.front * 2 < this.queue.length) return;
    this.queue = this.queue.slice(this.front);
    this.front = 0;
  }

  /** A deadline was set: wake up for it. */
  watch(deadlineMs: number): void {
    if (deadlineMs >= this.timerDueMs) return;
    this.timer?.cancel();
    this.timerDueMs = deadlineMs;
    const delay = Math.max(1, deadlineMs - this.nowMs(), this.pending.size / PENDING_PER_MS);
    this.timer = this.io.timers.after(delay, () => this.review());
  }

  /** Watches everything pending, after a start. */
  watchAll(): void {
    for (let row = this.pending.firstRow; row >= 0; row = this.pending.nextRow(row)) {
      this.watch(this.pending.deadlineMs(row));
    }
  }

  /** Everything pending is to be delivered again. */
  expireAll(): void {
    this.takesAll = true;
    if (this.isLooking) this.pending.cursor = this.pending.firstRow;
    else this.begin();
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = null;
    this.pending.cursor = -1;
  }

  private review(): void {
    this.timer = null;
    this.timerDueMs = Number.POSITIVE_INFINITY;
    if (this.isLooking) this.isDue = true;
    else this.begin();
  }

  private begin(): void {
    this.isLooking = true;
    this.isDue = false;
    this.nextMs = Number.POSITIVE_INFINITY;
    this.pending.cursor = this.pending.firstRow;
    this.look();
  }

  private look(): void {
    const { pending, takesAll } = this;
    const now = this.nowMs();
    const expired: number[] = [];
    let row = pending.cursor;
    for (let left = LOOKED_PER_TURN; row >= 0 && left > 0 && expired.length < EXPIRED_PER_TURN; left--) {
      if (!pending.isQueued(row) && !pending.isHeld(row)) {
        const deadline = pending.deadlineMs(row);
        if (takesAll || deadline <= now) expired.push(pending.sequence(row));
        else if (deadline < this.nextMs) this.nextMs = deadline;
      }
      row = pending.nextRow(row);
    }
    pending.cursor = row;
    if (row >= 0) this.io.timers.afterTurn(() => this.look());
    else this.lookedAtAll();
    if (expired.length > 0) this.onExpired(expired);
  }

  private lookedAtAll(): void {
    this.isLooking = false;
    this.takesAll = false;
    if (this.nextMs < Number.POSITIVE_INFINITY) this.watch(this.nextMs);
    if (this.isDue) this.begin();
  }
}
