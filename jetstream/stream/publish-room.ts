/**
 * Whether a stream that discards what is new (`discard: new`) has room for a message. What is appended and not visible yet
 * counts. The limits as nats-server has them:
 *
 *     the subject has max_msgs_per_subject already, and     discard_new_per_subject    refused
 *                                                           else                       its first message will go
 *     max_msgs, max_bytes                                   refused, unless a message goes that makes the room
 *
 * How many messages of a subject are on their way is counted only where that matters: two numbers a message, until it is
 * visible.
 */

import { Buffer } from 'node:buffer';
import type { Message } from '../../server/protocol/message.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import { recordBytes, RecordView } from '../store/record.ts';
import type { MessageStore } from '../store/store.ts';
import type { StreamConfig } from './stream-config.ts';

const NO_SUBJECT = -1;
const TOO_MANY_OF_SUBJECT: ApiError = ApiErrors.streamStoreFailed('maximum messages per subject exceeded');
const TOO_MANY_MESSAGES: ApiError = ApiErrors.streamStoreFailed('maximum messages exceeded');
const TOO_MANY_BYTES: ApiError = ApiErrors.streamStoreFailed('maximum bytes exceeded');

/** What messages take that are not appended yet. */
export interface RoomTaken {
  readonly messages: number;
  readonly bytes: number;
  /** Messages of the same subject. */
  readonly ofSubject: number;
}

export class PublishRoom {
  private readonly store: MessageStore;
  private readonly view: RecordView = new RecordView(Buffer.alloc(0));
  /** Sequences of messages on their way, oldest first, and the numbers of their subjects. */
  private sequences: number[] = [];
  private subjects: number[] = [];
  /** Messages on their way, by subject. */
  private readonly counts = new Map<number, number>();

  constructor(store: MessageStore) {
    this.store = store;
  }

  /** `replaces`: the message takes away what its subject has. */
  check(message: Message, config: StreamConfig, replaces: boolean): ApiError | null {
    const { maxMsgs, maxBytes } = config;
    const crowded = this.crowdedSubject(message, config, 0);
    if (crowded !== NO_SUBJECT && config.discardNewPerSubject && !replaces) return TOO_MANY_OF_SUBJECT;
    const { store } = this;
    if (maxMsgs > 0 && crowded === NO_SUBJECT && store.appendedMessages >= maxMsgs) return TOO_MANY_MESSAGES;
    const isLarge = maxBytes > 0 && store.appendedBytes + store.countedBytes(message) > maxBytes;
    return isLarge && !this.makesRoom(crowded, message) ? TOO_MANY_BYTES : null;
  }

  /** The same of a message in a batch: none makes room for another there. */
  checkInBatch(message: Message, config: StreamConfig, before: RoomTaken, replaces: boolean): ApiError | null {
    const { maxMsgs, maxBytes } = config;
    const { store } = this;
    if (maxMsgs > 0 && store.appendedMessages + before.messages >= maxMsgs) return TOO_MANY_MESSAGES;
    const bytes = store.appendedBytes + before.bytes + store.countedBytes(message);
    if (maxBytes > 0 && bytes > maxBytes) return TOO_MANY_BYTES;
    const isChecked = config.discardNewPerSubject && !replaces;
    return isChecked && this.isCrowded(message, config, before.ofSubject) ? TOO_MANY_OF_SUBJECT : null;
  }

  /** A message was appended under this sequence. */
  stored(message: Message, sequence: number, { discard, maxMsgsPerSubject }: StreamConfig): void {
    if (discard !== 'new' || maxMsgsPerSubject <= 0) return;
    const subject = this.store.subjects.find(message.subject, message.subjectStart, message.subjectEnd);
    this.sequences.push(sequence);
    this.subjects.push(subject);
    this.counts.set(subject, (this.counts.get(subject) ?? 0) + 1);
  }

  /** The number of the message's subject if it can have no more messages; else NO_SUBJECT. */
  private crowdedSubject(message: Message, { maxMsgsPerSubject }: StreamConfig, before: number): number {
    if (maxMsgsPerSubject <= 0) return NO_SUBJECT;
    const { subjects } = this.store;
    const subject = subjects.find(message.subject, message.subjectStart, message.subjectEnd);
    if (subject < 0) return NO_SUBJECT;
    this.forgetVisible();
    const count = subjects.count(subject) + (this.counts.get(subject) ?? 0) + before;
    return count >= maxMsgsPerSubject ? subject : NO_SUBJECT;
  }

  /** Whether the subject can have no more behind `before` of the batch, be it that it has none yet. */
  private isCrowded(message: Message, config: StreamConfig, before: number): boolean {
    return before >= config.maxMsgsPerSubject || this.crowdedSubject(message, config, before) !== NO_SUBJECT;
  }

  private forgetVisible(): void {
    const { sequences, counts } = this;
    const { lastSequence } = this.store;
    let count = 0;
    while (count < sequences.length && (sequences[count] as number) <= lastSequence) {
      const subject = this.subjects[count++] as number;
      const left = (counts.get(subject) as number) - 1;
      if (left > 0) counts.set(subject, left);
      else counts.delete(subject);
    }
    if (count === 0) return;
    this.sequences = sequences.slice(count);
    this.subjects = this.subjects.slice(count);
  }

  /** Whether the first message of the crowded subject is at least as large as the one that makes it go. */
  private makesRoom(subject: number, message: Message): boolean {
    if (subject === NO_SUBJECT) return false;
    const { store, view } = this;
    const first = store.subjects.first(subject);
    if (!store.subjects.isFirstExact(subject) || store.read(first, view) !== 'found') return false;
    return view.bytes >= recordBytes(message);
  }
}
