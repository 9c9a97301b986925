/**
 * Which messages of a stream somebody still waits for, where that decides what it keeps:
 *
 *     limits      it does not: everything here costs one comparison
 *     interest    a message stays while a consumer whose filter it passes is not done with it; what nobody's filter
 *                 passes when it is published is not kept at all
 *     workqueue   a message stays until one consumer is done with it; their filters don't overlap
 *
 * Nothing is kept per message: whether a consumer is done with one is read from the consumer's own state, its position
 * and its table of pending messages. What is removed is logged before the consumer logs that it is done, in the same
 * turn. So a power cut never leaves a message of which the consumer is done and which nobody will ever remove; and who
 * waits for the one to be durable has waited for the other.
 *
 * When consumers go or want something else, all messages are reviewed, REVIEWED_PER_TURN in a turn.
 */

import type { Timers } from '../../server/io/io.ts';
import type { Message } from '../../server/protocol/message.ts';
import { FileStore } from '../store/file-store.ts';
import { LOADING, type MessageStore, NONE } from '../store/store.ts';
import type { RetentionPolicy } from './stream-config-fields.ts';
import { type SubjectConsumer, WantedSubjects } from './wanted-subjects.ts';

const REVIEWED_PER_TURN = 1000;
/** So many consumers to ask about a message count as one message more. */
const CONSUMERS_PER_MESSAGE = 16;

/** A consumer, as far as messages wait for it. */
export interface InterestedConsumer extends SubjectConsumer {
  /** The next sequence that it will look at: it is done with none from here on. */
  readonly nextSequence: number;
  /** Whether it is not done with this visible message, which it wants. */
  awaits(sequence: number): boolean;
}

export class Interest {
  private readonly store: MessageStore;
  private readonly timers: Timers;
  private readonly consumers = new Set<InterestedConsumer>();
  private readonly wanted: WantedSubjects;
  private policy: RetentionPolicy;
  private isActive = false;
  /** The next sequence to review; 0: nothing is being reviewed. */
  private reviewAt = 0;
  private reviewEnd = 0;
  private isReviewScheduled = false;
  /** Who waits until nothing is being reviewed. */
  private waiting: (() => void)[] = [];
  /** The number of the subject that a search came across last. */
  private subject = 0;
  private readonly noteSubject = (subject: number): boolean => {
    this.subject = subject;
    return true;
  };

  constructor(store: MessageStore, timers: Timers, policy: RetentionPolicy) {
    this.store = store;
    this.timers = timers;
    this.policy = policy;
    this.wanted = new WantedSubjects(store, this.consumers);
  }

  /** The store can be used; its consumers will be there in a moment. */
  start(): void {
    this.isActive = true;
    // Consumers start behind their stream.
    this.timers.afterTurn(() => {
      if (this.policy === 'limits' || this.consumers.size === 0) return;
      this.review(Math.max(...Array.from(this.consumers, ({ nextSequence }) => nextSequence)));
    });
  }

  stop(): void {
    this.isActive = false;
    this.reviewed();
  }

  setPolicy(policy: RetentionPolicy): void {
    const before = this.policy;
    this.policy = policy;
    if (policy === 'interest' && before !== 'interest') this.changed();
  }

  add(consumer: InterestedConsumer): void {
    this.consumers.add(consumer);
    this.wanted.forget();
  }

  /** The consumer serves nobody any more; whether that is for good is told by `changed`. */
  remove(consumer: InterestedConsumer): void {
    this.consumers.delete(consumer);
    this.wanted.forget();
  }

  /** Whether messages must be asked for with `isWanted` before they are stored. */
  get isSelective(): boolean {
    return this.policy === 'interest';
  }

  /** Whether some consumer wants a message that is being published. */
  isWanted(message: Message): boolean {
    return this.wanted.has(message);
  }

  /** A consumer is done with the message: it goes, unless another one waits for it. */
  settled(sequence: number): void {
    if (this.policy === 'limits' || !this.isActive) return;
    if (this.policy === 'workqueue' || this.consumers.size === 1) this.store.remove(sequence);
    else this.removeUnlessAwaited(sequence);
  }

  whenDurable(done: () => void): void {
    if (this.store instanceof FileStore) this.store.whenDurable(done);
    else done();
  }

  /** A consumer was deleted, or wants something else now. */
  changed(): void {
    this.wanted.forget();
    if (this.policy !== 'interest' || !this.isActive) return;
    const { store } = this;
    if (this.consumers.size > 0) this.review(Infinity);
    else if (store.messages > 0 || store.appendedMessages > 0) store.purgeBelow(store.appendedSequence + 1);
  }

  /** Calls back when what nobody waits for any more is being removed. */
  whenReviewed(done: () => void): void {
    if (this.reviewAt === 0 || !this.isActive) done();
    else this.waiting.push(done);
  }

  private removeUnlessAwaited(sequence: number): void {
    const { store } = this;
    const found = store.next(sequence, this.noteSubject);
    if (found === LOADING) store.whenReadable(sequence, () => this.removeUnlessAwaited(sequence));
    else if (found === sequence && !this.isAwaited(sequence, this.subject)) store.remove(sequence);
  }

  private isAwaited(sequence: number, subject: number): boolean {
    let isWanted = false;
    for (const consumer of this.consumers) {
      if (!consumer.wants(subject)) continue;
      if (consumer.awaits(sequence)) return true;
      isWanted = true;
    }
    // A work queue keeps what nobody wants: somebody may come who does.
    return !isWanted && this.policy === 'workqueue';
  }

  /** Looks at every message below `end`; once more from the beginning if that is going on. */
  private review(end: number): void {
    this.reviewEnd = Math.max(end, this.reviewAt === 0 ? 0 : this.reviewEnd);
    this.reviewAt = Math.max(1, this.store.firstSequence);
    this.reviewLater();
  }

  private reviewed(): void {
    this.reviewAt = 0;
    const { waiting } = this;
    this.waiting = [];
    for (const done of waiting) done();
  }

  private reviewLater(): void {
    if (this.isReviewScheduled) return;
    this.isReviewScheduled = true;
    this.timers.afterTurn(() => {
      this.isReviewScheduled = false;
      this.reviewSome();
    });
  }

  private reviewSome(): void {
    const { store } = this;
    const step = 1 + this.consumers.size / CONSUMERS_PER_MESSAGE;
    for (let count = 0; count < REVIEWED_PER_TURN; count += step) {
      if (!this.isActive || this.policy === 'limits') {
        this.reviewed();
        return;
      }
      const found = store.next(this.reviewAt, this.noteSubject);
      if (found === LOADING) {
        this.isReviewScheduled = true;
        store.whenReadable(this.reviewAt, () => {
          this.isReviewScheduled = false;
          this.reviewSome();
        });
        return;
      }
      if (found === NONE || found >= this.reviewEnd) {
        this.reviewed();
        return;
      }
      if (!this.isAwaited(found, this.subject)) store.remove(found);
      this.reviewAt = found + 1;
    }
    this.reviewLater();
  }
}
