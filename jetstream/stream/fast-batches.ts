/**
 * Fast batches of one stream: messages with a reply subject that ends in `.$FI`, stored one by one as they come and
 * acknowledged every so many.
 *
 *     0 start ─► {"type":"ack","seq":0,"msgs":n}   1 append … ─► {"type":"ack","seq":n,"msgs":m}
 *     2 commit, 3 end of batch ─► {"stream":"S","seq":…,"batch":…,"count":…}       4 ping ─► the last acknowledgement again
 *     a gap ─► {"type":"gap",…}, a message that can't be stored ─► {"type":"err",…}; where gaps are not allowed, either
 *     ends the batch with what there is
 *
 * A message counts as stored from the moment when it is appended; answers wait for it to be durable and leave in the
 * order in which they were made. So a publisher hears the same as from a server that stores before it goes on.
 *
 * Unlike nats-server's, no batch is left that nothing can end: one that went wrong without being empty of errors is told
 * how far it came, and is over.
 *
 * Bounds: IN_FLIGHT_MAX batches, SERVER_MAX on the server, BATCH_TIMEOUT_MS from one message to the next.
 *
 * Source: ADR-50, nats-server 2.15.
 */

import type { Message } from '../../server/protocol/message.ts';
import { isLevelTooHigh } from '../../server/protocol/required-level.ts';
import { encode } from '../../server/protocol/go-json.ts';
import { type ApiError, ApiErrors, errorJson } from '../errors.ts';
import { BATCH_ID_BYTES_MAX, BATCH_TIMEOUT_MS, LEVEL_HEADER } from './batch-limits.ts';
import { BatchCheck } from './batch-check.ts';
import { withoutHeader } from './batch-headers.ts';
import { BatchTable } from './batch-table.ts';
import type { BatchingStream } from './batching-stream.ts';
import { FastBatchReply } from './fast-batch-reply.ts';
import { FastBatch } from './fast-batch.ts';

const IN_FLIGHT_MAX = 1000;
const SERVER_MAX = 50_000;

export class FastBatches {
  private readonly stream: BatchingStream;
  private readonly table: BatchTable<FastBatch>;
  private readonly check: BatchCheck;
  private readonly reply = new FastBatchReply();
  /** The batch of the last message, which is most often that of the next one too. */
  private recent: FastBatch | null = null;

  constructor(stream: BatchingStream) {
    this.stream = stream;
    const limits = { inFlightMax: IN_FLIGHT_MAX, serverMax: SERVER_MAX, timeoutMs: BATCH_TIMEOUT_MS };
    this.table = new BatchTable(stream.host.io, stream.host.batchUse, 'fastBatches', limits);
    this.check = new BatchCheck(stream.check, stream.store);
  }

  /** Takes a message with the reply subject of a fast batch; its headers, if there are any, have been read. */
  take(message: Message): void {
    const batch = this.batchFor(message);
    if (!(batch instanceof FastBatch)) {
      if (!this.stream.config.noAck) this.stream.answer(message, this.stream.answers.errorText(batch));
      return;
    }
    this.table.touch(batch);
    if (this.reply.isPing) this.ping(batch, message);
    else if (this.follows(batch, message)) this.proceed(batch, withoutLevel(message, this.requiredLevel(message)));
  }

  /** Drops every batch that is under way. */
  clear(): void {
    this.table.clear();
    this.recent = null;
  }

  // ── which batch ──────────────────────────────────────────────────────────────────────────────────────────────────

  private batchFor(message: Message): FastBatch | ApiError {
    const { reply, stream } = this;
    const sizeError = stream.check.checkSize(message, stream.config);
    if (sizeError !== null) return sizeError;
    if (!stream.config.allowBatched) return ApiErrors.batchPublishDisabled;
    if (!reply.read(message)) return ApiErrors.batchPublishInvalidPattern;
    if (reply.idEnd - reply.idStart > BATCH_ID_BYTES_MAX) return ApiErrors.batchPublishInvalidBatchId;
    const batch = this.find(message) ?? this.begin(message);
    const level = this.requiredLevel(message);
    if (!(batch instanceof FastBatch) || level === null || !isLevelTooHigh(level)) return batch;
    this.table.drop(batch);
    return ApiErrors.requiredApiLevel;
  }

  private requiredLevel(message: Message): string | null {
    return message.payloadStart > message.bodyStart ? this.stream.check.headers.requiredLevel : null;
  }

  private find({ reply }: Message): FastBatch | undefined {
    const { idStart, idEnd } = this.reply;
    const { recent } = this;
    if (recent?.hasId(reply, idStart, idEnd) === true && !recent.isEnded) {
      return this.table.isAbandoned(recent) ? undefined : recent;
    }
    const found = this.table.find(reply.toString('latin1', idStart, idEnd));
    if (found !== undefined) this.recent = found;
    return found;
  }

