/**
 * What a stream remembers across restarts besides its messages: ids in the duplicate window, which messages have a life of
 * their own, up to where its sources have been read. A checkpoint has it as it is, and the messages in the log behind the
 * checkpoint say the rest.
 *
 *     bytes of ids │ ids │ lifetimes
 *     bytes of ids + HAS_SOURCES │ bytes of positions │ ids │ positions │ lifetimes       in a stream that has sources
 */

import { Buffer } from 'node:buffer';
import type { Captured } from '../store/captured.ts';
import type { StoreExtension } from '../store/file-store.ts';
import { get32, put32 } from '../store/integers.ts';
import { type RecordView, REPLACES_ITSELF } from '../store/record.ts';
import type { DedupWindow } from './dedup-window.ts';
import type { MessageLifetimes } from './message-lifetimes.ts';
import type { PublishCheck } from './publish-check.ts';
import { readSourceHeader } from './source-name.ts';
import type { SourcePositions } from './source-positions.ts';
import { type StreamClock, timeMs } from './stream-clock.ts';
import type { WindowClock } from './window-clock.ts';

const LENGTH_BYTES = 4;
/** Above what ids can take. */
const HAS_SOURCES: number = 2 ** 31;

/** The stream that remembers. */
export interface RememberingStream {
  readonly check: PublishCheck;
  readonly clock: StreamClock;
  readonly windowClock: WindowClock;
  readonly dedup: DedupWindow;
  readonly lifetimes: MessageLifetimes;
  readonly positions: SourcePositions;
}

export class StreamMemory implements StoreExtension {
  private readonly stream: RememberingStream;

  constructor(stream: RememberingStream) {
    this.stream = stream;
  }

  capture(lastSequence: number): Captured {
    const { clock, windowClock, dedup, lifetimes, positions } = this.stream;
    const ids = dedup.capture(lastSequence, clock.nowMs - windowClock.nowMs);
    const sources = positions.encode(lastSequence);
    const head = Buffer.allocUnsafe(sources.length > 0 ? 2 * LENGTH_BYTES : LENGTH_BYTES);
    put32(head, 0, sources.length > 0 ? ids.bytes + HAS_SOURCES : ids.bytes);
    if (sources.length > 0) put32(head, LENGTH_BYTES, sources.length);
    const lives = lifetimes.encode(lastSequence);
    const bytes = head.length + ids.bytes + sources.length + lives.length;
    return { bytes, pieces: () => inOrder(head, ids, sources, lives) };
  }

  *decode(encoded: Buffer): Generator<void> {
    const { dedup, lifetimes, positions } = this.stream;
    const first = get32(encoded, 0);
    const hasSources = first >= HAS_SOURCES;
    const idsAt = hasSources ? 2 * LENGTH_BYTES : LENGTH_BYTES;
    const sourcesAt = idsAt + (hasSources ? first - HAS_SOURCES : first);
    const livesAt = sourcesAt + (hasSources ? get32(encoded, LENGTH_BYTES) : 0);
    yield* dedup.decode(encoded.subarray(idsAt, sourcesAt));
    positions.decode(encoded.subarray(sourcesAt, livesAt));
    lifetimes.decode(encoded.subarray(livesAt));
  }

  replayed(record: RecordView): void {
    const { clock, check, dedup, lifetimes, positions } = this.stream;
    const { seconds, nanoseconds, sequence } = record;
    clock.notBefore({ seconds, nanoseconds });
    if (record.payloadStart === record.bodyStart) return;
    const { headers } = check;
    headers.read(record.buffer, record.bodyStart, record.payloadStart);
    if (record.replaces !== REPLACES_ITSELF) lifetimes.stored(sequence, { seconds, nanoseconds }, headers);
    const { messageId, streamSource } = headers;
    if (messageId !== null) dedup.add(messageId, sequence, timeMs({ seconds, nanoseconds }));
    const source = streamSource === null ? null : readSourceHeader(streamSource);
    if (source !== null && source.indexName !== '')
      positions.restore(source.indexName, source.sequence, source.identity);
  }
}

function* inOrder(head: Buffer, ids: Captured, sources: Buffer, lives: Buffer): Generator<Buffer> {
  yield head;
  yield* ids.pieces();
  if (sources.length > 0) yield sources;
  yield lives;
}
