/**
 * The counters of one stream with `allow_msg_counter`: each of its subjects is one, and its last message says where it
 * stands. What is asked here is what is appended, be it visible or not.
 *
 * Where a counter stands is remembered with the sequence that says so. It counts only while that sequence is still the
 * last under the subject, so that whoever deletes or purges messages sets counters back without anything being said here.
 *
 * Bound: REMEMBERED_MAX counters, and those on their way to the disk.
 *
 * Source: ADR-49.
 */

import assert from 'node:assert';
import { Buffer } from 'node:buffer';
import type { Message } from '../../server/protocol/message.ts';
import { type ApiError, ApiErrors, isApiError } from '../errors.ts';
import { RecordView } from '../store/record.ts';
import { LOADING, type MessageStore, NONE } from '../store/store.ts';
import {
  type Counter,
  countedMessage,
  foundCounter,
  incrementIn,
  movedCounter,
  NEW_COUNTER,
  storedCounter,
} from './counter.ts';
import { PublishHeaders } from './publish-headers.ts';
import type { StreamConfig } from './stream-config.ts';

const REMEMBERED_MAX = 16_384;

interface Remembered {
  readonly sequence: number;
  /** `null`: the message is no counter's. */
  readonly counter: Counter | null;
}

/** `Nats-Incr` where it can't be, or not with what else the message asks for. */
export function incrementRefusal(
  headers: PublishHeaders,
  message: Message,
  { allowMsgCounter }: StreamConfig,
): ApiError | null {
  if (headers.increment === null) return null;
  if (incrementIn(headers.increment) === null) return ApiErrors.messageCounterIncrementInvalid;
  if (!allowMsgCounter) return ApiErrors.messageCountersDisabled;
  if (message.bodyEnd > message.payloadStart) return ApiErrors.messageCounterHasPayload;
  const isConditional =
    headers.rollup !== null ||
    headers.expectedStream !== null ||
    headers.expectedLastMessageId !== null ||
    headers.expectedLastSubjectSequenceSubject !== null ||
    headers.expectedLastSequence !== null ||
    headers.expectedLastSubjectSequence !== null;
  return isConditional ? ApiErrors.messageCounterIncrementInvalid : null;
}

export class Counters {
  /** Where the counter of the last message that `counted` saw stands now. */
  total = '';
  private readonly store: MessageStore;
  private readonly lastSequence: (message: Message) => number;
  private readonly remembered = new Map<string, Remembered>();
  private readonly view = new RecordView(Buffer.alloc(0));
  private readonly storedHeaders = new PublishHeaders();

  /** `lastSequence`: the last sequence under a message's subject, appended or visible; NONE or LOADING. */
  constructor(store: MessageStore, lastSequence: (message: Message) => number) {
    this.store = store;
    this.lastSequence = lastSequence;
  }

  /** The sequence that has to be read before the message can be counted; NONE: it can be now. */
  awaited(message: Message): number {
    const last = this.lastSequence(message);
    if (last === LOADING) return Math.max(1, this.store.lastSequence);
    if (last === NONE || this.remembered.get(message.subjectText())?.sequence === last) return NONE;
    return this.store.read(last, this.view) === 'loading' ? last : NONE;
  }

  /**
   * Where the counter stands behind the message, which may have no headers, or why the message can't be counted.
   * `before`: where it will stand before it, if that is not what is appended.
   */
  moved(message: Message, headers: PublishHeaders, config: StreamConfig, before?: Counter): Counter | ApiError {
    const hasIncrement = message.payloadStart > message.bodyStart && headers.increment !== null;
    if (!hasIncrement) return ApiErrors.messageCounterIncrementMissing;
    const current = before ?? this.current(message);
    if (isApiError(current)) return current;
    const after = movedCounter(current, message, headers);
    if (after === null) return ApiErrors.messageCounterBroken;
    const { maxMsgSize } = config;
    if (maxMsgSize < 0) return after;
    const stored = countedMessage(message, headers, current, after);
    return stored.bodyEnd - stored.bodyStart > maxMsgSize ? ApiErrors.messageExceedsMaximum : after;
  }

  /** The message as it is to be stored; it was found that it can be counted. */
  counted(message: Message, headers: PublishHeaders): Message {
    const before = this.current(message);
    assert(!isApiError(before), 'a message is counted that was refused');
    const after = movedCounter(before, message, headers);
    assert(after !== null, 'a message is counted that is no increment');
    this.total = String(after.total);
    this.remember(message.subjectText(), this.store.appendedSequence + 1, foundCounter(after, headers));
    return countedMessage(message, headers, before, after);
  }

  private current(message: Message): Counter | ApiError {
    const last = this.lastSequence(message);
    if (last === NONE) return NEW_COUNTER;
    if (last === LOADING) return this.load(Math.max(1, this.store.lastSequence));
    const subject = message.subjectText();
    const known = this.remembered.get(subject);
    if (known?.sequence === last) return known.counter ?? ApiErrors.messageCounterBroken;
    const { view, storedHeaders } = this;
    const outcome = this.store.read(last, view);
    if (outcome === 'loading') return this.load(last);
    // What is damaged can't be counted on.
    if (outcome === 'missing') return ApiErrors.messageCounterBroken;
    storedHeaders.read(view.buffer, view.bodyStart, view.payloadStart);
    const counter = storedCounter(view, storedHeaders.counterSources);
    this.remember(subject, last, counter);
    return counter ?? ApiErrors.messageCounterBroken;
  }

  /** Publishers have waited for it before they ask; memory may have become short since. It will be there next time. */
  private load(sequence: number): ApiError {
    this.store.whenReadable(sequence, () => undefined);
    return ApiErrors.tooManyRequests;
  }

  private remember(subject: string, sequence: number, counter: Counter | null): void {
    const { remembered } = this;
    remembered.delete(subject);
    remembered.set(subject, { sequence, counter });
    for (const [oldest, { sequence: at }] of remembered) {
      // What is not visible can't be read.
      if (remembered.size <= REMEMBERED_MAX || at > this.store.lastSequence) break;
      remembered.delete(oldest);
    }
  }
}
