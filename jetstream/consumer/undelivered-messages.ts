/**
 * What a consumer has yet to deliver for the first time: which message comes next, and how many there are. Whenever that
 * is not known (after a start, with other filters, after a purge of what was to come) it is found out first, and nothing
 * is delivered meanwhile.
 *
 *     next ─► the last messages of their subjects, up to where the consumer was made, if it begins with those
 *             └► every message that passes the filter
 */

import type { Io } from '../../server/io/io.ts';
import { type Paced, runPaced } from '../store/paced-work.ts';
import { LOADING, type MessageStore, NONE } from '../store/store.ts';
import type { ConsumerState } from './consumer-state.ts';
import { findLastPerSubject, type LastPerSubject } from './last-per-subject.ts';
import type { SubjectFilter } from './subject-filter.ts';
import { UndeliveredCount } from './undelivered-count.ts';

export class UndeliveredMessages {
  filter: SubjectFilter;
  private readonly io: Io;
  private readonly store: MessageStore;
  private readonly state: ConsumerState;
  /** Up to here only the last message of each subject is delivered; 0: every message is. */
  private readonly listUpTo: number;
  private readonly counter: UndeliveredCount;
  private list: LastPerSubject | null = null;
  private search: Paced<void> | null = null;
  private isStopped = false;
  private waiting: (() => void)[] = [];

  constructor(io: Io, store: MessageStore, state: ConsumerState, filter: SubjectFilter, listUpTo: number) {
    this.io = io;
    this.store = store;
    this.state = state;
    this.filter = filter;
    this.listUpTo = listUpTo;
    this.counter = new UndeliveredCount(store, filter);
  }

  get count(): number {
    return this.counter.value;
  }

  /** It is being found out. */
  get isUnknown(): boolean {
    return this.search !== null;
  }

  /** Calls back as soon as it is known, or nobody is going to find it out any more. */
  whenKnown(then: () => void): void {
    if (this.isUnknown && !this.isStopped) this.waiting.push(then);
    else then();
  }

  /**
   * Finds out what there is to deliver, then calls back. Before, `onGone` is called for each of the `doubtful` sequences
   * that is not in the stream.
   */
  find(doubtful: readonly number[], onGone: (sequence: number) => void, done: () => void): void {
    const search = this.searching(doubtful, onGone);
    this.search = search;
    const isOver = (): boolean => this.isStopped || this.search !== search;
    runPaced(this.io, this.store, search, isOver, () => {
      this.search = null;
      done();
      this.tellWaiting();
    });
  }

  stop(): void {
    this.isStopped = true;
    this.tellWaiting();
  }

  private tellWaiting(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const then of waiting) then();
  }

  private *searching(doubtful: readonly number[], onGone: (sequence: number) => void): Paced<void> {
    const { store, state, filter, listUpTo } = this;
    for (const sequence of doubtful) {
      let found = store.next(sequence, null);
      while (found === LOADING) {
        yield Math.max(sequence, store.firstSequence);
        found = store.next(sequence, null);
      }
      if (found !== sequence) onGone(sequence);
    }
    this.list = null;
    if (listUpTo >= state.nextStream) this.list = yield* findLastPerSubject(store, filter, state.nextStream, listUpTo);
    yield* this.counter.count(filter, state.nextStream, this.list);
  }

  /** The next message to deliver, NONE or LOADING. */
  next(): number {
    const { state, store } = this;
    if (this.list === null) return store.next(state.nextStream, this.filter.accepts);
    const sequence = this.list.next(state.nextStream);
    if (sequence !== NONE) return sequence;
    state.nextStream = Math.max(state.nextStream, this.listUpTo + 1);
    this.list = null;
    return store.next(state.nextStream, this.filter.accepts);
  }

  /** A message was delivered for the first time. */
  delivered(): void {
    this.counter.dropOne();
  }

  /** Messages became visible. */
  stored(fromSequence: number, toSequence: number): void {
    this.counter.stored(Math.max(fromSequence, this.state.nextStream), toSequence);
  }

  /** A message that was not delivered is gone. */
  removed(sequence: number, subject: number): void {
    const { list } = this;
    if (list === null || sequence > list.upTo) this.counter.removed(sequence, subject);
    else if (list.has(sequence)) this.counter.dropOne();
  }
}
