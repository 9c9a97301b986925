/**
 * The message ids of a stream's duplicate window, oldest first. Made for a million of them: chunks of numbers and bytes in
 * a row, and a hash table of places in them. Chunks come and go whole, so that nothing is ever copied as a whole and
 * memory is given back when ids are forgotten.
 *
 *     chunks   │ oldest ids … │ … │ … │ … newest │      `dedup-chunk.ts`
 *     slots    hash ──► place                            `dedup-slots.ts`
 *     place    number of the chunk, modulo CHUNKS_MAX, and index in it
 *
 * Ids are remembered when they are appended, so that a repeat of a message on its way is known too. Times are those of a
 * clock that never jumps, `window-clock.ts`.
 *
 * Bound: what comes in one window; at most CHUNKS_MAX chunks, two billion ids.
 */

import { Buffer } from 'node:buffer';
import { hashBytes } from '../../server/subject/subject-hash.ts';
import { type Captured, PIECE_BYTES } from '../store/captured.ts';
import { CHUNK_IDS, DedupChunk, DedupReader } from './dedup-chunk.ts';
import { DedupSlots } from './dedup-slots.ts';

const CHUNKS_MAX = 2 ** 22;
const SPARE_CHUNKS = 2;
/** In front of the chunks in a checkpoint: what its times have to be raised by. */
const SHIFT_BYTES = 8;
/** Sequence of an entry whose id was remembered anew. */
const SUPERSEDED = 0;
const ID_BYTES_MAX = 65_535;

export class DedupWindow {
  private readonly chunks: DedupChunk[] = [];
  private readonly spare: DedupChunk[] = [];
  /** Number of the first chunk, and the index in it of the oldest entry. */
  private firstChunk = 0;
  private head = 0;
  private readonly slots: DedupSlots = new DedupSlots({ hash: (place) => this.hashAt(place) });
  /** The id that is looked for, its bytes and its hash. */
  private wanted = '';
  private bytes: Buffer = Buffer.allocUnsafe(256);
  private end = 0;
  private hash = 0;
  /** It was looked for in vain, and nothing came since: most ids are added right after that. */
  private isAbsent = false;
  private readonly isWanted = (place: number): boolean =>
    this.chunkAt(place).equals(place % CHUNK_IDS, this.bytes, 0, this.end);

  /** Entries, also those that were remembered anew. */
  size = 0;

  /** The sequence under which the id was stored at or after `sinceMs`, 0 when it was not. */
  find(id: string, sinceMs: number): number {
    this.look(id);
    const place = this.slots.find(this.hash, this.isWanted);
    this.isAbsent = place < 0;
    if (this.isAbsent) return 0;
    const chunk = this.chunkAt(place);
    const index = place % CHUNK_IDS;
    return (chunk.times[index] as number) < sinceMs ? 0 : (chunk.sequences[index] as number);
  }

  /** Remembers an id that is not in the window. One that is, but too old to count, is found no more. */
  add(id: string, sequence: number, timeMs: number): void {
    if (id.length > ID_BYTES_MAX) return;
    if (!this.isAbsent || id !== this.wanted) {
      this.look(id);
      this.supersede();
    }
    this.isAbsent = false;
    this.append(sequence, timeMs);
  }

  /** Forgets the ids that were remembered before `timeMs`. At most `limit`; true when there may be more. */
  expire(timeMs: number, limit: number): boolean {
    for (let i = 0; i < limit; i++) {
      if (this.size === 0 || this.oldestMs >= timeMs) return false;
      this.dropOldest();
    }
    return true;
  }

  /** When the oldest id was remembered. */
  private get oldestMs(): number {
    return (this.chunks[0] as DedupChunk).times[this.head] as number;
  }

  /** The entries with a sequence up to `lastSequence`, for a checkpoint; their times are to be raised by `shiftMs`. */
  capture(lastSequence: number, shiftMs = 0): Captured {
    const ranges: ChunkRange[] = [];
    let bytes = SHIFT_BYTES;
    for (const [at, chunk] of this.chunks.entries()) {
      const from = at === 0 ? this.head : 0;
      let to = chunk.size;
      while (to > from && !isUpTo(chunk.sequences[to - 1] as number, lastSequence)) to--;
      if (to === from) continue;
      ranges.push({ chunk, from, to });
      chunk.isCaptured = true;
      bytes += chunk.encodedBytes(from, to);
    }
    return { bytes, pieces: () => encodeRanges(ranges, shiftMs) };
  }

