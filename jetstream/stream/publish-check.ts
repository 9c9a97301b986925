/**
 * Whether a published message may be stored: the checks of one stream, in nats-server's order, against what is appended
 * (also what is not visible yet). The answer is an error, an earlier sequence that it repeats, or neither.
 */

import { Buffer } from 'node:buffer';
import type { Message } from '../../server/protocol/message.ts';
import { millisecondsOf } from '../../server/protocol/nanoseconds.ts';
import { isLiteral, subjectMatches } from '../../server/subject/subject.ts';
import { type ApiError, ApiErrors, isApiError } from '../errors.ts';
import { RecordView, REPLACES_ALL, SUBJECT_BYTES_MAX } from '../store/record.ts';
import { LOADING, type MessageStore } from '../store/store.ts';
import type { AccountRoom } from './account-room.ts';
import { Counters, incrementRefusal } from './counters.ts';
import type { DedupWindow } from './dedup-window.ts';
import { NO_TTL, ttlSeconds } from './message-ttl.ts';
import { PublishHeaders } from './publish-headers.ts';
import { sourceRefusal } from './publish-refusals.ts';
import { PublishRoom, type RoomTaken } from './publish-room.ts';
import { replacedBy, rollupRefusal } from './rollup.ts';
import { scheduleRefusal } from './schedule-check.ts';
import type { StreamConfig } from './stream-config.ts';

const HEADER_BYTES_MAX = 65_535;

export class PublishCheck {
  /** Those of the message that is checked; whoever has it checked has read them, if it has any. */
  readonly headers: PublishHeaders = new PublishHeaders();
  /** The sequence of the message that this one repeats; 0: it repeats none. */
  duplicateOf = 0;
  /** Id of the last message, empty when it had none. */
  lastMessageId = '';
  /** What stands below this sequence is replaced, or will be when the message with it becomes visible. */
  private replacedBelow = 0;
  /** Whether the last message under a subject is a schedule. */
  isSchedule: (subject: string) => boolean = () => true;
  private readonly store: MessageStore;
  private readonly dedup: DedupWindow;
  private readonly accountRoom: AccountRoom;
  private readonly room: PublishRoom;
  private ownCounters: Counters | null = null;
  private readonly now: () => number;

  /** `now`: milliseconds of the duplicate window's clock. */
  constructor(store: MessageStore, dedup: DedupWindow, accountRoom: AccountRoom, now: () => number) {
    this.store = store;
    this.dedup = dedup;
    this.accountRoom = accountRoom;
    this.room = new PublishRoom(store);
    this.now = now;
  }

  /** Few streams have counters. */
  get counters(): Counters {
    this.ownCounters ??= new Counters(this.store, (message) => this.lastOfSubject(message, null));
    return this.ownCounters;
  }

  /** `null` when the message may be stored, or repeats `duplicateOf`. `isKept`: it needs room then. */
  check(message: Message, config: StreamConfig, isKept: boolean): ApiError | null {
    this.duplicateOf = 0;
    const sizeError = this.checkSize(message, config);
    if (sizeError !== null) return sizeError;
    if (message.payloadStart > message.bodyStart) {
      const error = this.checkHeaderSize(message) ?? this.checkHeaders(message, config);
      if (error !== null || this.duplicateOf > 0) return error;
    }
    if (config.allowMsgCounter) {
      const moved = this.counters.moved(message, this.headers, config);
      if (isApiError(moved)) return moved;
    }
    return isKept ? this.checkRoom(message, config) : null;
  }

  /** Takes over the id of the last message after a start. */
  restore(): void {
    const { store } = this;
    const sequence = store.lastSequence;
    if (!this.restoreFrom(sequence)) store.whenReadable(sequence, () => this.restoreFrom(sequence));
  }

  /** False when the message has to be read from the disk first. */
  private restoreFrom(sequence: number): boolean {
    const { store, headers } = this;
    // Another message came meanwhile.
    if (store.appendedSequence !== sequence) return true;
    const view = new RecordView(Buffer.alloc(0));
    const outcome = store.read(sequence, view);
    if (outcome === 'found' && view.payloadStart > view.bodyStart) {
      headers.read(view.buffer, view.bodyStart, view.payloadStart);
      this.lastMessageId = headers.messageId ?? '';
    }
    return outcome !== 'loading';
  }

  /** Notes what later checks need of a message that was stored under `sequence`. */
  stored(message: Message, sequence: number, config: StreamConfig): void {
    this.room.stored(message, sequence, config);
    const hasHeaders = message.payloadStart > message.bodyStart;
    if (hasHeaders && replacedBy(this.headers) === REPLACES_ALL) this.replacedBelow = sequence;
    const messageId = hasHeaders ? this.headers.messageId : null;
    this.lastMessageId = messageId ?? '';
    if (messageId !== null && config.duplicateWindowNs !== 0) this.dedup.add(messageId, sequence, this.now());
  }

  checkSize(message: Message, { maxMsgSize }: StreamConfig): ApiError | null {
    const isTooLarge = maxMsgSize >= 0 && message.bodyEnd - message.bodyStart > maxMsgSize;
    if (isTooLarge) return ApiErrors.messageExceedsMaximum;
    const subjectBytes = message.subjectEnd - message.subjectStart;
    return subjectBytes > SUBJECT_BYTES_MAX ? ApiErrors.streamStoreFailed('subject too long') : null;
  }

  checkHeaderSize(message: Message): ApiError | null {
    return message.payloadStart - message.bodyStart > HEADER_BYTES_MAX ? ApiErrors.headerExceedsMaximum : null;
  }

