/**
 * The batches of one stream that are under way, by id. One that nobody adds to for a while is abandoned: it is as if it
 * had never been, and its id is free again.
 *
 * One timer serves them all. It is set for the batch that is due first, and moved when it turns out that this one was
 * used meanwhile; so adding to a batch costs no more than noting the time.
 *
 * Bounds: `inFlightMax` batches here, `serverMax` on the server; `timeoutMs`, after which a batch is abandoned.
 */

import type { Io, Timer } from '../../server/io/io.ts';

/** How much of batches there is on the server. */
export interface BatchUse {
  atomicBatches: number;
  fastBatches: number;
  /** Bytes of atomic batches that are not committed yet. */
  stagedBytes: number;
}

export interface TimedBatch {
  readonly id: string;
  /** Monotonic milliseconds of its last message. */
  usedMs: number;
  /** It is in the table no longer, committed or not. */
  ended(): void;
}

export interface BatchLimits {
  readonly inFlightMax: number;
  readonly serverMax: number;
  readonly timeoutMs: number;
  /** Hears of a batch that nobody added to for so long; it is dropped already. */
  readonly timedOut?: (batch: TimedBatch) => void;
}

export class BatchTable<Batch extends TimedBatch> {
  private readonly io: Io;
  private readonly use: BatchUse;
  private readonly counter: 'atomicBatches' | 'fastBatches';
  private readonly limits: BatchLimits;
  private readonly batches = new Map<string, Batch>();
  private timer: Timer | null = null;

  constructor(io: Io, use: BatchUse, counter: 'atomicBatches' | 'fastBatches', limits: BatchLimits) {
    this.io = io;
    this.use = use;
    this.counter = counter;
    this.limits = limits;
  }

  get size(): number {
    return this.batches.size;
  }

  get isFull(): boolean {
    return this.batches.size >= this.limits.inFlightMax || this.use[this.counter] >= this.limits.serverMax;
  }

  /** The batch with this id, if it is under way. */
  find(id: string): Batch | undefined {
    const batch = this.batches.get(id);
    return batch === undefined || !this.isAbandoned(batch) ? batch : undefined;
  }

  /** Whether nobody has added to the batch for too long; it is dropped then, whether or not the timer ran already. */
  isAbandoned(batch: Batch): boolean {
    if (this.io.clock.monotonicMs() - batch.usedMs < this.limits.timeoutMs) return false;
    this.drop(batch);
    this.limits.timedOut?.(batch);
    return true;
  }

  add(batch: Batch): void {
    this.use[this.counter]++;
    this.batches.set(batch.id, batch);
    this.touch(batch);
    this.timer ??= this.io.timers.after(this.limits.timeoutMs, () => this.review());
  }

  /** A message was added to the batch. */
  touch(batch: Batch): void {
    batch.usedMs = this.io.clock.monotonicMs();
  }

  drop(batch: Batch): void {
    if (!this.batches.delete(batch.id)) return;
    this.use[this.counter]--;
    batch.ended();
    if (this.batches.size > 0) return;
    this.timer?.cancel();
    this.timer = null;
  }

  clear(): void {
    for (const batch of this.batches.values()) this.drop(batch);
  }

  private review(): void {
    this.timer = null;
    let oldestMs = Infinity;
    for (const batch of this.batches.values()) {
      if (!this.isAbandoned(batch)) oldestMs = Math.min(oldestMs, batch.usedMs);
    }
    if (this.batches.size === 0) return;
    const dueMs = oldestMs + this.limits.timeoutMs - this.io.clock.monotonicMs();
    this.timer = this.io.timers.after(Math.max(1, dueMs), () => this.review());
  }
}
