/**
 * A consumer's history on disk: operations in frames of the commit log, and checkpoints of the whole state.
 *
 *     frame body: operations, one behind the other
 *       1 delivered   u48 stream sequence, u32 deliveries, u48 deadline in milliseconds
 *       2 settled     u48 stream sequence
 *       3 purged      u48 everything below this stream sequence
 *       4 deadline    u48 stream sequence, u48 deadline in milliseconds
 *       5 reset       u48 the first stream sequence to deliver, as if nothing had been delivered
 *       6 up to       u48 stream sequence, u48 consumer sequence: all acknowledged up to here
 *       7 exhausted   u48 stream sequence
 *       8 passed      u48 stream sequence, u48 consumer sequence: where nothing is acknowledged, the last one delivered
 *
 * The operations of one turn leave in one frame. What waits for them to be durable (replies to acknowledgements that ask
 * for one) is told then, in order.
 */

import { Buffer } from 'node:buffer';
import type { Done, IoError } from '../../server/io/io.ts';
import { enlarged } from '../store/buffers.ts';
import type { Captured } from '../store/captured.ts';
import { Coverage } from '../store/coverage.ts';
import { FrameKind } from '../store/frame.ts';
import { get32, get48, put32, put48 } from '../store/integers.ts';
import type { LoggedAsset } from '../store/logged-asset.ts';
import { StateFile } from '../store/state-file.ts';
import type { Storage } from '../store/storage.ts';
import type { ConsumerState } from './consumer-state.ts';
import { type PendingSnapshot, ROW_BYTES } from './pending-snapshot.ts';
import type { PendingTable } from './pending-table.ts';

const DELIVERED = 1;
const SETTLED = 2;
const PURGED = 3;
const DEADLINE = 4;
const RESET = 5;
const UP_TO = 6;
const EXHAUSTED = 7;
const PASSED = 8;
const OPERATION_BYTES_MAX = 17;
/** Operations beyond this leave in a frame of their own. */
const FRAME_BYTES_MAX = 64 * 1024;
const HEAD_BYTES = 38;
const EMPTY = Buffer.alloc(0);

export class ConsumerLog implements LoggedAsset {
  joinedLsn = -1;
  lastLsn = 0;
  readonly coverage: Coverage = new Coverage();
  readonly number: number;
  isAhead = false;
  private readonly storage: Storage;
  private readonly state: ConsumerState;
  private readonly file: StateFile;
  private operations: Buffer = EMPTY;
  private length = 0;
  /** Where the sequences of `passed` stand, when that is the last operation; else -1. */
  private passedAt = -1;
  private scheduled = false;
  private readonly waiting: { lsn: number; done: () => void }[] = [];
  /** Not everything that is in the state became durable, and nothing will any more. */
  private isAbandoned = false;
  /** A checkpoint that waits until what it reflects is durable. */
  private checkpointing: { readonly lsn: number; readonly write: () => void; readonly done: Done } | null = null;
  /** A checkpoint is under way; others wait for it. */
  private isCaptured = false;
  private readonly whenFree: (() => void)[] = [];
  private turnDone: (() => void)[] = [];

  constructor(storage: Storage, number: number, state: ConsumerState) {
    this.storage = storage;
    this.number = number;
    this.state = state;
    this.file = new StateFile(storage.files, storage.assetDirectory('consumer', number));
  }

  reset(stream: number): void {
    this.length = this.putSequence(RESET, stream);
  }

  delivered(stream: number, deliveries: number, deadlineMs: number): void {
    const at = this.room(DELIVERED);
    put48(this.operations, at, stream);
    put32(this.operations, at + 6, deliveries);
    put48(this.operations, at + 10, deadlineMs);
    this.length = at + 16;
  }

  /** As `delivered` where nothing is acknowledged: the last one of a turn tells all. */
  passed(stream: number, consumer: number): void {
    if (this.passedAt < 0) {
      const at = this.room(PASSED);
      this.length = at + 12;
      this.passedAt = at;
    }
    put48(this.operations, this.passedAt, stream);
    put48(this.operations, this.passedAt + 6, consumer);
  }

  settled(stream: number): void {
    this.length = this.putSequence(SETTLED, stream);
  }

  settledUpTo(consumer: number, stream: number): void {
    const at = this.putSequence(UP_TO, stream);
    put48(this.operations, at, consumer);
    this.length = at + 6;
  }

  exhausted(stream: number): void {
    this.length = this.putSequence(EXHAUSTED, stream);
  }

  purgedBelow(stream: number): void {
    this.length = this.putSequence(PURGED, stream);
  }

  deadline(stream: number, deadlineMs: number): void {
    const at = this.putSequence(DEADLINE, stream);
    put48(this.operations, at, deadlineMs);
    this.length = at + 6;
  }

  /** Calls back when everything noted so far is durable. */
  whenDurable(done: () => void): void {
    this.turnDone.push(done);
    this.schedule();
  }

  private putSequence(operation: number, stream: number): number {
    const at = this.room(operation);
    put48(this.operations, at, stream);
    return at + 6;
  }

  private room(operation: number): number {
    if (this.length + OPERATION_BYTES_MAX > FRAME_BYTES_MAX) this.append();
    if (this.length + OPERATION_BYTES_MAX > this.operations.length) {
      this.operations = enlarged(this.operations, this.length, this.length + OPERATION_BYTES_MAX);
    }
    this.operations[this.length] = operation;
    this.passedAt = -1;
    this.schedule();
    return this.length + 1;
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    this.storage.files.timers.afterTurn(() => {
      this.scheduled = false;
      this.append();
    });
  }

