/**
 * Atomic batches of one stream: messages with `Nats-Batch-Id`, which are stored together by the last one of them, or not
 * at all.
 *
 *     Nats-Batch-Sequence 1, 2, 3 … ─► kept aside, answered with nothing
 *     the last, Nats-Batch-Commit: 1 (eob: it is not part of it) ─► all checked ─► all appended in this turn ─► one answer
 *
 * What does not continue a batch ends it: a gap, a repetition, too many messages, an unknown commit. Nobody sees anything
 * of a batch, and nothing of it is checked, before its commit; an error leaves no trace of it.
 *
 * Bounds: IN_FLIGHT_MAX batches, SERVER_MAX on the server, MESSAGES_MAX messages each, TIMEOUT_MS from one to the next;
 * what all batches of the server keep aside takes at most `max_buffered_size` of the configuration.
 *
 * Source: ADR-50.
 */

import type { Message } from '../../server/protocol/message.ts';
import { isLevelTooHigh } from '../../server/protocol/required-level.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import { type AbandonReason, adviseAbandonedBatch } from './abandoned-batches.ts';
import { AtomicBatch } from './atomic-batch.ts';
import { BatchCheck } from './batch-check.ts';
import { BATCH_ID_BYTES_MAX, BATCH_TIMEOUT_MS, LEVEL_HEADER } from './batch-limits.ts';
import { withHeader, withoutHeader } from './batch-headers.ts';
import { BatchTable, type TimedBatch } from './batch-table.ts';
import type { BatchingStream } from './batching-stream.ts';

const IN_FLIGHT_MAX = 50;
const SERVER_MAX = 1000;
const MESSAGES_MAX = 1000;
const COMMIT_LINE = 'Nats-Batch-Commit: 1';
const END_OF_BATCH = 'eob';
const UNSUPPORTED_HEADER = 'Nats-Expected-Last-Msg-Id';

export class AtomicBatches {
  private readonly stream: BatchingStream;
  private readonly table: BatchTable<AtomicBatch>;

  constructor(stream: BatchingStream) {
    this.stream = stream;
    const limits = {
      inFlightMax: IN_FLIGHT_MAX,
      serverMax: SERVER_MAX,
      timeoutMs: BATCH_TIMEOUT_MS,
      timedOut: ({ id }: TimedBatch): void => adviseAbandonedBatch(stream, id, 'timeout'),
    };
    this.table = new BatchTable(stream.host.io, stream.host.batchUse, 'atomicBatches', limits);
  }

  /** Takes a message with a batch id; its headers have been read. Answers it unless the stream never does. */
  take(message: Message): void {
    const { stream } = this;
    const { batchCommit } = stream.check.headers;
    const taken = this.place(message);
    if (taken instanceof AtomicBatch && batchCommit === null) this.answer(message, '');
    else if (taken instanceof AtomicBatch) this.commit(taken, message, batchCommit === END_OF_BATCH);
    else if (taken === ApiErrors.tooManyRequests) this.refuse(message, taken);
    else this.answer(message, stream.answers.errorText(taken));
  }

  /** Drops every batch that is under way. */
  clear(): void {
    this.table.clear();
  }

  private answer(message: Message, text: string): void {
    if (!this.stream.config.noAck) this.stream.answer(message, text);
  }

  private refuse(message: Message, error: ApiError): void {
    if (!this.stream.config.noAck && message.hasReply) this.stream.answers.refuse(message, error);
  }

  // ── before the commit ────────────────────────────────────────────────────────────────────────────────────────────

  /** Puts the message into its batch, or says why it can't be. */
  private place(message: Message): AtomicBatch | ApiError {
    const { config, check } = this.stream;
    const { batchId, batchSequence, batchCommit } = check.headers;
    const sizeError = check.checkSize(message, config);
    if (sizeError !== null) return sizeError;
    if (!config.allowAtomic) return ApiErrors.atomicPublishDisabled;
    if (batchId === null || batchId.length > BATCH_ID_BYTES_MAX) return ApiErrors.atomicPublishInvalidBatchId;
    const sequence = sequenceIn(batchSequence);
    if (sequence === null) return ApiErrors.atomicPublishMissingSequence;
    const count = batchCommit === END_OF_BATCH ? sequence - 1 : sequence;
    const batch = this.table.find(batchId) ?? this.begin(batchId, sequence, count);
    if (!(batch instanceof AtomicBatch)) return batch;
    const error = this.continue(batch, message, sequence, count);
    if (error === null) return batch;
    this.table.drop(batch);
    const reason = reasonOf(error);
    if (reason !== null) adviseAbandonedBatch(this.stream, batchId, reason);
    return error;
  }

