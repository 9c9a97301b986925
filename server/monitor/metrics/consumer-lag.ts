/**
 * How far a consumer is behind: when the next message that it has yet to deliver was stored, and when the oldest one
 * that it delivered and nobody has acknowledged.
 *
 * Those messages may be on disk alone. A message's time never changes, so it is remembered, and a consumer that stands
 * still costs one read however often it is asked about. What can't be read in a few tries is unknown this time.
 */

import { Buffer } from 'node:buffer';
import type { Consumer } from '../../../jetstream/consumer/consumer.ts';
import { RecordView } from '../../../jetstream/store/record.ts';
import { LOADING, type MessageStore, NONE } from '../../../jetstream/store/store.ts';
import type { AnswerWork } from '../answer-work.ts';

const TRIES_MAX = 4;

/** Wall times in milliseconds; `null`: there is no such message. Undefined: not known. */
export interface ConsumerLag {
  readonly undeliveredSinceMs: number | null | undefined;
  readonly unacknowledgedSinceMs: number | null | undefined;
}

interface KnownTime {
  sequence: number;
  wallMs: number;
}

interface KnownTimes {
  readonly undelivered: KnownTime;
  readonly unacknowledged: KnownTime;
}

export class ConsumerLags {
  private readonly known = new WeakMap<Consumer, KnownTimes>();
  private readonly view = new RecordView(Buffer.alloc(0));

  *lagOf(consumer: Consumer): AnswerWork<ConsumerLag> {
    const times = this.timesOf(consumer);
    const { store } = consumer.stream;
    const next = yield* nextUndelivered(consumer);
    const undeliveredSinceMs = next === null ? null : yield* this.timeOf(store, next, times.undelivered);
    const { pending } = consumer.state;
    const row = pending.firstRow;
    const oldest = row < 0 ? null : pending.sequence(row);
    const unacknowledgedSinceMs = oldest === null ? null : yield* this.timeOf(store, oldest, times.unacknowledged);
    return { undeliveredSinceMs, unacknowledgedSinceMs };
  }

  private timesOf(consumer: Consumer): KnownTimes {
    let times = this.known.get(consumer);
    if (times === undefined) {
      times = { undelivered: { sequence: NONE, wallMs: 0 }, unacknowledged: { sequence: NONE, wallMs: 0 } };
      this.known.set(consumer, times);
    }
    return times;
  }

  private *timeOf(store: MessageStore, sequence: number | undefined, known: KnownTime): AnswerWork<number | undefined> {
    if (sequence === undefined) return undefined;
    if (known.sequence === sequence) return known.wallMs;
    for (let left = TRIES_MAX; left > 0; left--) {
      const outcome = store.read(sequence, this.view);
      if (outcome === 'missing') return undefined;
      if (outcome === 'found') {
        known.sequence = sequence;
        known.wallMs = this.view.seconds * 1000 + this.view.nanoseconds / 1e6;
        return known.wallMs;
      }
      yield (resume) => store.whenReadable(sequence, resume);
    }
    return undefined;
  }
}

/** The sequence of the next message to deliver; `null`: there is none. */
function* nextUndelivered(consumer: Consumer): AnswerWork<number | null | undefined> {
  const { undelivered, state, stream } = consumer;
  for (let left = TRIES_MAX; left > 0; left--) {
    if (undelivered.isUnknown) return undefined;
    if (consumer.numPending === 0) return null;
    const sequence = undelivered.next();
    if (sequence === NONE) return null;
    if (sequence !== LOADING) return sequence;
    const from = Math.max(state.nextStream, stream.store.firstSequence);
    yield (resume) => stream.store.whenReadable(from, resume);
  }
  return undefined;
}
