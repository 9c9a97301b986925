/**
 * Direct gets of several messages: so many from a place on, or the last one of each of several subjects. Each message says
 * how many are left and which came before it; an end follows:
 *
 *     NATS/1.0 204 EOB   Nats-Num-Pending, Nats-Last-Sequence [, Nats-UpTo-Sequence]
 *
 * What is sent is what was there when the request came, without what went meanwhile. While the receiver has much unsent
 * nothing is read, so an answer of a gigabyte takes no memory.
 *
 * Source: ADR-31.
 */

import { Buffer } from 'node:buffer';
import type { Moment } from '../../server/protocol/rfc3339.ts';
import { RecordView } from '../store/record.ts';
import { type MessageStore, NONE } from '../store/store.ts';
import type { DirectGetAnswer } from './direct-get-answer.ts';
import type { DirectGetRequest } from './direct-get-request.ts';
import { countMatching, filterFor, firstSince, lastOfEach, nextMatching, readMessage } from './message-search.ts';
import { CONGESTED, type Paced } from '../store/paced-work.ts';

/** Subjects that one request may ask for. */
const SUBJECTS_MAX = 1024;
const PER_STEP = 64;

type BatchWanted = Extract<DirectGetRequest, { kind: 'batch' }>;
type LastWanted = Extract<DirectGetRequest, { kind: 'last of each' }>;

/** Sends `batch` messages, or as many as there are, or so many that they reach `maxBytes`. */
export function* sendBatch(store: MessageStore, wanted: BatchWanted, answer: DirectGetAnswer): Paced<void> {
  const { start, noHeaders, maxBytes } = wanted;
  const end = store.lastSequence;
  const filter = filterFor(store, wanted.subject);
  const view = new RecordView(Buffer.alloc(0));
  let at = typeof start === 'number' ? start : yield* firstSince(store, start);
  let pending = yield* countMatching(store, at, filter);
  let previous = 0;
  let bytes = 0;
  for (let sent = 0; sent < wanted.batch && bytes < maxBytes;) {
    while (answer.isCongested) yield CONGESTED;
    const next = yield* nextMatching(store, at, filter);
    if (next === NONE || next > end) break;
    at = next + 1;
    const found = yield* readMessage(store, next, view);
    if (found === null) continue;
    if (noHeaders) answer.payload(found);
    else {
      // nats-server counts only where it says so.
      pending = Math.max(0, pending - 1);
      answer.message(found, progress(pending, previous));
    }
    previous = next;
    bytes += sizeOf(found);
    if (++sent % PER_STEP === 0) yield 0;
  }
  if (previous === 0) answer.status('404 Message Not Found');
  else answer.status('204 EOB', [`Nats-Num-Pending: ${pending}`, `Nats-Last-Sequence: ${previous}`]);
}

/** Sends the last message of each matching subject, as it was at `upTo`. */
export function* sendLastOfEach(store: MessageStore, wanted: LastWanted, answer: DirectGetAnswer): Paced<void> {
  const upTo = yield* ceiling(store, wanted.upTo);
  const found = upTo === NONE ? [] : yield* lastOfEach(store, wanted.patterns, upTo, SUBJECTS_MAX);
  if (found === null) answer.status('413 Too Many Results');
  else if (found.length === 0) answer.status('404 No Results');
  else yield* sendEach(store, wanted, found, upTo, answer);
}

function* sendEach(
  store: MessageStore,
  { from, batch, maxBytes }: LastWanted,
  sequences: readonly number[],
  upTo: number,
  answer: DirectGetAnswer,
): Paced<void> {
  const view = new RecordView(Buffer.alloc(0));
  let pending = sequences.length;
  let previous = 0;
  let bytes = 0;
  let sent = 0;
  for (const sequence of sequences) {
    pending--;
    if (sequence < from) continue;
    while (answer.isCongested) yield CONGESTED;
    const found = yield* readMessage(store, sequence, view);
    if (found === null) {
      answer.status('404 Message Not Found');
      return;
    }
    answer.message(found, progress(pending, previous));
    previous = sequence;
    bytes += sizeOf(found);
    if (bytes >= maxBytes || ++sent === batch) break;
    if (sent % PER_STEP === 0) yield 0;
  }
  answer.status('204 EOB', [
    `Nats-Num-Pending: ${pending}`,
    `Nats-Last-Sequence: ${previous}`,
    `Nats-UpTo-Sequence: ${upTo}`,
  ]);
}

/** The last sequence that counts; NONE: nothing was stored before that moment. */
function* ceiling(store: MessageStore, upTo: Moment | number): Paced<number> {
  if (typeof upTo === 'number') return upTo > 0 ? upTo : store.lastSequence;
  const first = yield* firstSince(store, upTo);
  return first <= store.firstSequence ? NONE : first - 1;
}

function progress(pending: number, previous: number): string {
  return `Nats-Num-Pending: ${pending}\r\nNats-Last-Sequence: ${previous}\r\n`;
}

/** Bytes that a message counts against the limit of a request. */
function sizeOf({ subjectStart, end }: RecordView): number {
  return end - subjectStart;
}
