/**
 * Where a new consumer begins, by its deliver policy. Finding the first message from a time on means reading: a binary
 * search over the messages, whose times only rise.
 *
 * Source: nats-server's selectStartingSeqNo.
 */

import { Buffer } from 'node:buffer';
import type { Io } from '../../server/io/io.ts';
import type { Moment } from '../../server/protocol/rfc3339.ts';
import { runPaced } from '../store/paced-work.ts';
import { RecordView } from '../store/record.ts';
import type { MessageStore } from '../store/store.ts';
import type { ConsumerConfig } from './consumer-config.ts';
import { findLastPerSubject } from './last-per-subject.ts';
import { filtersOf, SubjectFilter } from './subject-filter.ts';

/** Where a consumer began. */
export interface ConsumerOrigin {
  /** The first stream sequence to look at. */
  readonly start: number;
  /** Up to here only the last message of each subject is delivered; 0: every message is. */
  readonly listUpTo: number;
}

/** Calls back with where a new consumer begins on a stream that has at most so many messages under a subject. */
export function startingSequence(
  io: Io,
  store: MessageStore,
  config: ConsumerConfig,
  maxMsgsPerSubject: number,
  done: (origin: ConsumerOrigin) => void,
): void {
  const begin = (sequence: number): void => done({ start: within(store, config, sequence), listUpTo: 0 });
  const filter = new SubjectFilter(filtersOf(config), store.subjects);
  switch (config.deliverPolicy) {
    case 'all':
      begin(store.firstSequence);
      break;
    case 'last_per_subject': {
      // Every message is the last of its subject.
      if (maxMsgsPerSubject === 1) {
        begin(store.firstSequence);
        break;
      }
      const upTo = store.lastSequence;
      runPaced(io, store, findLastPerSubject(store, filter, 0, upTo), goesOn, ({ first }) => {
        done({ start: within(store, config, first === 0 ? upTo : first), listUpTo: upTo });
      });
      break;
    }
    case 'last':
      if (filter.accepts === null) begin(store.lastSequence);
      else runPaced(io, store, findLast(store, filter), goesOn, begin);
      break;
    case 'new':
      begin(store.lastSequence + 1);
      break;
    case 'by_start_sequence':
      begin(config.optStartSeq);
      break;
    case 'by_start_time':
      new TimeSearch(store, config.optStartTime as Moment, begin).step();
      break;
  }
}

/** Nobody gives up the search for where to begin. */
function goesOn(): boolean {
  return false;
}

/** The sequence as the stream allows it: not below its first, and above its last only on explicit request. */
function within(store: MessageStore, config: ConsumerConfig, sequence: number): number {
  const isExplicit = config.deliverPolicy === 'by_start_sequence';
  const isEmpty = store.lastSequence < store.firstSequence;
  if (isEmpty && !isExplicit) return Math.max(1, store.firstSequence);
  if (!isExplicit && sequence > store.lastSequence) return store.lastSequence + 1;
  return Math.min(Math.max(sequence, store.firstSequence), Number.MAX_SAFE_INTEGER);
}

/** The highest sequence of a matching subject; 0: none. */
function* findLast(store: MessageStore, filter: SubjectFilter): Generator<number, number> {
  const { sequences } = yield* findLastPerSubject(store, filter, 0, store.lastSequence);
  return sequences.at(-1) ?? 0;
}

/** Finds the lowest sequence with a time at or after a moment. */
class TimeSearch {
  private readonly store: MessageStore;
  private readonly moment: Moment;
  private readonly done: (sequence: number) => void;
  private readonly view = new RecordView(Buffer.alloc(0));
  /** Everything below `low` is earlier; everything from `high` on is not. */
  private low: number;
  private high: number;

  constructor(store: MessageStore, moment: Moment, done: (sequence: number) => void) {
    this.store = store;
    this.moment = moment;
    this.done = done;
    this.low = store.firstSequence;
    this.high = store.lastSequence + 1;
  }

  step(): void {
    const { store, view } = this;
    while (this.low < this.high) {
      const middle = Math.floor((this.low + this.high) / 2);
      const sequence = store.next(middle, null);
      const outcome = sequence > 0 ? store.read(sequence, view) : sequence < 0 ? 'loading' : 'missing';
      if (outcome === 'loading') {
        store.whenReadable(sequence > 0 ? sequence : middle, () => this.step());
        return;
      }
      if (outcome === 'missing' || sequence >= this.high || !this.isEarlier()) this.high = middle;
      else this.low = sequence + 1;
    }
    this.done(this.low);
  }

  private isEarlier(): boolean {
    const { view, moment } = this;
    return view.seconds < moment.seconds || (view.seconds === moment.seconds && view.nanoseconds < moment.nanoseconds);
  }
}
