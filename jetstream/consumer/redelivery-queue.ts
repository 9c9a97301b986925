/**
 * When delivered messages have to be delivered again: the deadlines of what is pending, under one timer, and the queue of
 * those whose time has come or that were refused.
 */

import type { Io, Timer } from '../../server/io/io.ts';
import type { PendingTable } from './pending-table.ts';

export class RedeliveryQueue {
  private readonly io: Io;
  private readonly pending: PendingTable;
  private readonly onExpired: (sequences: number[]) => void;
  private queue: number[] = [];
  private timer: Timer | null = null;
  private timerDueMs = Number.POSITIVE_INFINITY;

  /** `onExpired` gets the sequences whose deadline has passed, in order. */
  constructor(io: Io, pending: PendingTable, onExpired: (sequences: number[]) => void) {
    this.io = io;
    this.pending = pending;
    this.onExpired = onExpired;
  }

  get size(): number {
    return this.queue.length;
  }

  /** Queues a pending message, unless it is queued already. */
  add(row: number): void {
    if (this.pending.isQueued(row)) return;
    this.pending.setQueued(row, true);
    this.queue.push(this.pending.sequence(row));
  }

  /** The next queued message that is still pending, 0 when there is none. It stays in front. */
  peek(): number {
    while (this.queue.length > 0) {
      const sequence = this.queue[0] as number;
      const row = this.pending.row(sequence);
      if (row >= 0 && this.pending.isQueued(row)) return sequence;
      this.queue.shift();
    }
    return 0;
  }

  /** The message in front is being delivered. */
  shift(): void {
    this.queue.shift();
  }

  /** A deadline was set: wake up for it. */
  watch(deadlineMs: number): void {
    if (deadlineMs >= this.timerDueMs) return;
    this.timer?.cancel();
    this.timerDueMs = deadlineMs;
    const delay = deadlineMs - this.io.clock.wallMs();
    this.timer = this.io.timers.after(Math.max(1, delay), () => this.review());
  }

  /** Watches everything pending, after a start. */
  watchAll(): void {
    for (let row = this.pending.firstRow; row >= 0; row = this.pending.nextRow(row)) {
      this.watch(this.pending.deadlineMs(row));
    }
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = null;
  }

  private review(): void {
    this.timer = null;
    this.timerDueMs = Number.POSITIVE_INFINITY;
    const now = this.io.clock.wallMs();
    const expired: number[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (let row = this.pending.firstRow; row >= 0; row = this.pending.nextRow(row)) {
      if (this.pending.isQueued(row)) continue;
      const deadline = this.pending.deadlineMs(row);
      if (deadline <= now) expired.push(this.pending.sequence(row));
      else if (deadline < next) next = deadline;
    }
    if (next < Number.POSITIVE_INFINITY) this.watch(next);
    if (expired.length > 0) this.onExpired(expired);
  }
}