  private append(): void {
    const { log } = this.storage;
    if (this.length > 0) {
      const at = log.begin(this.length);
      this.operations.copy(log.buffer, at, 0, this.length);
      log.end(at + this.length, FrameKind.consumer, this.number, this);
      this.length = 0;
      this.passedAt = -1;
    }
    const { lastLsn } = this;
    for (const done of this.turnDone) this.waiting.push({ lsn: lastLsn, done });
    this.turnDone = [];
    this.durable(log.durableLsn);
  }

  flush(done: () => void): void {
    this.append();
    done();
  }

  sealed(): void {
    // What waits knows its own position.
  }

  durable(lsn: number): void {
    const { waiting } = this;
    let count = 0;
    while (count < waiting.length && (waiting[count] as { lsn: number }).lsn <= lsn) count++;
    for (const { done } of waiting.splice(0, count)) done();
    const { checkpointing } = this;
    if (checkpointing === null || checkpointing.lsn > lsn) return;
    this.checkpointing = null;
    checkpointing.write();
  }

  abandoned(): void {
    // Nobody is told of what did not become durable.
    this.waiting.length = 0;
    this.isAbandoned = true;
    this.checkpointing?.done(abandonedError());
    this.checkpointing = null;
  }

  // ── recovery ─────────────────────────────────────────────────────────────────────────────────────────────────────

  applyFrame(_kind: number, buffer: Buffer, start: number, end: number): void {
    const { state } = this;
    let at = start;
    while (at < end) {
      const operation = buffer[at++];
      const stream = get48(buffer, at);
      at += 6;
      if (operation === DELIVERED) {
        state.delivered(stream, get32(buffer, at), get48(buffer, at + 4));
        at += 10;
      } else if (operation === SETTLED) state.settled(stream);
      else if (operation === PURGED) state.purgedBelow(stream);
      else if (operation === RESET) state.reset(stream);
      else if (operation === EXHAUSTED) state.exhaust(stream);
      else if (operation === UP_TO) {
        state.settledUpTo(get48(buffer, at), stream);
        at += 6;
      } else if (operation === PASSED) {
        state.passed(stream, get48(buffer, at));
        at += 6;
      } else {
        const row = state.pending.row(stream);
        if (row >= 0) state.pending.setDeadline(row, get48(buffer, at));
        at += 6;
      }
    }
  }

  recovered(): void {
    // The state is the same whether it was read or happened.
  }

  checkpoint(done: Done): void {
    if (this.isCaptured) {
      this.whenFree.push(() => this.checkpoint(done));
      return;
    }
    // Operations of this turn that are not in the log yet are in the state: they go to the log first.
    this.append();
    const { log } = this.storage;
    if (this.isAbandoned) {
      done(abandonedError());
      return;
    }
    const { state } = this;
    const captured = captureState(state);
    this.isCaptured = true;
    const finish: Done = (error) => {
      state.pending.release();
      state.exhausted.release();
      this.isCaptured = false;
      done(error);
      this.whenFree.shift()?.();
    };
    // The state may be written only once what it reflects is durable.
    const lsn = Math.max(this.lastLsn, log.durableLsn);
    this.checkpointing = {
      lsn: this.lastLsn,
      write: () => this.writeState(lsn, captured, finish),
      done: finish,
    };
    this.durable(log.durableLsn);
  }

  private writeState(lsn: number, captured: Captured, done: Done): void {
    this.file.write(lsn, captured, (error) => {
      if (error === null) this.coverage.checkpointed(lsn, this.lastLsn);
      done(error);
    });
  }

  /** Takes over the newest checkpoint, if there is one. */
  recover(): void {
    const found = this.file.readNow();
    if (found === null) return;
    decodeState(found.state, this.state);
    this.coverage.restored(found.lsn, found.olderLsn);
  }

  destroy(): void {
    this.file.remove();
  }
}

function abandonedError(): IoError {
  return Object.assign(new Error('the log was closed while it failed'), { code: 'ECANCELED' });
}

function captureState(state: ConsumerState): Captured {
  const { ackFloor } = state;
  const pending = state.pending.capture();
  const exhausted = state.exhausted.capture();
  const head = Buffer.alloc(HEAD_BYTES);
  put48(head, 0, state.nextStream);
  put48(head, 6, state.nextConsumer);
  put48(head, 12, Math.max(0, ackFloor.stream));
  put48(head, 18, ackFloor.consumer);
  put48(head, 24, Math.max(0, state.deliveredStream));
  put32(head, 30, pending.size);
  put32(head, 34, exhausted.size);
  const bytes = HEAD_BYTES + (pending.size + exhausted.size) * ROW_BYTES;
  return { bytes, pieces: () => piecesOf(head, pending, exhausted) };
}

function* piecesOf(head: Buffer, pending: PendingSnapshot, exhausted: PendingSnapshot): Generator<Buffer> {
  yield head;
  yield* pending.pieces();
  yield* exhausted.pieces();
}

function decodeState(image: Buffer, state: ConsumerState): void {
  state.nextStream = get48(image, 0);
  state.nextConsumer = get48(image, 6);
  state.ackFloor.stream = get48(image, 12);
  state.ackFloor.consumer = get48(image, 18);
  state.deliveredStream = get48(image, 24);
  const at = decodeRows(image, HEAD_BYTES, get32(image, 30), state.pending);
  decodeRows(image, at, get32(image, 34), state.exhausted);
}

function decodeRows(image: Buffer, from: number, rows: number, table: PendingTable): number {
  let at = from;
  for (let left = rows; left > 0; left--) {
    table.add(get48(image, at), get48(image, at + 6), get48(image, at + 12), get32(image, at + 18));
    at += ROW_BYTES;
  }
  return at;
}