  private begin(id: string, sequence: number, count: number): AtomicBatch | ApiError {
    // A batch that ends without having begun counts less than nothing, which nats-server takes for very much.
    if (sequence !== 1) return count < 0 ? TOO_LARGE : (sizeError(count) ?? ApiErrors.atomicPublishIncomplete);
    if (this.table.isFull) return ApiErrors.atomicPublishTooManyInFlight;
    const batch = new AtomicBatch(id, this.stream.host.batchUse);
    this.table.add(batch);
    return batch;
  }

  /** `count`: messages of the batch with this one, if it is stored. */
  private continue(batch: AtomicBatch, message: Message, sequence: number, count: number): ApiError | null {
    const { host, check } = this.stream;
    const { batchCommit, requiredLevel } = check.headers;
    if (batchCommit !== null && batchCommit !== '1' && batchCommit !== END_OF_BATCH) {
      return ApiErrors.atomicPublishInvalidBatchCommit;
    }
    if (requiredLevel !== null && isLevelTooHigh(requiredLevel)) return ApiErrors.requiredApiLevel;
    if (sequence !== batch.lastSequence + 1 || count === 0) return ApiErrors.atomicPublishIncomplete;
    const tooLarge = sizeError(count);
    if (tooLarge !== null) return tooLarge;
    batch.lastSequence = sequence;
    this.table.touch(batch);
    if (count < sequence) return null;
    if (host.batchUse.stagedBytes + AtomicBatch.bytesOf(message) > host.maxBufferedBytes) {
      return ApiErrors.tooManyRequests;
    }
    batch.add(requiredLevel === null ? message : withoutHeader(message, LEVEL_HEADER));
    return null;
  }

  // ── the commit ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** `isMarked`: the last message was stored without knowing that it is the last. */
  private commit(batch: AtomicBatch, message: Message, isMarked: boolean): void {
    const { answers } = this.stream;
    const error = this.checkAll(batch);
    const text =
      error === null
        ? answers.batchText(batch.id, batch.count, this.appendAll(batch, message, isMarked), false)
        : answers.errorText(error);
    this.table.drop(batch);
    this.answer(message, text);
  }

  private checkAll(batch: AtomicBatch): ApiError | null {
    const { check, store, config } = this.stream;
    const { headers } = check;
    const batchCheck = new BatchCheck(check, store);
    return batch.forEach((each) => {
      headers.read(each.body, each.bodyStart, each.payloadStart);
      if (headers.expectedLastMessageId !== null) {
        return ApiErrors.atomicPublishUnsupportedHeaderBatch(UNSUPPORTED_HEADER);
      }
      return batchCheck.next(each, config);
    });
  }

  /** The sequence of the last message. `last` is the one that commits; its sender is held while too much waits. */
  private appendAll(batch: AtomicBatch, last: Message, isMarked: boolean): number {
    const { check, store } = this.stream;
    let sequence = 0;
    store.beginGroup();
    batch.forEach((each, position) => {
      const isLast = position === batch.count - 1;
      const message = isLast && isMarked ? withHeader(each, COMMIT_LINE) : each;
      if (isLast) message.producer = last.producer;
      check.headers.read(message.body, message.bodyStart, message.payloadStart);
      sequence = this.stream.append(message);
      return null;
    });
    store.endGroup();
    return sequence;
  }
}

const TOO_LARGE: ApiError = ApiErrors.atomicPublishTooLargeBatch(MESSAGES_MAX);

/** Why a batch is given up over this error; `null` when nobody else hears of that. */
function reasonOf(error: ApiError): AbandonReason | null {
  if (error === ApiErrors.requiredApiLevel) return 'unsupported';
  if (error === TOO_LARGE) return 'large';
  return error === ApiErrors.atomicPublishIncomplete ? 'incomplete' : null;
}

function sizeError(count: number): ApiError | null {
  return count > MESSAGES_MAX ? TOO_LARGE : null;
}

/** The number in a header; `null` when there is none, or more than 64 bits hold. */
function sequenceIn(text: string | null): number | null {
  if (text === null || !/^\d+$/.test(text) || BigInt(text) >= 2n ** 64n) return null;
  return Number(text);
}
