/**
 * How many messages a consumer has yet to deliver for the first time. Counted once, then kept as messages come, go and
 * are delivered. Counting may take a while; the consumer delivers nothing meanwhile, and what comes or goes then changes
 * the count only where it was counted already.
 *
 *     by subject    from the first message on: the messages of each subject that matches          ─ counted │ not yet
 *     by sequence   from the next message on, one by one                                           ─ counted │ not yet
 */

import { LOADING, type MessageStore, NONE } from '../store/store.ts';
import type { LastPerSubject } from './last-per-subject.ts';
import type { SubjectFilter } from './subject-filter.ts';

const PER_STEP = 1000;

/** What a count runs over; all of it is counted below `counted`. */
type Counting = 'nothing' | 'subjects' | 'sequences';

export class UndeliveredCount {
  value = 0;
  private readonly store: MessageStore;
  private filter: SubjectFilter;
  private counting: Counting = 'nothing';
  private counted = 0;

  constructor(store: MessageStore, filter: SubjectFilter) {
    this.store = store;
    this.filter = filter;
  }

  /** Counts anew what is to be delivered from `next` on: what is left of the list, if there is one, and all behind it. */
  *count(filter: SubjectFilter, next: number, list: LastPerSubject | null): Generator<number, void> {
    const { store } = this;
    this.filter = filter;
    this.value = list?.left ?? 0;
    const from = list === null ? next : Math.max(next, list.upTo + 1);
    if (from > store.firstSequence) yield* this.countSequences(from);
    else if (filter.accepts === null) this.value += store.messages;
    else yield* this.countSubjects();
    this.counting = 'nothing';
  }

  private *countSubjects(): Generator<number, void> {
    const { subjects } = this.store;
    this.counting = 'subjects';
    for (this.counted = 0; this.counted < subjects.size; this.counted++) {
      if (this.counted % PER_STEP === PER_STEP - 1) yield 0;
      if (this.filter.matches(this.counted)) this.value += subjects.count(this.counted);
    }
  }

  private *countSequences(from: number): Generator<number, void> {
    const { store } = this;
    const { accepts } = this.filter;
    this.counting = 'sequences';
    let steps = 0;
    for (this.counted = from; ;) {
      const next = store.next(this.counted, accepts);
      if (next === NONE) return;
      if (next === LOADING) {
        yield Math.max(this.counted, store.firstSequence);
        continue;
      }
      this.value++;
      this.counted = next + 1;
      if (++steps % PER_STEP === 0) yield 0;
    }
  }

  /** Messages with these sequences, all still to be delivered, became visible. */
  stored(fromSequence: number, toSequence: number): void {
    if (this.counting === 'sequences') return;
    const { accepts } = this.filter;
    if (accepts === null) {
      this.value += Math.max(0, toSequence - fromSequence + 1);
      return;
    }
    const counts =
      this.counting === 'nothing' ? accepts : (subject: number) => subject < this.counted && accepts(subject);
    for (let from = fromSequence; from <= toSequence;) {
      const next = this.store.next(from, counts);
      if (next <= 0 || next > toSequence) break;
      this.value++;
      from = next + 1;
    }
  }

  /** A message that was still to be delivered is gone. */
  removed(sequence: number, subject: number): void {
    if (!this.filter.matches(subject)) return;
    if (this.counting === 'sequences' && sequence >= this.counted) return;
    if (this.counting === 'subjects' && subject >= this.counted) return;
    this.dropOne();
  }

  /** A message was delivered for the first time, or left out. */
  dropOne(): void {
    if (this.value > 0) this.value--;
  }
}
