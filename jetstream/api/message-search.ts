/**
 * Finds a stored message the ways the API asks for one: by sequence, the last under a subject, the next under a subject
 * from a sequence on. What has to come from the disk is waited for.
 */

import { Buffer } from 'node:buffer';
import { isLiteral } from '../../server/subject/subject.ts';
import { SubjectFilter } from '../consumer/subject-filter.ts';
import { RecordView } from '../store/record.ts';
import { LOADING, type MessageStore, NONE } from '../store/store.ts';

export type Wanted =
  | { readonly kind: 'sequence'; readonly sequence: number }
  | { readonly kind: 'last'; readonly subject: string }
  | { readonly kind: 'next'; readonly subject: string; readonly from: number };

/** Calls back with the message, which is to be copied at once, or `null` when there is none. */
export function findMessage(store: MessageStore, wanted: Wanted, done: (message: RecordView | null) => void): void {
  const sequence = sequenceOf(store, wanted);
  if (sequence === NONE) {
    done(null);
    return;
  }
  if (sequence === LOADING) {
    store.whenReadable(wanted.kind === 'next' ? wanted.from : store.lastSequence, () =>
      findMessage(store, wanted, done),
    );
    return;
  }
  readMessage(store, sequence, done);
}

function readMessage(store: MessageStore, sequence: number, done: (message: RecordView | null) => void): void {
  const view = new RecordView(Buffer.alloc(0));
  const outcome = store.read(sequence, view);
  if (outcome !== 'loading') {
    done(outcome === 'found' ? view : null);
    return;
  }
  store.whenReadable(sequence, () => done(store.read(sequence, view) === 'found' ? view : null));
}

function sequenceOf(store: MessageStore, wanted: Wanted): number {
  if (wanted.kind === 'sequence') return wanted.sequence;
  const { subject } = wanted;
  if (wanted.kind === 'next') {
    return store.next(wanted.from, new SubjectFilter(subject, store.subjects).accepts);
  }
  if (isLiteral(subject)) return store.lastOf(store.subjects.findText(subject), store.lastSequence);
  return lastMatching(store, new SubjectFilter(subject, store.subjects));
}

/** The highest sequence under any matching subject. */
function lastMatching(store: MessageStore, filter: SubjectFilter): number {
  let last = NONE;
  for (let number = 0; number < store.subjects.size; number++) {
    if (store.subjects.count(number) === 0 || !filter.matches(number)) continue;
    const found = store.lastOf(number, store.lastSequence);
    if (found === LOADING) return LOADING;
    last = Math.max(last, found);
  }
  return last;
}
