/**
 * The commit log: the one place where durability happens. Everything that must survive is appended as a frame; what was
 * appended in one turn, by all streams and consumers, leaves in one synced write. One write is in flight, and what
 * arrives meanwhile, in however many turns, forms the next.
 *
 *     begin/end ─► open batch ─end of turn, no write in flight─► sealed batch ─► segment ─► durable(lsn) to participants
 *
 * Log positions (LSN) count bytes of frames since the store was made; they never jump, whatever segments the frames lie
 * in. Before a batch's participants hear anything, the next write is on its way; all of them have heard of one batch
 * before anybody hears of the next.
 *
 * Write errors: a segment on which a write failed or fell short is never written or synced again. The batch is written
 * anew, under the same positions, to the next segment, which takes over from there.
 *
 * Bounds: producers are held while much is not durable (`intake.ts`); BATCH_BYTES_MAX a batch.
 */

import { strict as assert } from 'node:assert';
import type { Buffer } from 'node:buffer';
import type { Io, IoError, Timer } from '../../server/io/io.ts';
import { LatencyCounts } from '../../server/io/latency-counts.ts';
import type { Producer } from '../../server/ports.ts';
import { Batch, BATCH_BYTES_MAX, BatchBuffers, type LogParticipant } from './batch.ts';
import { FRAME_HEADER_BYTES, type FrameKind, sealFrame } from './frame.ts';
import { Intake } from './intake.ts';
import { type Segment, SEGMENT_HEADER_BYTES } from './segment.ts';
import type { SegmentPool } from './segment-pool.ts';

/** While no further segment can be had, so much of the current one is kept for acknowledgements and removals. */
const RESERVE_BYTES = 256 * 1024;
const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 5000;
/** Ranges in which commits are counted: a good SSD takes a fraction of a millisecond, a worn card seconds. */
const COMMIT_BOUNDS_MS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000];

/** Bytes that wait elsewhere, on their way from the log to where they are read. */
export interface Backlog {
  readonly waitingBytes: number;
}

/** `always`: an append is durable when it is on the device. A number of milliseconds: when it is in the page cache. */
export type SyncMode = 'always' | number;

export interface LogStatistics {
  commits: number;
  bytesWritten: number;
  /** How long commits took, from their write to its completion. */
  readonly commitMs: LatencyCounts;
  writeErrors: number;
}

export class CommitLog {
  readonly segments: SegmentPool;
  readonly statistics: LogStatistics = {
    commits: 0,
    bytesWritten: 0,
    commitMs: new LatencyCounts(COMMIT_BOUNDS_MS),
    writeErrors: 0,
  };
  /** Everything below this position is durable. */
  durableLsn: number;
  /** The last write error while it lasts. */
  error: IoError | null = null;
  /** Called after each batch, when its participants have heard of it. */
  onDurable: () => void = () => undefined;
  /** Called again and again while no further segment can be had. */
  onStuck: () => void = () => undefined;
  /** The position of the next frame. */
  nextLsn: number;

  private readonly io: Io;
  private readonly syncMode: SyncMode;
  private readonly backlog: Backlog;
  private readonly batchBytesMax: number;
  private readonly intake = new Intake();
  private readonly buffers = new BatchBuffers();
  private segment: Segment | null = null;
  /** The predecessor of the current segment knows of it. */
  private isNoted = false;
  private open: Batch | null = null;
  private readonly sealed: Batch[] = [];
  private writing: Batch | null = null;
  private taking = false;
  private telling = false;
  private turnScheduled = false;
  private frameAt = 0;
  /** Write errors in a row. */
  private failures = 0;
  private retryTimer: Timer | null = null;
  private syncTimer: Timer | null = null;
  private draining: (() => void) | null = null;
  private isClosed = false;
  private readonly endTurn = (): void => {
    this.turnScheduled = false;
    this.advance();
  };

  /** A log whose next frame gets the position `lsn`, and that begins with the next segment. */
  constructor(io: Io, segments: SegmentPool, lsn: number, syncMode: SyncMode, backlog: Backlog) {
    this.io = io;
    this.segments = segments;
    this.nextLsn = lsn;
    this.durableLsn = lsn;
    this.syncMode = syncMode;
    this.backlog = backlog;
    // A batch is never split, so it fits into the smallest segment.
    this.batchBytesMax = Math.min(BATCH_BYTES_MAX, segments.roomMin);
    segments.onFailure = () => {
      if (this.draining !== null && this.taking) this.giveUp();
      else this.onStuck();
    };
  }

