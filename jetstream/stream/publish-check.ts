/**
 * Whether a published message may be stored: the checks of one stream, in nats-server's order, against what is appended
 * (also what is not visible yet). The answer is an error, an earlier sequence that it repeats, or neither.
 */

import type { Message } from '../../server/protocol/message.ts';
import { millisecondsOf } from '../../server/protocol/nanoseconds.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import { LOADING, type MessageStore } from '../store/store.ts';
import type { DedupWindow } from './dedup-window.ts';
import { PublishHeaders } from './publish-headers.ts';
import type { StreamConfig } from './stream-config.ts';

const HEADER_BYTES_MAX = 64 * 1024;

export class PublishCheck {
  readonly headers: PublishHeaders = new PublishHeaders();
  /** The sequence of the message that this one repeats; 0: it repeats none. */
  duplicateOf = 0;
  /** Id of the last message that had one. */
  lastMessageId = '';
  private readonly store: MessageStore;
  private readonly dedup: DedupWindow;

  private readonly now: () => number;

  /** `now`: wall milliseconds. */
  constructor(store: MessageStore, dedup: DedupWindow, now: () => number) {
    this.store = store;
    this.dedup = dedup;
    this.now = now;
  }

  /** `null` when the message may be stored, or repeats `duplicateOf`. */
  check(message: Message, config: StreamConfig): ApiError | null {
    this.duplicateOf = 0;
    const headerBytes = message.payloadStart - message.bodyStart;
    if (config.maxMsgSize >= 0 && message.bodyEnd - message.bodyStart > config.maxMsgSize) {
      return ApiErrors.messageExceedsMaximum;
    }
    if (headerBytes > HEADER_BYTES_MAX) return ApiErrors.headerExceedsMaximum;
    if (headerBytes > 0) {
      this.headers.read(message.body, message.bodyStart, message.payloadStart);
      const error = this.checkHeaders(message, config);
      if (error !== null || this.duplicateOf > 0) return error;
    }
    return config.discard === 'new' ? this.checkRoom(message, config) : null;
  }

  /** Notes what later checks need of a message that was stored under `sequence`. */
  stored(message: Message, sequence: number, timeMs: number, remembersIds: boolean): void {
    if (message.payloadStart === message.bodyStart) return;
    const { messageId } = this.headers;
    if (messageId === null || messageId === '') return;
    this.lastMessageId = messageId;
    if (remembersIds) this.dedup.add(messageId, sequence, timeMs);
  }

  private checkHeaders(message: Message, config: StreamConfig): ApiError | null {
    const { headers } = this;
    if (headers.increment !== null) return ApiErrors.messageCountersDisabled;
    if (headers.expectedStream !== null && headers.expectedStream !== config.name) {
      return ApiErrors.streamNotMatch;
    }
    if (headers.ttl !== null) return ApiErrors.messageTtlDisabled;
    if (headers.batchId !== null) return ApiErrors.atomicPublishDisabled;
    if (headers.schedule !== null) return ApiErrors.messageSchedulesDisabled;
    if (headers.streamSource !== null) return ApiErrors.messageStreamSourceNotAllowed;
    const error = this.checkExpectedSequences(message);
    if (error !== null) return error;
    const { messageId } = headers;
    if (messageId !== null && messageId !== '') {
      this.duplicateOf = this.dedup.find(messageId, this.now() - millisecondsOf(config.duplicateWindowNs));
      if (this.duplicateOf > 0) return null;
    }
    const { expectedLastMessageId } = headers;
    if (expectedLastMessageId !== null && expectedLastMessageId !== this.lastMessageId) {
      return ApiErrors.wrongLastMessageId(this.lastMessageId);
    }
    return headers.rollup === null ? null : ApiErrors.rollupFailed('rollup not permitted');
  }

  private checkExpectedSequences(message: Message): ApiError | null {
    const { expectedLastSubjectSequence, expectedLastSubjectSequenceSubject, expectedLastSequence } = this.headers;
    if (expectedLastSubjectSequence === null) {
      if (expectedLastSubjectSequenceSubject !== null) return ApiErrors.expectedLastSubjectSequenceMissing;
    } else {
      const last = this.lastOfSubject(message, expectedLastSubjectSequenceSubject);
      if (last === LOADING) return ApiErrors.expectedLastSubjectSequenceUnavailable;
      if (last !== sequenceOf(expectedLastSubjectSequence)) return ApiErrors.wrongLastSequence(last);
    }
    if (expectedLastSequence === null) return null;
    const last = this.store.appendedSequence;
    return last === sequenceOf(expectedLastSequence) ? null : ApiErrors.wrongLastSequence(last);
  }

  /** The last sequence under the subject, appended or visible; 0 when there is none. */
  private lastOfSubject(message: Message, subject: string | null): number {
    const { subjects, lastSequence } = this.store;
    const number =
      subject === null
        ? subjects.find(message.subject, message.subjectStart, message.subjectEnd)
        : subjects.findText(subject);
    if (number < 0) return 0;
    const appended = subjects.appendedLast(number);
    return appended > lastSequence ? appended : this.store.lastOf(number, lastSequence);
  }

  private checkRoom(message: Message, config: StreamConfig): ApiError | null {
    const { store } = this;
    if (config.maxMsgs > 0 && store.appendedMessages >= config.maxMsgs) {
      return ApiErrors.streamStoreFailed('maximum messages exceeded');
    }
    if (config.maxBytes > 0 && store.appendedBytes + store.countedBytes(message) > config.maxBytes) {
      return ApiErrors.streamStoreFailed('maximum bytes exceeded');
    }
    return null;
  }
}

/** The number in a header, 0 when it is none: as nats-server reads it. */
function sequenceOf(text: string): number {
  return /^\d{1,16}$/.test(text) ? Number(text) : 0;
}
