/**
 * The messages with which a consumer of each subject's last message begins: the last one of every matching subject up to
 * the stream sequence at which the consumer was made, in order. Behind it the consumer goes on with every message.
 *
 *     sequences │ 3  7  8 │ 12 19 … │          then everything above `upTo`
 *                delivered  at
 *
 * The list is in memory alone. After a restart it is made anew from what is in the stream then, without what was
 * delivered already.
 */

import type { MessageStore } from '../store/store.ts';
import { LOADING } from '../store/store.ts';
import type { SubjectFilter } from './subject-filter.ts';

const SUBJECTS_PER_STEP = 500;

export class LastPerSubject {
  readonly upTo: number;
  readonly sequences: Float64Array;
  private at = 0;

  constructor(upTo: number, sequences: Float64Array) {
    this.upTo = upTo;
    this.sequences = sequences;
  }

  /** The first sequence, 0 when there is none. */
  get first(): number {
    return this.sequences[0] ?? 0;
  }

  /** Sequences still to come. */
  get left(): number {
    return this.sequences.length - this.at;
  }

  /** The lowest sequence of the list from `sequence` on; 0 when the list has no more. */
  next(sequence: number): number {
    const { sequences } = this;
    while (this.at < sequences.length && (sequences[this.at] as number) < sequence) this.at++;
    return sequences[this.at] ?? 0;
  }

  /** Whether the sequence is still to come. */
  has(sequence: number): boolean {
    let low = this.at;
    let high = this.sequences.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.sequences[middle] as number) < sequence) low = middle + 1;
      else high = middle;
    }
    return this.sequences[low] === sequence;
  }
}

/** Finds the list, without sequences below `from`. Yields between pieces; what it yields is to be read first. */
export function* findLastPerSubject(
  store: MessageStore,
  filter: SubjectFilter,
  from: number,
  upTo: number,
): Generator<number, LastPerSubject> {
  let sequences = new Float64Array(64);
  let count = 0;
  for (let subject = 0; subject < store.subjects.size; subject++) {
    if (subject % SUBJECTS_PER_STEP === SUBJECTS_PER_STEP - 1) yield 0;
    if (store.subjects.count(subject) === 0 || !filter.matches(subject)) continue;
    let last = store.lastOf(subject, upTo);
    while (last === LOADING) {
      yield Math.min(upTo, store.lastSequence);
      last = store.lastOf(subject, upTo);
    }
    if (last < from || last <= 0) continue;
    if (count === sequences.length) {
      const larger = new Float64Array(count * 2);
      larger.set(sequences);
      sequences = larger;
    }
    sequences[count++] = last;
  }
  return new LastPerSubject(upTo, sequences.slice(0, count).sort());
}