  private begin(message: Message): FastBatch | ApiError {
    const { reply } = this;
    if (reply.sequence !== 1 || reply.isPing) return ApiErrors.batchPublishUnknownBatchId;
    if (this.table.isFull) return ApiErrors.batchPublishTooManyInFlight;
    const id = message.reply.toString('latin1', reply.idStart, reply.idEnd);
    const batch = new FastBatch(id, reply, this.table.size === 0);
    this.table.add(batch);
    this.recent = batch;
    return batch;
  }

  // ── how far ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Says how far the batch is, and what got lost before the ping. */
  private ping(batch: FastBatch, message: Message): void {
    const { sequence } = this.reply;
    if (sequence > batch.lastSequence) {
      this.stream.answer(message, gapText(batch.lastSequence + 1, sequence + 1));
      if (!batch.allowsGaps) {
        this.end(batch, message);
        return;
      }
      batch.lastSequence = sequence;
      batch.isAckDue(this.table.size);
    }
    this.stream.answer(message, batch.ackText);
  }

  /** Whether the batch goes on with this message; what is missing before it is said. */
  private follows(batch: FastBatch, message: Message): boolean {
    const { sequence } = this.reply;
    const expected = batch.lastSequence + 1;
    if (sequence !== expected) {
      this.stream.answer(message, gapText(expected, sequence));
      if (!batch.allowsGaps || sequence < expected) {
        this.end(batch, message);
        return false;
      }
    }
    if (this.reply.isEndOfBatch) {
      batch.lastSequence = sequence - 1;
      this.end(batch, message);
      return false;
    }
    batch.lastSequence = sequence;
    return true;
  }

  private end(batch: FastBatch, message: Message): void {
    this.table.drop(batch);
    this.stream.answer(message, this.endText(batch, batch.streamSequence, false));
  }

  private endText(batch: FastBatch, streamSequence: number, isDuplicate: boolean): string {
    return this.stream.answers.batchText(batch.id, batch.lastSequence, streamSequence, isDuplicate);
  }

  // ── a message to store ───────────────────────────────────────────────────────────────────────────────────────────

  private proceed(batch: FastBatch, message: Message): void {
    const { stream, reply } = this;
    if (reply.sequence === 1 && !reply.isCommit && !stream.config.noAck) stream.answer(message, batch.ackText);
    const error = this.check.alone(message, stream.config);
    if (error === null) this.store(batch, message);
    else if (this.check.duplicateOf > 0) this.skip(batch, message, this.check.duplicateOf);
    else this.fail(batch, message, error);
  }

  private store(batch: FastBatch, message: Message): void {
    const { stream, reply } = this;
    const hasHeaders = message.payloadStart > message.bodyStart;
    const error = hasHeaders ? stream.check.checkExpectedMessageId() : null;
    if (error === null) batch.streamSequence = stream.appendAlone(message);
    else {
      // nats-server finds this out late: the batch doesn't hear of it.
      if (!stream.config.noAck) stream.answer(message, stream.answers.errorText(error));
      if (reply.isCommit) this.table.drop(batch);
      return;
    }
    if (reply.isCommit) this.end(batch, message);
    else this.acknowledge(batch, message);
  }

  private acknowledge(batch: FastBatch, message: Message): void {
    if (batch.isAckDue(this.table.size)) this.stream.answer(message, batch.ackText);
  }

  /** The message repeats one that is stored: it counts as if it had been stored now. */
  private skip(batch: FastBatch, message: Message, duplicateOf: number): void {
    const { reply } = this;
    this.acknowledge(batch, message);
    if (!reply.isCommit) return;
    if (reply.allowsGaps || batch.lastSequence > 1) {
      this.end(batch, message);
      return;
    }
    this.table.drop(batch);
    this.stream.answer(message, this.endText(batch, duplicateOf, true));
  }

  /** The message can't be stored: a batch without gaps ends with what came before it. */
  private fail(batch: FastBatch, message: Message, error: ApiError): void {
    const { stream, reply } = this;
    if (!reply.allowsGaps && batch.lastSequence === 1) {
      this.table.drop(batch);
      stream.answer(message, stream.answers.errorText(error));
      return;
    }
    stream.answer(message, encode({ type: 'err', seq: reply.sequence, error: errorJson(error) }));
    if (reply.allowsGaps && !reply.isCommit) return;
    batch.lastSequence--;
    this.end(batch, message);
  }
}

/** `expected` was to come, `sequence` came: lower than that it is a repetition, which ends the batch. */
function gapText(expected: number, sequence: number): string {
  return `{"type":"gap","last_seq":${expected},"seq":${sequence}}`;
}

function withoutLevel(message: Message, level: string | null): Message {
  return level === null ? message : withoutHeader(message, LEVEL_HEADER);
}
