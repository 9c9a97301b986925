/**
 * What the outbound queues of one server share: the chunk pool, the list of queues to flush at the end of the turn, and
 * the budget for all unsent bytes.
 *
 * Sockets are flushed once a turn, for all reads of that turn: the first queue that gets something asks for one call
 * behind the turn. The budget bounds what slow receivers cost together: above it the largest queue that does not drain
 * is closed first.
 */

import type { Io } from '../io/io.ts';
import { ChunkPool } from './chunk-pool.ts';
import type { OutboundQueue } from './outbound-queue.ts';

/** Chunks are meaningless between turns and shared by all servers of a process. */
const pool = new ChunkPool();

const COLLECT_INTERVAL_MS = 10_000;
const QUIET_MS = 1000;

export class Outbound {
  readonly pool: ChunkPool = pool;
  readonly io: Io;
  readonly unsentBytesMax: number;
  unsentBytes = 0;
  /** Called when the budget is exceeded; closes a queue's connection. */
  onBudgetExceeded: () => void = () => undefined;
  /** Milliseconds spent in explicit garbage collections, and how many there were. */
  collections = 0;
  collectionMs = 0;

  private readonly dirty: OutboundQueue[] = [];
  private turnScheduled = false;
  private collectScheduled = false;
  private lastCollectMs = -COLLECT_INTERVAL_MS;
  private readonly flushTurn = (): void => this.flushAll();

  constructor(io: Io, unsentBytesMax: number) {
    this.io = io;
    this.unsentBytesMax = unsentBytesMax;
  }

  /** The queue has something to send: it is flushed at the end of this turn. */
  schedule(queue: OutboundQueue): void {
    this.dirty.push(queue);
    if (this.turnScheduled) return;
    this.turnScheduled = true;
    this.io.timers.afterTurn(this.flushTurn);
  }

  addUnsent(bytes: number): void {
    this.unsentBytes += bytes;
    if (this.unsentBytes > this.unsentBytesMax) this.onBudgetExceeded();
  }

  removeUnsent(bytes: number): void {
    this.unsentBytes -= bytes;
  }

  private flushAll(): void {
    this.turnScheduled = false;
    const { dirty } = this;
    for (let i = 0; i < dirty.length; i++) (dirty[i] as OutboundQueue).flush();
    dirty.length = 0;
    if (!this.collectScheduled && this.pool.isOvergrown) this.scheduleCollection();
  }

  /** After a burst, when it is quiet: drop the slabs and give their pages back, at most once in ten seconds. */
  private scheduleCollection(): void {
    this.collectScheduled = true;
    const { clock, timers } = this.io;
    const earliest = this.lastCollectMs + COLLECT_INTERVAL_MS - clock.monotonicMs();
    timers.after(Math.max(QUIET_MS, earliest), () => {
      this.collectScheduled = false;
      if (this.pool.dropUnused() === 0) return;
      this.lastCollectMs = clock.monotonicMs();
      const took = this.io.host.collectGarbage();
      if (took === null) return;
      this.collections++;
      this.collectionMs += took;
    });
  }
}
