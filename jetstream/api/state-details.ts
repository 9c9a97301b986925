/**
 * What the info of a stream says of its state only when asked: every subject with its number of messages, and every
 * sequence that was removed. There may be a million of either, so both are paced work (`paced-work.ts`), and their JSON is
 * written piece by piece.
 */

import { sortSliced } from '../../server/io/sliced-sort.ts';
import { encode, EncodedJson } from '../../server/protocol/go-json.ts';
import { isSubsetMatch } from '../../server/subject/subject.ts';
import { LOADING, type MessageStore } from '../store/store.ts';
import type { Paced } from '../store/paced-work.ts';

/** Subjects that one answer has at most. */
export const SUBJECTS_LIMIT = 100_000;
const PER_STEP = 256;

export interface DetailsWanted {
  /** Empty: no subjects. */
  readonly subjectsFilter: string;
  /** How many of the subjects are skipped. */
  readonly offset: number;
  readonly deletedDetails: boolean;
}

export interface StateDetails {
  /** How many subjects match; 0 also where none were asked for. */
  readonly total: number;
  readonly subjects?: EncodedJson | undefined;
  readonly deleted?: EncodedJson | undefined;
}

export function* stateDetails(store: MessageStore, wanted: DetailsWanted): Paced<StateDetails> {
  const { subjectsFilter, offset, deletedDetails } = wanted;
  const matching = subjectsFilter === '' ? [] : yield* subjectCounts(store, subjectsFilter);
  return {
    total: matching.length,
    subjects: yield* jsonOfCounts(matching.slice(offset, offset + SUBJECTS_LIMIT)),
    deleted: deletedDetails ? yield* jsonOfDeleted(store) : undefined,
  };
}

type SubjectCount = readonly [subject: string, messages: number];

/** The subjects that match, in alphabetical order. */
function* subjectCounts({ subjects }: MessageStore, filter: string): Paced<readonly SubjectCount[]> {
  const found: SubjectCount[] = [];
  for (let number = 0; number < subjects.size; number++) {
    if (number % PER_STEP === PER_STEP - 1) yield 0;
    const count = subjects.count(number);
    if (count === 0) continue;
    const text = subjects.text(number);
    if (isSubsetMatch(text, filter)) found.push([text, count]);
  }
  const sorting = sortSliced(found, ([a], [b]) => (a < b ? -1 : 1));
  for (;;) {
    const step = sorting.next();
    if (step.done === true) return step.value;
    yield 0;
  }
}

function* jsonOfCounts(counts: readonly SubjectCount[]): Paced<EncodedJson | undefined> {
  if (counts.length === 0) return undefined;
  const pieces: string[] = [];
  for (let at = 0; at < counts.length; at += PER_STEP) {
    const page = counts.slice(at, at + PER_STEP);
    pieces.push(page.map(([subject, count]) => `${encode([subject]).slice(1, -1)}:${count}`).join(','));
    yield 0;
  }
  return new EncodedJson(`{${pieces.join(',')}}`);
}

/** The sequences between the first and the last one that are not there. */
function* jsonOfDeleted(store: MessageStore): Paced<EncodedJson | undefined> {
  const { lastSequence } = store;
  const pieces: string[] = [];
  let piece: number[] = [];
  let expected = store.messages > 0 ? store.firstSequence : Infinity;
  let looked = 0;
  while (expected <= lastSequence) {
    const next = store.next(expected, null);
    if (next === LOADING) {
      yield expected;
      continue;
    }
    const end = next > 0 ? Math.min(next, lastSequence + 1) : lastSequence + 1;
    for (; expected < end; expected++) {
      piece.push(expected);
      if (piece.length < PER_STEP) continue;
      pieces.push(piece.join(','));
      piece = [];
      yield 0;
    }
    expected = end + 1;
    if (++looked % PER_STEP === 0) yield 0;
  }
  if (piece.length > 0) pieces.push(piece.join(','));
  return pieces.length === 0 ? undefined : new EncodedJson(`[${pieces.join(',')}]`);
}
