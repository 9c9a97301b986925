/**
 * Where a new consumer begins, by its deliver policy. Finding the first message from a time on means reading: a binary
 * search over the messages, whose times only rise.
 *
 * Source: nats-server's selectStartingSeqNo.
 */

import { Buffer } from 'node:buffer';
import type { Moment } from '../../server/protocol/rfc3339.ts';
import { RecordView } from '../store/record.ts';
import type { MessageStore } from '../store/store.ts';
import type { ConsumerConfig } from './consumer-config.ts';
import { SubjectFilter } from './subject-filter.ts';

/** Calls back with the first stream sequence to deliver. */
export function startingSequence(store: MessageStore, config: ConsumerConfig, done: (sequence: number) => void): void {
  const isEmpty = store.lastSequence < store.firstSequence;
  const isExplicit = config.deliverPolicy === 'by_start_sequence';
  const finish = (sequence: number): void => {
    if (isEmpty && !isExplicit) done(Math.max(1, store.firstSequence));
    else if (!isExplicit && sequence > store.lastSequence) done(store.lastSequence + 1);
    else done(Math.max(sequence, store.firstSequence));
  };
  switch (config.deliverPolicy) {
    case 'all':
    case 'last_per_subject':
      finish(store.firstSequence);
      break;
    case 'last': {
      const filter = new SubjectFilter(config.filterSubject, store.subjects);
      finish(filter.accepts === null ? store.lastSequence : filter.last());
      break;
    }
    case 'new':
      finish(store.lastSequence + 1);
      break;
    case 'by_start_sequence':
      finish(config.optStartSeq);
      break;
    case 'by_start_time':
      new TimeSearch(store, config.optStartTime as Moment, finish).step();
      break;
  }
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
