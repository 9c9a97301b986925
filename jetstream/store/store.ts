/**
 * What a stream asks of its store, and what it hears from it. The file store and the memory store keep the same
 * promises; one test suite runs against both.
 *
 * Appended and visible. A message is appended at once and has its sequence then; it is visible when it is durable.
 * Reading, state and removal know visible messages only; checks before appending use the `appended…` values.
 */

import type { Message } from '../../server/protocol/message.ts';
import type { RecordView } from './record.ts';
import type { SubjectIndex } from './subject-index.ts';

/** A moment as clients see it: nanoseconds don't fit into one number. */
export interface Time {
  readonly seconds: number;
  readonly nanoseconds: number;
}

/** What the store enforces by itself; 0 is no limit. */
export interface StoreLimits {
  readonly maxMessages: number;
  readonly maxBytes: number;
  readonly maxMessagesPerSubject: number;
}

export interface StoreState {
  readonly messages: number;
  readonly bytes: number;
  readonly firstSequence: number;
  /** `null`: there is no message. */
  readonly firstTime: Time | null;
  readonly lastSequence: number;
  readonly lastTime: Time | null;
  readonly subjects: number;
  /** Messages removed between first and last. */
  readonly deleted: number;
  /** Messages that were stored and can't be read any more. */
  readonly lost: number;
}

/** `loading`: it has to come from the disk, `whenReadable` tells when it is there. */
export type ReadOutcome = 'found' | 'missing' | 'loading';

/** An answer of a search: a sequence, NONE, or LOADING. */
export const NONE = 0;
export const LOADING = -1;

/**
 * The highest sequence that anybody may make a stream or consumer begin at. Records have 48 bits for a sequence: what is
 * left above this outlasts any disk.
 */
export const STARTING_SEQUENCE_MAX: number = 2 ** 47;

export interface StoreListener {
  /** The messages with these sequences became visible. */
  stored(fromSequence: number, toSequence: number): void;
  /** A visible message is gone, by a limit or on request. */
  removed(sequence: number, subject: number): void;
  /** All messages below this sequence are gone at once. */
  purged(belowSequence: number): void;
}

export interface MessageStore {
  readonly subjects: SubjectIndex;
  readonly appendedSequence: number;
  /** Messages and bytes, with what is appended and not visible yet. */
  readonly appendedMessages: number;
  readonly appendedBytes: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly messages: number;
  readonly bytes: number;
  /** Time of the last message that became visible; `null`: there was none yet. */
  readonly lastTime: Time | null;
  /** Messages that were stored and can't be read any more. */
  readonly lost: number;
  /** Bytes that a message counts against limits. */
  countedBytes(message: Message): number;
  /**
   * Stores the message under the next sequence, which is the answer. With `replaces` (REPLACES_SUBJECT, REPLACES_ALL) the
   * other messages under its subject, or all others, go in the moment it becomes visible; with REPLACES_ITSELF it goes
   * itself.
   */
  append(message: Message, time: Time, replaces?: number): number;
  /**
   * What is appended until `endGroup`, at least one message and all in this turn, becomes durable and visible together or
   * not at all. Nothing else is asked of the store meanwhile.
   */
  beginGroup(): void;
  endGroup(): void;
  /** Leaves out sequences: the next message gets `sequence`. */
  skipTo(sequence: number): void;
  setLimits(limits: StoreLimits): void;
  read(sequence: number, into: RecordView): ReadOutcome;
  /** Calls back once after the message, or what is needed to find it, is in memory or could not be read. */
  whenReadable(sequence: number, done: () => void): void;
  /** The lowest visible sequence from `sequence` on whose subject `accepts`. */
  next(sequence: number, accepts: ((subject: number) => boolean) | null): number;
  /** The highest visible sequence of the subject with this number, at most `atMost`. */
  lastOf(subject: number, atMost: number): number;
  /** Removes the message; false when there is none. `erases`: its bytes are overwritten where they are. */
  remove(sequence: number, erases?: boolean): boolean;
  /** Removes all messages below `sequence`; visible messages at present. */
  purgeBelow(sequence: number): void;
  /** Everything appended is durable and handed over; nothing may be called any more. */
  close(done: () => void): void;
  /** Removes everything that was stored. */
  destroy(done: () => void): void;
}
