/**
 * The commit log: the one place where durability happens. Everything that must survive is appended as a frame; what was
 * appended in one turn, by all streams and consumers, leaves in one synced write. One write is in flight, and what
 * arrives meanwhile forms the next.
 *
 *     begin/end ─► open batch ─end of turn─► sealed batches ─one at a time─► segment ─► durable(lsn) to all who took part
 *
 * Log positions (LSN) count bytes of frames since the store was made; they never jump, whatever segments the frames lie
 * in. Before the next batch's participants hear anything, the next write is on its way.
 *
 * Write errors: a segment on which a write failed or fell short is never written or synced again. The batch is written
 * anew, under the same positions, to the next segment, which takes over from there.
 *
 * Bounds: INTAKE_BYTES_MAX of bytes not yet durable, above which producers are held; BATCH_BYTES_MAX a batch.
 */

import { strict as assert } from 'node:assert';
import { Buffer } from 'node:buffer';
import type { Io, IoError, Timer } from '../../server/io/io.ts';
import type { Producer } from '../../server/ports.ts';
import { FRAME_HEADER_BYTES, type FrameKind, sealFrame } from './frame.ts';
import { type Segment, SEGMENT_HEADER_BYTES, shortWrite } from './segment.ts';
import type { SegmentPool } from './segment-pool.ts';

const BATCH_BYTES_FIRST = 64 * 1024;
const BATCH_BYTES_MAX = 512 * 1024;
/** A frame must fit into a batch. */
export const FRAME_BYTES_MAX: number = BATCH_BYTES_MAX;
const INTAKE_HOLD_BYTES = 8 * 1024 * 1024;
const INTAKE_RELEASE_BYTES = 4 * 1024 * 1024;
/** While no further segment can be had, so much of the current one is kept for acknowledgements and removals. */
const RESERVE_BYTES = 256 * 1024;
const BUFFERS_KEPT = 3;
const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 5000;

/** Whoever appends frames. */
export interface LogParticipant {
  /** Position of the last batch it took part in; the log's own note. */
  joinedLsn: number;
  /** Position at or below which its first frame since its last checkpoint lies; -1: there is none. */
  dirtyLsn: number;
  /** Its frames so far lie below this position and leave together. */
  sealed(lsn: number): void;
  /** Everything below this position is durable. */
  durable(lsn: number): void;
}

/** `always`: an append is durable when it is on the device. A number of milliseconds: when it is in the page cache. */
export type SyncMode = 'always' | number;

class Batch {
  buffer: Buffer;
  length = 0;
  readonly lsn: number;
  readonly participants: LogParticipant[] = [];

  constructor(buffer: Buffer, lsn: number) {
    this.buffer = buffer;
    this.lsn = lsn;
  }
}

export interface LogStatistics {
  commits: number;
  bytesWritten: number;
  /** Milliseconds of the last commit, from its write to its completion. */
  lastCommitMs: number;
  writeErrors: number;
}

export class CommitLog {
  readonly segments: SegmentPool;
  readonly statistics: LogStatistics = { commits: 0, bytesWritten: 0, lastCommitMs: 0, writeErrors: 0 };
  /** Everything below this position is durable. */
  durableLsn: number;
  /** The last write error while it lasts. */
  error: IoError | null = null;
  /** Called after each batch, when its participants have heard of it. */
  onDurable: () => void = () => undefined;
  /** The position of the next frame. */
  nextLsn: number;

  private readonly io: Io;
  private readonly syncMode: SyncMode;
  private segment: Segment | null = null;
  private open: Batch | null = null;
  private readonly sealed: Batch[] = [];
  private writing: Batch | null = null;
  private taking = false;
  private turnScheduled = false;
  private frameAt = 0;
  private readonly spareBuffers: Buffer[] = [];
  private held: Producer[] = [];
  private unsyncedBytes = 0;
  /** Write errors in a row. */
  private failures = 0;
  private syncTimer: Timer | null = null;
  private draining: (() => void) | null = null;
  private readonly endTurn = (): void => {
    this.turnScheduled = false;
    this.sealOpen();
    this.advance();
  };