  private checkHeaders(message: Message, config: StreamConfig): ApiError | null {
    const { headers } = this;
    const ttl = ttlSeconds(headers);
    const isTtlValid = !Number.isNaN(ttl);
    const error =
      incrementRefusal(headers, message, config) ??
      this.checkExpectedStream(config) ??
      (isTtlValid && ttl !== NO_TTL && !config.allowMsgTtl ? ApiErrors.messageTtlDisabled : null) ??
      this.checkExpectedSubjectSequence(message) ??
      this.checkExpectedSequence() ??
      this.checkSchedule(message, config, this.isSchedule) ??
      sourceRefusal(headers);
    if (error !== null) return error;
    this.duplicateOf = this.repeated(config);
    if (this.duplicateOf > 0) return null;
    return (
      this.checkExpectedMessageId() ??
      rollupRefusal(headers, config) ??
      (isTtlValid ? null : ApiErrors.messageTtlInvalid)
    );
  }

  checkSchedule(message: Message, config: StreamConfig, isSchedule: (subject: string) => boolean): ApiError | null {
    return scheduleRefusal(this.headers, message, config, this.now, isSchedule);
  }

  checkExpectedStream({ name }: StreamConfig): ApiError | null {
    const { expectedStream } = this.headers;
    return expectedStream === null || expectedStream === name ? null : ApiErrors.streamNotMatch;
  }

  /** Whether there is room for the message in the account, and in a stream that discards what is new. */
  checkRoom(message: Message, config: StreamConfig): ApiError | null {
    const error = this.accountRoom.check(message);
    if (error !== null || config.discard !== 'new') return error;
    return this.room.check(message, config, this.replacesOthers(message));
  }

  /** The same of a message in a batch, behind others that are not appended yet. */
  checkBatchRoom(message: Message, config: StreamConfig, before: RoomTaken): ApiError | null {
    const error = this.accountRoom.checkInBatch(message, before.bytes);
    if (error !== null || config.discard !== 'new') return error;
    return this.room.checkInBatch(message, config, before, this.replacesOthers(message));
  }

  private replacesOthers(message: Message): boolean {
    return message.payloadStart > message.bodyStart && this.headers.rollup !== null;
  }

  /** The sequence of the message in the duplicate window with the same id; 0: there is none. */
  repeated(config: StreamConfig): number {
    const { messageId } = this.headers;
    if (messageId === null) return 0;
    return this.dedup.find(messageId, this.now() - millisecondsOf(config.duplicateWindowNs));
  }

  checkExpectedMessageId(): ApiError | null {
    const { expectedLastMessageId } = this.headers;
    const isMet = expectedLastMessageId === null || expectedLastMessageId === this.lastMessageId;
    return isMet ? null : ApiErrors.wrongLastMessageId(this.lastMessageId);
  }

  checkExpectedSubjectSequence(message: Message): ApiError | null {
    const { expectedLastSubjectSequence, expectedLastSubjectSequenceSubject } = this.headers;
    if (expectedLastSubjectSequence === null) {
      return expectedLastSubjectSequenceSubject === null ? null : ApiErrors.expectedLastSubjectSequenceMissing;
    }
    const last = this.lastOfSubject(message, expectedLastSubjectSequenceSubject);
    if (last === LOADING) return ApiErrors.expectedLastSubjectSequenceUnavailable;
    return last === sequenceOf(expectedLastSubjectSequence) ? null : ApiErrors.wrongLastSequence(last);
  }

  private checkExpectedSequence(): ApiError | null {
    const { expectedLastSequence } = this.headers;
    if (expectedLastSequence === null) return null;
    const last = this.store.appendedSequence;
    return last === sequenceOf(expectedLastSequence) ? null : ApiErrors.wrongLastSequence(last);
  }

  /** The last sequence under the message's or the given subject, appended or visible; 0: there is none, or LOADING. */
  private lastOfSubject(message: Message, subject: string | null): number {
    const { subjects } = this.store;
    if (subject === null) return this.lastOf(subjects.find(message.subject, message.subjectStart, message.subjectEnd));
    return isLiteral(subject) ? this.lastOf(subjects.findText(subject)) : this.lastOfPattern(subject);
  }

  /** Looks at every subject there is. */
  private lastOfPattern(pattern: string): number {
    const { subjects } = this.store;
    let last = 0;
    for (let number = 0; number < subjects.size; number++) {
      if (!subjectMatches(pattern, subjects.text(number))) continue;
      const found = this.lastOf(number);
      if (found === LOADING) return LOADING;
      last = Math.max(last, found);
    }
    return last;
  }

  /** The last sequence under the message's subject, appended or visible; 0: there is none. */
  lastUnderSubject(message: Message): number {
    const { subjects } = this.store;
    const subject = subjects.find(message.subject, message.subjectStart, message.subjectEnd);
    if (subject < 0) return 0;
    const last = this.lastOf(subject);
    // Where the last one was removed this is known only after reading: then the removed one is named.
    return last === LOADING ? subjects.last(subject) : last;
  }

  private lastOf(subject: number): number {
    if (subject < 0) return 0;
    const { subjects, lastSequence } = this.store;
    const appended = subjects.appendedLast(subject);
    const last = appended > lastSequence ? appended : this.store.lastOf(subject, lastSequence);
    return last > 0 && last < this.replacedBelow ? 0 : last;
  }
}

/** The number in a header, -1 when it is none, as nats-server reads it: then no sequence is the expected one. */
export function sequenceOf(text: string): number {
  if (!/^\d+$/.test(text)) return -1;
  // What has more than 64 bits loses those above.
  return text.length <= 15 ? Number(text) : Number(BigInt.asUintN(64, BigInt(text)));
}
