/**
 * Purging: everything, below a sequence, all but the last few; of one subject or of all. Messages of one subject are
 * removed one by one, in short pieces; the rest goes at once.
 *
 * Source: ADR-10.
 */

import { isSubsetMatch } from '../../server/subject/subject.ts';
import { filtersOf, SubjectFilter } from '../consumer/subject-filter.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import { type MessageStore, NONE, STARTING_SEQUENCE_MAX } from '../store/store.ts';
import { countMatching, filterFor, nextMatching } from './message-search.ts';
import { type Paced, runPaced } from '../store/paced-work.ts';
import type { PurgeBody } from './request-bodies.ts';
import type { StreamEntry } from './stream-entry.ts';

const PER_STEP = 100;

/** Why the stream can't go on where the request makes it begin; `null`: it can. */
export function purgeRefusal({ sequence, filter, keep }: PurgeBody): ApiError | null {
  if (sequence <= STARTING_SEQUENCE_MAX || !isOfAll(filter, keep)) return null;
  return ApiErrors.streamPurgeFailed('seq not supported by petiole yet');
}

/** Calls back with the number of messages removed, when their removal is durable. */
export function purgeStream(entry: StreamEntry, body: PurgeBody, done: (purged: number) => void): void {
  const { filter, sequence, keep } = body;
  // Nothing is below the first sequence, whatever else is said.
  if (sequence === 1) done(0);
  else if (isOfAll(filter, keep)) purgeBelow(entry, sequence, done);
  else removeAndSettle(entry, body, done);
}

/** Whether all messages go, or all below a sequence, at which the stream then begins. */
function isOfAll(filter: string, keep: number): boolean {
  return keep === 0 && (filter === '' || filter === '>');
}

function removeAndSettle({ stream, consumers }: StreamEntry, body: PurgeBody, done: (purged: number) => void): void {
  const { store, host } = stream;
  const isOver = (): boolean => false;
  runPaced(host.io, store, removeMatching(store, body), isOver, (purged) => {
    stream.whenDurable(() => {
      runPaced(host.io, store, settle(store, consumers, body.filter), isOver, () => done(purged));
    });
  });
}

/**
 * Consumers of nothing but purged subjects are done with what is before their first message that is left; those of other
 * subjects, too, with what is before the first message of the stream.
 */
function* settle(store: MessageStore, consumers: StreamEntry['consumers'], pattern: string): Paced<void> {
  const isAll = pattern === '' || pattern === '>';
  for (const consumer of consumers.values()) {
    const filters = filtersOf(consumer.config);
    if (!isAll && !(filters.length > 0 && filters.every((filter) => isSubsetMatch(filter, pattern)))) {
      if (hasPurged(filters, pattern)) consumer.purged(store.firstSequence);
      continue;
    }
    const first = yield* nextMatching(
      store,
      store.firstSequence,
      new SubjectFilter(isAll ? [] : filters, store.subjects),
    );
    consumer.purged(first === NONE ? store.lastSequence + 1 : first);
  }
}

/** Whether a consumer with these filters wants what was purged, or some of it. */
function hasPurged(filters: readonly string[], pattern: string): boolean {
  const isConcerned = (filter: string): boolean => isSubsetMatch(filter, pattern) || isSubsetMatch(pattern, filter);
  return filters.length === 0 || filters.some(isConcerned);
}

/** Everything goes below the sequence, or everything when it is 0. */
function purgeBelow({ stream }: StreamEntry, sequence: number, done: (purged: number) => void): void {
  const { store } = stream;
  const { messages, lastSequence } = store;
  store.purgeBelow(sequence > 0 ? sequence : lastSequence + 1);
  stream.whenDurable(() => {
    // Others may have come meanwhile.
    const came = sequence > lastSequence + 1 ? 0 : store.lastSequence - lastSequence;
    done(Math.max(0, messages + came - store.messages));
  });
}

function* removeMatching(store: MessageStore, { filter: pattern, sequence, keep }: PurgeBody): Paced<number> {
  const filter = filterFor(store, pattern);
  const end = sequence > 0 ? sequence : store.lastSequence + 1;
  const matching = keep > 0 ? yield* countMatching(store, store.firstSequence, filter) : Infinity;
  let purged = 0;
  let looked = 0;
  for (let at = store.firstSequence; looked < matching - keep; looked++) {
    const next = yield* nextMatching(store, at, filter);
    if (next === NONE || next >= end) break;
    if (store.remove(next)) purged++;
    at = next + 1;
    if (looked % PER_STEP === PER_STEP - 1) yield 0;
  }
  return purged;
}