  /** Bytes appended and not yet durable. */
  get pendingBytes(): number {
    return this.nextLsn - this.durableLsn;
  }

  /** Whether new messages are taken; acknowledgements and removals always are. */
  get acceptsMessages(): boolean {
    if (this.error !== null || this.isClosed) return false;
    if (this.segments.canAdvance) return true;
    return this.segment !== null && this.segment.roomBehind(this.nextLsn) > RESERVE_BYTES;
  }

  /** The buffer in which the frame that was begun is written. */
  get buffer(): Buffer {
    return (this.open as Batch).buffer;
  }

  /** Begins a frame of at most `bodyBytes`; where in `buffer` its body begins. `end` must follow in the same turn. */
  begin(bodyBytes: number): number {
    const bytes = FRAME_HEADER_BYTES + bodyBytes;
    assert(bytes <= this.batchBytesMax, 'a frame fits into a batch');
    if (this.open !== null && this.open.length + bytes > this.batchBytesMax) this.sealOpen();
    const batch = (this.open ??= new Batch(this.buffers.take(), this.nextLsn));
    if (batch.length + bytes > batch.buffer.length) batch.grow(batch.length + bytes);
    this.frameAt = batch.length;
    return this.frameAt + FRAME_HEADER_BYTES;
  }

  /** Ends the frame whose body ends at `bodyEnd`; the position behind it. */
  end(bodyEnd: number, kind: FrameKind, asset: number, participant: LogParticipant): number {
    const batch = this.open as Batch;
    sealFrame(batch.buffer, this.frameAt, bodyEnd, kind, asset, this.nextLsn, batch.lsn);
    this.nextLsn += bodyEnd - this.frameAt;
    batch.length = bodyEnd;
    participant.lastLsn = this.nextLsn;
    if (participant.joinedLsn !== batch.lsn) {
      participant.joinedLsn = batch.lsn;
      participant.coverage.appended(batch.lsn);
      batch.participants.push(participant);
    }
    if (!this.turnScheduled) {
      this.turnScheduled = true;
      this.io.timers.afterTurn(this.endTurn);
    }
    return this.nextLsn;
  }

  /** Keeps no buffers for batches to come. */
  dropSpareBuffers(): void {
    this.buffers.clear();
  }

  /** What was appended so far and what is appended from now on become durable in different batches. */
  fence(): void {
    this.sealOpen();
  }

  /** Holds the producer while too much waits to be written. */
  press(producer: Producer | null): void {
    if (producer !== null) this.intake.press(producer, this.pendingBytes + this.backlog.waitingBytes);
  }

  /** Less waits than before: producers may go on. */
  reviewIntake(): void {
    this.intake.review(this.pendingBytes + this.backlog.waitingBytes);
  }

  /** Writes what was appended, then calls `done`. While the disk fails it does not wait: nobody was told of the rest. */
  drain(done: () => void): void {
    this.draining = done;
    this.sealOpen();
    if (this.taking && (this.error ?? this.segments.error) !== null) this.giveUp();
    else this.advance();
  }

  /** Closes the files of a drained log. */
  close(done: () => void): void {
    this.isClosed = true;
    this.syncTimer?.cancel();
    this.retryTimer?.cancel();
    this.intake.releaseAll();
    this.syncLast((error) => {
      if (error !== null) this.statistics.writeErrors++;
      this.segments.close(done);
    });
  }

  /** In the modes that don't wait for the device: what was written so far gets there. */
  syncLast(done: (error: IoError | null) => void): void {
    if (this.syncMode === 'always' || this.segment === null) done(null);
    else this.segment.sync(done);
  }

  private sealOpen(): void {
    const batch = this.open;
    if (batch === null) return;
    this.open = null;
    this.sealed.push(batch);
    for (const participant of batch.participants) participant.sealed(batch.endLsn);
  }

