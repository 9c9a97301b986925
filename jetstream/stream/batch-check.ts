/**
 * Whether the messages of a batch may be stored, each as if those before it were stored already, though nothing is: the
 * checks that nats-server makes for batches, in its order, which is not that of other messages.
 *
 * An atomic batch is checked when it is committed, and with it what only a batch can do wrong: an id twice, an expected
 * sequence that the batch itself makes impossible. A message of a fast batch is checked when it comes, alone.
 */

import type { Message } from '../../server/protocol/message.ts';
import { type ApiError, ApiErrors, isApiError } from '../errors.ts';
import type { MessageStore } from '../store/store.ts';
import type { Counter } from './counter.ts';
import { incrementRefusal } from './counters.ts';
import { NO_TTL, ttlSeconds } from './message-ttl.ts';
import { type PublishCheck, sequenceOf } from './publish-check.ts';
import { sourceRefusal } from './publish-refusals.ts';
import { rollupRefusal } from './rollup.ts';
import { isScheduled } from './schedule-check.ts';
import type { StreamConfig } from './stream-config.ts';

export class BatchCheck {
  /** The sequence of the stored message that the refused one repeats; 0: it was refused for something else. */
  duplicateOf = 0;
  private readonly check: PublishCheck;
  private readonly store: MessageStore;
  /** Of the atomic batch: messages that were checked, and the bytes that they will count, their ids and subjects. */
  private messages = 0;
  private bytes = 0;
  private readonly messageIds = new Set<string>();
  private readonly subjects = new Map<string, number>();
  /** Where the counters stand behind what was checked of the atomic batch. */
  private readonly counters = new Map<string, Counter>();
  private counter: Counter | null = null;
  /** Subjects whose last message in the atomic batch is a schedule. */
  private readonly schedules = new Set<string>();
  private readonly isSchedule = (subject: string): boolean =>
    this.subjects.has(subject) ? this.schedules.has(subject) : this.check.isSchedule(subject);

  constructor(check: PublishCheck, store: MessageStore) {
    this.check = check;
    this.store = store;
  }

  /** The next message of the one atomic batch that this is for. Its headers, if there are any, have been read. */
  next(message: Message, config: StreamConfig): ApiError | null {
    const error = this.alone(message, config);
    if (error !== null) return error;
    this.messages++;
    this.bytes += this.store.countedBytes(message);
    const subject = message.subjectText();
    this.subjects.set(subject, (this.subjects.get(subject) ?? 0) + 1);
    const hasHeaders = message.payloadStart > message.bodyStart;
    const messageId = hasHeaders ? this.check.headers.messageId : null;
    if (messageId !== null) this.messageIds.add(messageId);
    if (hasHeaders && isScheduled(this.check.headers)) this.schedules.add(subject);
    else this.schedules.delete(subject);
    if (this.counter !== null) this.counters.set(subject, this.counter);
    return null;
  }

  /** A message of which nothing is remembered. Its headers, if there are any, have been read. */
  alone(message: Message, config: StreamConfig): ApiError | null {
    this.duplicateOf = 0;
    this.counter = null;
    if (message.payloadStart > message.bodyStart) {
      const error = this.check.checkHeaderSize(message) ?? this.checkHeaders(message, config);
      if (error !== null) return error;
    } else if (config.allowMsgCounter) return ApiErrors.messageCounterIncrementMissing;
    const ofSubject = this.subjects.size === 0 ? 0 : (this.subjects.get(message.subjectText()) ?? 0);
    return this.check.checkBatchRoom(message, config, { messages: this.messages, bytes: this.bytes, ofSubject });
  }

  private checkHeaders(message: Message, config: StreamConfig): ApiError | null {
    const { headers } = this.check;
    return (
      incrementRefusal(headers, message, config) ??
      this.check.checkExpectedStream(config) ??
      this.checkTtl(config) ??
      this.checkMessageId(config) ??
      sourceRefusal(headers) ??
      this.checkCounter(message, config) ??
      this.checkExpectedSequence() ??
      this.checkExpectedSubjectSequence(message) ??
      this.check.checkSchedule(message, config, this.isSchedule) ??
      rollupRefusal(headers, config) ??
      this.checkRollup(message)
    );
  }

  private checkCounter(message: Message, config: StreamConfig): ApiError | null {
    if (!config.allowMsgCounter) return null;
    const { counters, headers } = this.check;
    const before = this.counters.size === 0 ? undefined : this.counters.get(message.subjectText());
    const moved = counters.moved(message, headers, config, before);
    if (isApiError(moved)) return moved;
    this.counter = moved;
    return null;
  }

  private checkTtl({ allowMsgTtl }: StreamConfig): ApiError | null {
    const ttl = ttlSeconds(this.check.headers);
    if (ttl === NO_TTL) return null;
    if (!allowMsgTtl) return ApiErrors.messageTtlDisabled;
    return Number.isNaN(ttl) ? ApiErrors.messageTtlInvalid : null;
  }

  /** A batch can't replace its own messages. */
  private checkRollup(message: Message): ApiError | null {
    const { headers } = this.check;
    const rollup = headers.rollup === null && isScheduled(headers) ? 'sub' : headers.rollup?.toLowerCase();
    if (rollup === 'sub' && this.subjects.has(message.subjectText())) {
      return ApiErrors.rollupFailed('batch rollup sub invalid');
    }
    return rollup === 'all' && this.messages > 0 ? ApiErrors.rollupFailed('batch rollup all invalid') : null;
  }

  private checkMessageId(config: StreamConfig): ApiError | null {
    const { messageId } = this.check.headers;
    if (messageId === null) return null;
    if (this.messageIds.has(messageId)) return ApiErrors.atomicPublishContainsDuplicateMessage;
    this.duplicateOf = this.check.repeated(config);
    return this.duplicateOf > 0 ? ApiErrors.atomicPublishContainsDuplicateMessage : null;
  }

  /** Only the first message of a batch can know the last sequence of the stream. */
  private checkExpectedSequence(): ApiError | null {
    const { expectedLastSequence } = this.check.headers;
    if (expectedLastSequence === null) return null;
    const last = this.store.appendedSequence + this.messages;
    if (last !== sequenceOf(expectedLastSequence)) return ApiErrors.wrongLastSequence(last);
    return this.messages > 0 ? ApiErrors.wrongLastSequenceConstant : null;
  }

  private checkExpectedSubjectSequence(message: Message): ApiError | null {
    const { expectedLastSubjectSequence, expectedLastSubjectSequenceSubject } = this.check.headers;
    const isWritten = (): boolean => this.subjects.has(expectedLastSubjectSequenceSubject ?? message.subjectText());
    if (expectedLastSubjectSequence !== null && this.subjects.size > 0 && isWritten()) {
      return ApiErrors.wrongLastSequenceConstant;
    }
    return this.check.checkExpectedSubjectSequence(message);
  }
}
