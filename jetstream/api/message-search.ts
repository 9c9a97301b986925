/**
 * Finds stored messages the ways the API asks for them: by sequence, by time, the last under a subject, the next under a
 * subject; and how many there are. Searches are paced work (`paced-work.ts`): what has to come from the disk is waited for,
 * and a million subjects take several turns.
 */

import { Buffer } from 'node:buffer';
import type { Moment } from '../../server/protocol/rfc3339.ts';
import { isLiteral } from '../../server/subject/subject.ts';
import { SubjectFilter } from '../consumer/subject-filter.ts';
import { RecordView } from '../store/record.ts';
import { LOADING, type MessageStore, NONE } from '../store/store.ts';
import type { Paced } from '../store/paced-work.ts';

const PER_STEP = 1000;
/** Others may need the memory for other blocks, often many times in a row; after a failed read the store rests a while. */
const READ_ATTEMPTS_MAX = 128;

/** One message that is wanted; `from` is where a search for the next one begins, or the moment from which on. */
export type Wanted =
  | { readonly kind: 'sequence'; readonly sequence: number }
  | { readonly kind: 'last'; readonly subject: string }
  | { readonly kind: 'next'; readonly subject: string; readonly from: number }
  | { readonly kind: 'since'; readonly subject: string; readonly moment: Moment };

/** The message, which is to be copied at once; `null`: there is none. */
export function* findMessage(store: MessageStore, wanted: Wanted): Paced<RecordView | null> {
  const sequence = yield* findSequence(store, wanted);
  return sequence === NONE ? null : yield* readMessage(store, sequence, new RecordView(Buffer.alloc(0)));
}

function* findSequence(store: MessageStore, wanted: Wanted): Paced<number> {
  switch (wanted.kind) {
    case 'sequence':
      return wanted.sequence;
    case 'last':
      return yield* lastMatching(store, wanted.subject);
    case 'next':
      return yield* nextMatching(store, wanted.from, filterFor(store, wanted.subject));
    case 'since':
      return yield* nextMatching(store, yield* firstSince(store, wanted.moment), filterFor(store, wanted.subject));
  }
}

/** The message with this sequence; `null`: it is not there, or can't be read. */
export function* readMessage(store: MessageStore, sequence: number, view: RecordView): Paced<RecordView | null> {
  for (let attempt = 0; attempt <= READ_ATTEMPTS_MAX; attempt++) {
    const outcome = store.read(sequence, view);
    if (outcome !== 'loading') return outcome === 'found' ? view : null;
    // What was loaded may have made room for something else by the time it is looked at.
    yield sequence;
  }
  return null;
}

/** A filter for a subject with or without wildcards; an empty one takes all. */
export function filterFor(store: MessageStore, subject: string): SubjectFilter {
  return new SubjectFilter(subject === '' ? [] : [subject], store.subjects);
}

/** The lowest sequence from `from` on that the filter accepts, or NONE. */
export function* nextMatching(store: MessageStore, from: number, filter: SubjectFilter): Paced<number> {
  for (;;) {
    const found = store.next(from, filter.accepts);
    if (found !== LOADING) return found;
    yield Math.max(from, store.firstSequence);
  }
}

/** The lowest sequence whose message has this time or a later one; behind the last when none has. */
export function* firstSince(store: MessageStore, moment: Moment): Paced<number> {
  const view = new RecordView(Buffer.alloc(0));
  const all = filterFor(store, '');
  let low = store.firstSequence;
  let high = store.lastSequence + 1;
  // Everything below `low` is earlier; everything from `high` on is not.
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const sequence = yield* nextMatching(store, middle, all);
    if (sequence === NONE || sequence >= high) high = middle;
    else if ((yield* readMessage(store, sequence, view)) === null || isEarlier(view, moment)) low = sequence + 1;
    else high = middle;
  }
  const found = yield* nextMatching(store, low, all);
  return found === NONE ? store.lastSequence + 1 : found;
}

function isEarlier(time: Moment, moment: Moment): boolean {
  return time.seconds < moment.seconds || (time.seconds === moment.seconds && time.nanoseconds < moment.nanoseconds);
}

/** The highest sequence under the subject, or under any subject that matches it, or NONE. */
function* lastMatching(store: MessageStore, subject: string): Paced<number> {
  const { lastSequence } = store;
  // Of all subjects nats-server looks at the last sequence alone, whether it is there or not.
  if (subject === '>') return lastSequence;
  if (isLiteral(subject)) return yield* lastOf(store, store.subjects.findText(subject), lastSequence);
  let last = NONE;
  for (const number of matchingSubjects(store, [subject])) {
    if (number === null) yield 0;
    else last = Math.max(last, yield* lastOf(store, number, lastSequence));
  }
  return last;
}

/** The last sequence of each matching subject up to `upTo`, in order; `null`: there are more than `max`. */
export function* lastOfEach(
  store: MessageStore,
  patterns: readonly string[],
  upTo: number,
  max: number,
): Paced<number[] | null> {
  const found: number[] = [];
  for (const number of matchingSubjects(store, patterns)) {
    if (number === null) {
      yield 0;
      continue;
    }
    const last = yield* lastOf(store, number, upTo);
    if (last !== NONE) found.push(last);
    if (found.length > max) return null;
  }
  return found.sort((a, b) => a - b);
}

function* lastOf(store: MessageStore, subject: number, upTo: number): Paced<number> {
  for (;;) {
    const found = store.lastOf(subject, upTo);
    if (found !== LOADING) return found;
    yield Math.max(1, Math.min(upTo, store.lastSequence));
  }
}

/** Numbers of subjects that have messages and match one of the patterns; `null` now and then, between many. */
function* matchingSubjects(store: MessageStore, patterns: readonly string[]): Generator<number | null> {
  const { subjects } = store;
  if (patterns.every(isLiteral)) {
    for (const number of new Set(patterns.map((pattern) => subjects.findText(pattern)))) if (number >= 0) yield number;
    return;
  }
  const filter = new SubjectFilter(patterns, subjects);
  for (let number = 0; number < subjects.size; number++) {
    if (number % PER_STEP === PER_STEP - 1) yield null;
    if (subjects.count(number) > 0 && filter.matches(number)) yield number;
  }
}

/** Messages from `from` on that the filter accepts. */
export function* countMatching(store: MessageStore, from: number, filter: SubjectFilter): Paced<number> {
  if (from <= store.firstSequence) return yield* countAll(store, filter);
  // Whichever side is shorter is counted one by one.
  const isNearEnd = from > (store.firstSequence + store.lastSequence) / 2;
  if (isNearEnd) return yield* countBetween(store, from, store.lastSequence, filter);
  const below = yield* countBetween(store, store.firstSequence, from - 1, filter);
  return (yield* countAll(store, filter)) - below;
}

function* countAll(store: MessageStore, filter: SubjectFilter): Paced<number> {
  if (filter.accepts === null) return store.messages;
  const { subjects } = store;
  let count = 0;
  for (let number = 0; number < subjects.size; number++) {
    if (number % PER_STEP === PER_STEP - 1) yield 0;
    if (filter.matches(number)) count += subjects.count(number);
  }
  return count;
}

function* countBetween(store: MessageStore, from: number, to: number, filter: SubjectFilter): Paced<number> {
  let count = 0;
  for (let at = from; at <= to;) {
    const next = yield* nextMatching(store, at, filter);
    if (next === NONE || next > to) break;
    at = next + 1;
    if (++count % PER_STEP === 0) yield 0;
  }
  return count;
}