  /** Takes over the entries of a checkpoint, of which each id is there once; there are no others yet. */
  *decode(encoded: Buffer): Generator<void> {
    if (encoded.length === 0) return;
    const reader = new DedupReader(encoded, SHIFT_BYTES);
    this.slots.reserve(reader.count());
    for (const chunk of reader.chunks(encoded.readDoubleLE(0))) {
      this.chunks.push(chunk);
      this.size += chunk.size;
      for (let i = 0; i < chunk.size; i++) {
        if (chunk.sequences[i] === SUPERSEDED) continue;
        this.slots.add(chunk.hashes[i] as number, this.placeOf(this.chunks.length - 1, i));
      }
      yield;
    }
  }

  /** Makes `id` the one that is looked for. */
  private look(id: string): void {
    if (id.length > this.bytes.length) this.bytes = Buffer.allocUnsafe(Math.max(id.length, this.bytes.length * 2));
    this.wanted = id;
    this.end = this.bytes.write(id, 0, 'latin1');
    this.hash = hashBytes(this.bytes, 0, this.end, 0);
  }

  /** The entry that the wanted id may have counts no more. */
  private supersede(): void {
    const before = this.slots.find(this.hash, this.isWanted);
    if (before < 0) return;
    this.chunkAt(before).sequences[before % CHUNK_IDS] = SUPERSEDED;
    this.slots.remove(before);
  }

  private append(sequence: number, timeMs: number): void {
    let last = this.chunks.at(-1) ?? null;
    if (last === null || last.isFull) {
      last = this.spare.pop() ?? new DedupChunk(last);
      this.chunks.push(last);
    }
    const index = last.add(this.bytes, 0, this.end, this.hash, sequence, timeMs);
    this.size++;
    this.slots.add(this.hash, this.placeOf(this.chunks.length - 1, index));
  }

  private dropOldest(): void {
    const chunk = this.chunks[0] as DedupChunk;
    if (chunk.sequences[this.head] !== SUPERSEDED) this.slots.remove(this.placeOf(0, this.head));
    this.size--;
    this.head++;
    if (this.head < chunk.size && this.size > 0) return;
    this.chunks.shift();
    this.firstChunk = (this.firstChunk + 1) % CHUNKS_MAX;
    this.head = 0;
    if (this.spare.length === SPARE_CHUNKS || chunk.isCaptured) return;
    chunk.clear();
    this.spare.push(chunk);
  }

  /** `at`: where among the chunks. */
  private placeOf(at: number, index: number): number {
    return ((this.firstChunk + at) % CHUNKS_MAX) * CHUNK_IDS + index;
  }

  private chunkAt(place: number): DedupChunk {
    const number = Math.floor(place / CHUNK_IDS);
    return this.chunks[(number - this.firstChunk + CHUNKS_MAX) % CHUNKS_MAX] as DedupChunk;
  }

  private hashAt(place: number): number {
    return this.chunkAt(place).hashes[place % CHUNK_IDS] as number;
  }
}

interface ChunkRange {
  readonly chunk: DedupChunk;
  readonly from: number;
  readonly to: number;
}

/** What happens to the ids meanwhile changes nothing: one that is remembered anew is too old to count. */
function* encodeRanges(ranges: readonly ChunkRange[], shiftMs: number): Generator<Buffer> {
  let out = Buffer.allocUnsafeSlow(PIECE_BYTES);
  let end = out.writeDoubleLE(shiftMs, 0);
  for (const { chunk, from, to } of ranges) {
    const bytes = chunk.encodedBytes(from, to);
    if (end + bytes > out.length) {
      yield out.subarray(0, end);
      if (bytes > out.length) out = Buffer.allocUnsafeSlow(bytes);
      end = 0;
    }
    end = chunk.encode(out, end, from, to);
  }
  yield out.subarray(0, end);
}

/** Whether an entry is to be kept that stands in front of those behind `lastSequence`. */
function isUpTo(sequence: number, lastSequence: number): boolean {
  return sequence !== SUPERSEDED && sequence <= lastSequence;
}
