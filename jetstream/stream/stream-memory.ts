/**
 * What a stream remembers across restarts besides its messages: ids in the duplicate window, which messages have a life of
 * their own, up to where its sources have been read. A checkpoint has it as it is, and the messages in the log behind the
 * checkpoint say the rest.
 *
 *     bytes of ids │ ids │ lifetimes
 *     bytes of ids + HAS_SOURCES │ bytes of positions │ ids │ positions │ lifetimes       in a stream that has sources
 *     bytes of ids + HAS_SCHEDULES │ bytes of schedules │ ids │ schedules │ lifetimes     in one that has schedules
 *
 * With both, positions come first.
 */

import { Buffer } from 'node:buffer';
import type { Captured } from '../store/captured.ts';
import type { StoreExtension } from '../store/file-store.ts';
import { get32, put32 } from '../store/integers.ts';
import { type RecordView, REPLACES_ITSELF } from '../store/record.ts';
import type { DedupWindow } from './dedup-window.ts';
import type { MessageLifetimes } from './message-lifetimes.ts';
import type { MessageStore } from '../store/store.ts';
import type { PublishCheck } from './publish-check.ts';
import { NO_SUBJECT, type Schedules } from './schedules.ts';
import { readSourceHeader } from './source-name.ts';
import type { SourcePositions } from './source-positions.ts';
import { type StreamClock, timeMs } from './stream-clock.ts';
import type { WindowClock } from './window-clock.ts';

const NOTHING = Buffer.alloc(0);
const LENGTH_BYTES = 4;
/** Above what ids can take. */
const HAS_SOURCES: number = 2 ** 31;
const HAS_SCHEDULES: number = 2 ** 30;

/** The stream that remembers. */
export interface RememberingStream {
  readonly check: PublishCheck;
  readonly clock: StreamClock;
  readonly windowClock: WindowClock;
  readonly dedup: DedupWindow;
  readonly lifetimes: MessageLifetimes;
  readonly positions: SourcePositions;
  readonly schedules: Schedules | null;
  readonly store: MessageStore;
}

export class StreamMemory implements StoreExtension {
  private readonly stream: RememberingStream;

  constructor(stream: RememberingStream) {
    this.stream = stream;
  }

  capture(lastSequence: number): Captured {
    const { clock, windowClock, dedup, lifetimes, positions, schedules } = this.stream;
    const ids = dedup.capture(lastSequence, clock.nowMs - windowClock.nowMs);
    const sources = positions.encode(lastSequence);
    const later = schedules?.encode(lastSequence) ?? NOTHING;
    const rest = [sources, later].filter((each) => each.length > 0);
    const flags = (sources.length > 0 ? HAS_SOURCES : 0) + (later.length > 0 ? HAS_SCHEDULES : 0);
    const head = Buffer.allocUnsafe(LENGTH_BYTES * (rest.length + 1));
    put32(head, 0, ids.bytes + flags);
    for (const [at, each] of rest.entries()) put32(head, LENGTH_BYTES * (at + 1), each.length);
    rest.push(lifetimes.encode(lastSequence));
    const bytes = rest.reduce((sum, each) => sum + each.length, head.length + ids.bytes);
    return { bytes, pieces: () => inOrder(head, ids, rest) };
  }

  *decode(encoded: Buffer): Generator<void> {
    const { dedup, lifetimes, positions, schedules } = this.stream;
    const first = get32(encoded, 0);
    const hasSources = first >= HAS_SOURCES;
    const hasSchedules = first % HAS_SOURCES >= HAS_SCHEDULES;
    const idsAt = LENGTH_BYTES * (1 + Number(hasSources) + Number(hasSchedules));
    const sourcesAt = idsAt + (first % HAS_SCHEDULES);
    const schedulesAt = sourcesAt + (hasSources ? get32(encoded, LENGTH_BYTES) : 0);
    const livesAt = schedulesAt + (hasSchedules ? get32(encoded, idsAt - LENGTH_BYTES) : 0);
    yield* dedup.decode(encoded.subarray(idsAt, sourcesAt));
    positions.decode(encoded.subarray(sourcesAt, schedulesAt));
    schedules?.decode(encoded.subarray(schedulesAt, livesAt));
    lifetimes.decode(encoded.subarray(livesAt));
  }

  replayed(record: RecordView): void {
    const { clock, check, dedup, lifetimes, positions, schedules, store } = this.stream;
    const { seconds, nanoseconds, sequence } = record;
    clock.notBefore({ seconds, nanoseconds });
    const { headers } = check;
    const hasHeaders = record.payloadStart > record.bodyStart;
    if (hasHeaders) headers.read(record.buffer, record.bodyStart, record.payloadStart);
    schedules?.stored(sequence, subjectOf(record, store), record, hasHeaders ? headers : null);
    if (!hasHeaders) return;
    if (record.replaces !== REPLACES_ITSELF) lifetimes.stored(sequence, { seconds, nanoseconds }, headers);
    const { messageId, streamSource } = headers;
    if (messageId !== null) dedup.add(messageId, sequence, timeMs({ seconds, nanoseconds }));
    const source = streamSource === null ? null : readSourceHeader(streamSource);
    if (source !== null && source.indexName !== '')
      positions.restore(source.indexName, source.sequence, source.identity);
  }
}

/** The number of the record's subject; the message goes itself: none. */
function subjectOf(record: RecordView, { subjects }: MessageStore): number {
  if (record.replaces === REPLACES_ITSELF) return NO_SUBJECT;
  return subjects.intern(record.buffer, record.subjectStart, record.subjectEnd);
}

function* inOrder(head: Buffer, ids: Captured, rest: readonly Buffer[]): Generator<Buffer> {
  yield head;
  yield* ids.pieces();
  yield* rest;
}