  /** A log whose next frame gets the position `lsn`, and that begins with a fresh segment. */
  constructor(io: Io, segments: SegmentPool, lsn: number, syncMode: SyncMode) {
    this.io = io;
    this.segments = segments;
    this.nextLsn = lsn;
    this.durableLsn = lsn;
    this.syncMode = syncMode;
  }

  /** Bytes appended and not yet durable. */
  get pendingBytes(): number {
    return this.nextLsn - this.durableLsn;
  }

  /** Whether new messages are taken; acknowledgements and removals always are. */
  get acceptsMessages(): boolean {
    if (this.segments.canAdvance && this.error === null) return true;
    const room = this.segment === null ? 0 : this.segment.roomBehind(this.nextLsn);
    return this.error === null && room > RESERVE_BYTES;
  }

  /** The buffer in which the frame that was begun is written. */
  get buffer(): Buffer {
    return (this.open as Batch).buffer;
  }

  /** Begins a frame of at most `bodyBytes`; where in `buffer` its body begins. `end` must follow in the same turn. */
  begin(bodyBytes: number): number {
    const bytes = FRAME_HEADER_BYTES + bodyBytes;
    assert(bytes <= FRAME_BYTES_MAX, 'a frame fits into a batch');
    if (this.open !== null && this.open.length + bytes > BATCH_BYTES_MAX) this.sealOpen();
    const batch = (this.open ??= new Batch(this.takeBuffer(), this.nextLsn));
    if (batch.length + bytes > batch.buffer.length) this.growBatch(batch, batch.length + bytes);
    this.frameAt = batch.length;
    return this.frameAt + FRAME_HEADER_BYTES;
  }

  /** Ends the frame whose body ends at `bodyEnd`; the position behind it. */
  end(bodyEnd: number, kind: FrameKind, asset: number, participant: LogParticipant): number {
    const batch = this.open as Batch;
    sealFrame(batch.buffer, this.frameAt, bodyEnd, kind, asset, this.nextLsn, batch.lsn);
    this.nextLsn += bodyEnd - this.frameAt;
    batch.length = bodyEnd;
    if (participant.joinedLsn !== batch.lsn) {
      participant.joinedLsn = batch.lsn;
      if (participant.dirtyLsn < 0) participant.dirtyLsn = batch.lsn;
      batch.participants.push(participant);
    }
    if (!this.turnScheduled) {
      this.turnScheduled = true;
      this.io.timers.afterTurn(this.endTurn);
    }
    return this.nextLsn;
  }

  /** Holds the producer while too much is not durable yet. */
  press(producer: Producer | null): void {
    if (producer === null || this.pendingBytes <= INTAKE_HOLD_BYTES || this.held.includes(producer)) return;
    this.held.push(producer);
    producer.holdCount++;
  }

  /** Writes what was appended, then calls `done`; nothing may be appended any more. */
  drain(done: () => void): void {
    this.draining = done;
    this.sealOpen();
    this.advance();
  }

  /** Closes the files of a drained log. */
  close(done: () => void): void {
    this.syncTimer?.cancel();
    const { segment } = this;
    const finish = (): void => {
      this.segments.close();
      done();
    };
    if (this.syncMode === 'always' || segment === null) finish();
    else
      segment.file.sync((error) => {
        this.noteSyncError(error);
        finish();
      });
  }

  private sealOpen(): void {
    const batch = this.open;
    if (batch === null) return;
    this.open = null;
    this.sealed.push(batch);
    for (const participant of batch.participants) participant.sealed(this.nextLsn);
  }

  /** Starts the next write if none is in flight. */
  private advance(): void {
    if (this.writing !== null || this.taking) return;
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
    else this.writeBatchNow(this.segment, batch);
  }