  /** Starts the next write if none is in flight. */
  private advance(): void {
    while (this.writing === null && !this.taking && !this.telling && !this.isClosed) {
      // What arrives while a write is in flight forms one batch, however many turns that takes.
      if (this.sealed.length === 0 && !this.turnScheduled) this.sealOpen();
      const batch = this.sealed[0];
      if (batch === undefined) {
        this.finishDraining();
        return;
      }
      if (this.segment === null || this.segment.roomBehind(batch.lsn) < batch.length) {
        this.nextSegment(batch.lsn);
        return;
      }
      this.sealed.shift();
      this.writing = batch;
      if (this.syncMode === 'always') this.writeBatch(this.segment, batch);
      else this.writeBatchNow(this.segment, batch, this.syncMode);
    }
  }

  private writeBatch(segment: Segment, batch: Batch): void {
    const started = this.io.clock.monotonicMs();
    segment.write(batch.buffer, batch.length, batch.lsn, (error) => {
      this.completed(batch, error, started);
    });
  }

  private writeBatchNow(segment: Segment, batch: Batch, intervalMs: number): void {
    const started = this.io.clock.monotonicMs();
    const error = segment.writeNow(batch.buffer, batch.length, batch.lsn);
    this.syncTimer ??= this.io.timers.after(intervalMs, () => this.syncNow());
    this.completed(batch, error, started);
  }

  private completed(batch: Batch, error: IoError | null, startedMs: number): void {
    this.writing = null;
    if (error !== null) {
      this.sealed.unshift(batch);
      this.abandonSegment(error);
      return;
    }
    this.error = null;
    this.failures = 0;
    this.statistics.commits++;
    this.statistics.commitMs.add(this.io.clock.monotonicMs() - startedMs);
    this.statistics.bytesWritten += batch.length;
    this.durableLsn = batch.endLsn;
    if (this.segment !== null) this.segments.noteRoom(this.segment.roomBehind(this.durableLsn));
    if (this.syncMode === 'always') this.noteSegment();
    if (this.syncMode === 'always') this.advance();
    this.tell(batch);
    this.advance();
  }

  /** Something in the current segment is on the device. Nobody waits for the note of that. */
  private noteSegment(): void {
    if (this.isNoted) return;
    this.isNoted = true;
    this.segments.noteNewest((error) => this.noteSyncError(error));
  }

  private tell(batch: Batch): void {
    this.telling = true;
    for (const participant of batch.participants) participant.durable(this.durableLsn);
    this.buffers.give(batch.buffer);
    this.onDurable();
    this.reviewIntake();
    this.telling = false;
  }

  private nextSegment(lsn: number): void {
    this.taking = true;
    if (this.syncMode !== 'always') this.segment?.sync((error) => this.noteSyncError(error));
    this.segments.take(lsn, (segment, error) => {
      this.taking = false;
      this.segment = segment;
      this.isNoted = false;
      if (error === null) {
        this.statistics.bytesWritten += SEGMENT_HEADER_BYTES;
        this.advance();
      } else this.abandonSegment(error);
    });
    if (this.draining !== null && this.segments.error !== null) this.giveUp();
  }

  /** The current segment is sealed where it is durable; the next one is tried, later and later while that fails too. */
  private abandonSegment(error: IoError): void {
    this.statistics.writeErrors++;
    this.error = error;
    const { segment } = this;
    this.segment = null;
    if (segment !== null && segment.header.baseLsn >= this.durableLsn) this.segments.discardNewest();
    if (this.draining !== null) {
      this.giveUp();
      return;
    }
    const delay = this.failures === 0 ? 0 : Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** this.failures);
    this.failures++;
    this.taking = true;
    this.retryTimer = this.io.timers.after(delay, () => {
      this.taking = false;
      this.advance();
    });
  }

  private syncNow(): void {
    this.syncTimer = null;
    const { segment, durableLsn } = this;
    segment?.sync((error) => {
      this.noteSyncError(error);
      // What it holds was promised to be in the page cache; what comes next goes to another segment.
      if (this.segment !== segment) return;
      if (error !== null) this.segment = null;
      else if (segment !== null && segment.header.baseLsn < durableLsn) this.noteSegment();
    });
  }

  private noteSyncError(error: IoError | null): void {
    if (error !== null) this.statistics.writeErrors++;
  }

  /** Closing while the disk fails: what is not durable was not acknowledged. */
  private giveUp(): void {
    this.isClosed = true;
    const participants = new Set(this.sealed.flatMap((batch) => batch.participants));
    this.sealed.length = 0;
    for (const participant of participants) participant.abandoned();
    this.finishDraining();
  }

  private finishDraining(): void {
    const done = this.draining;
    this.draining = null;
    done?.();
  }
}