  private writeBatch(segment: Segment, batch: Batch): void {
    const started = this.io.clock.monotonicMs();
    segment.file.write(batch.buffer, 0, batch.length, segment.offsetOf(batch.lsn), (error, written) => {
      this.statistics.lastCommitMs = this.io.clock.monotonicMs() - started;
      this.completed(batch, error ?? shortWrite(written, batch.length));
    });
  }

  private writeBatchNow(segment: Segment, batch: Batch): void {
    let error: IoError | null = null;
    try {
      const written = segment.file.writeNow(batch.buffer, 0, batch.length, segment.offsetOf(batch.lsn));
      error = shortWrite(written, batch.length);
    } catch (thrown) {
      error = thrown as IoError;
    }
    this.scheduleSync();
    this.completed(batch, error);
  }

  private completed(batch: Batch, error: IoError | null): void {
    this.writing = null;
    if (error !== null) {
      this.sealed.unshift(batch);
      this.abandonSegment(error);
      return;
    }
    this.error = null;
    this.failures = 0;
    this.statistics.commits++;
    this.statistics.bytesWritten += batch.length;
    this.durableLsn = batch.lsn + batch.length;
    if (this.syncMode !== 'always') this.unsyncedBytes += batch.length;
    this.advance();
    for (const participant of batch.participants) participant.durable(this.durableLsn);
    this.giveBuffer(batch.buffer);
    this.onDurable();
    if (this.held.length > 0 && this.pendingBytes < INTAKE_RELEASE_BYTES) this.releaseHeld();
  }

  private nextSegment(lsn: number): void {
    this.taking = true;
    if (this.syncMode !== 'always') this.segment?.file.sync((error) => this.noteSyncError(error));
    this.segments.take((segment) => {
      segment.activate(this.segments.nextHeader(lsn), (error) => {
        this.taking = false;
        this.segments.used.push(segment);
        this.segment = segment;
        if (error === null) {
          this.statistics.bytesWritten += SEGMENT_HEADER_BYTES;
          this.advance();
        } else this.abandonSegment(error);
      });
    });
  }

  /** The current segment is sealed where it is durable; the next one is tried, later and later while that fails too. */
  private abandonSegment(error: IoError): void {
    this.statistics.writeErrors++;
    this.error = error;
    const { segment } = this;
    this.segment = null;
    if (segment !== null && segment.header.baseLsn >= this.durableLsn) this.segments.discardNewest();
    const delay = this.failures === 0 ? 0 : Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** this.failures);
    this.failures++;
    this.taking = true;
    this.io.timers.after(delay, () => {
      this.taking = false;
      this.advance();
    });
  }

  private noteSyncError(error: IoError | null): void {
    if (error === null) return;
    this.statistics.writeErrors++;
    this.error = error;
  }

  private scheduleSync(): void {
    if (this.syncTimer !== null || this.syncMode === 'always') return;
    this.syncTimer = this.io.timers.after(this.syncMode, () => {
      this.syncTimer = null;
      const bytes = this.unsyncedBytes;
      this.segment?.file.sync((error) => {
        this.noteSyncError(error);
        if (error !== null) this.segment = null;
        else this.unsyncedBytes -= bytes;
      });
    });
  }

  private finishDraining(): void {
    const done = this.draining;
    this.draining = null;
    done?.();
  }

  private releaseHeld(): void {
    const { held } = this;
    this.held = [];
    for (const producer of held) {
      producer.holdCount--;
      if (producer.holdCount === 0) producer.resumeReading();
    }
  }

  private takeBuffer(): Buffer {
    return this.spareBuffers.pop() ?? Buffer.allocUnsafeSlow(BATCH_BYTES_FIRST);
  }

  private giveBuffer(buffer: Buffer): void {
    if (this.spareBuffers.length < BUFFERS_KEPT) this.spareBuffers.push(buffer);
  }

  private growBatch(batch: Batch, bytes: number): void {
    let size = batch.buffer.length;
    while (size < bytes) size *= 2;
    const grown = Buffer.allocUnsafeSlow(size);
    batch.buffer.copy(grown, 0, 0, batch.length);
    batch.buffer = grown;
  }
}
