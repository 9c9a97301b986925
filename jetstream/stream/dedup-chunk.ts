/**
 * Some message ids of a duplicate window, in the order in which they came: columns of numbers, and the ids one behind the
 * other.
 *
 *     index        0        1        2   …       in a checkpoint   u32 ids, u32 bytes of them, u32 where they begin
 *     hash         i32      i32      i32                           times and sequences, f64 each
 *     sequence     f64      f64      f64                           ends, u32 each
 *     time         f64      f64      f64                           the ids
 *     end          u32      u32      u32   of the id in the bytes
 *     bytes        │ id 0 │ id 1    │ id 2 │
 */

import { Buffer } from 'node:buffer';
import { hashBytes } from '../../server/subject/subject-hash.ts';
import { get32, put32 } from '../store/integers.ts';

export const CHUNK_IDS = 512;
const BYTES_MIN = 1024;
/** Ids are about as long as those before them: room for so much more than these took is hardly ever too little. */
const SPARE_PART = 16;
const HEAD_BYTES = 12;
const NUMBER_BYTES = 8;
const END_BYTES = 4;

type Column = Float64Array | Uint32Array;

export class DedupChunk {
  readonly hashes: Int32Array = new Int32Array(CHUNK_IDS);
  readonly sequences: Float64Array = new Float64Array(CHUNK_IDS);
  /** Milliseconds. */
  readonly times: Float64Array = new Float64Array(CHUNK_IDS);
  private readonly ends = new Uint32Array(CHUNK_IDS);
  private bytes: Buffer;
  size = 0;
  /** A checkpoint may be encoding what is in it: it is not used again. */
  isCaptured = false;

  /** `before`: a full one whose ids are as long as those that come. */
  constructor(before: DedupChunk | null = null) {
    const bytes = before === null ? 0 : before.start(before.size);
    this.bytes = Buffer.allocUnsafeSlow(Math.max(BYTES_MIN, bytes + Math.ceil(bytes / SPARE_PART)));
  }

  get isFull(): boolean {
    return this.size === CHUNK_IDS;
  }

  /** Adds the id `bytes[start, end)`; its index. */
  add(bytes: Buffer, start: number, end: number, hash: number, sequence: number, timeMs: number): number {
    const at = this.start(this.size);
    const idEnd = at + end - start;
    if (idEnd > this.bytes.length) this.grow(idEnd);
    bytes.copy(this.bytes, at, start, end);
    const index = this.size++;
    this.hashes[index] = hash;
    this.sequences[index] = sequence;
    this.times[index] = timeMs;
    this.ends[index] = idEnd;
    return index;
  }

  /** Whether the id at `index` is `bytes[start, end)`. */
  equals(index: number, bytes: Buffer, start: number, end: number): boolean {
    const from = this.start(index);
    if ((this.ends[index] as number) - from !== end - start) return false;
    for (let i = 0; i < end - start; i++) if (this.bytes[from + i] !== bytes[start + i]) return false;
    return true;
  }

  /** Takes ids anew; the room for their bytes stays unless it is unusually large. */
  clear(): void {
    this.size = 0;
    if (this.bytes.length > CHUNK_IDS * 64) this.bytes = Buffer.allocUnsafeSlow(BYTES_MIN);
  }

  private start(index: number): number {
    return index === 0 ? 0 : (this.ends[index - 1] as number);
  }

  private grow(needed: number): void {
    let length = this.bytes.length;
    while (length < needed) length *= 2;
    const larger = Buffer.allocUnsafeSlow(length);
    this.bytes.copy(larger, 0, 0, this.start(this.size));
    this.bytes = larger;
  }

  // ── checkpoints ──────────────────────────────────────────────────────────────────────────────────────────────────

  encodedBytes(from: number, to: number): number {
    return HEAD_BYTES + (to - from) * (2 * NUMBER_BYTES + END_BYTES) + this.start(to) - this.start(from);
  }

  /** Writes the ids `[from, to)` to `out[at]`; the offset behind them. */
  encode(out: Buffer, at: number, from: number, to: number): number {
    const idsStart = this.start(from);
    const idsEnd = this.start(to);
    put32(out, at, to - from);
    put32(out, at + 4, idsEnd - idsStart);
    put32(out, at + 8, idsStart);
    let next = copyColumn(this.times, from, to, out, at + HEAD_BYTES);
    next = copyColumn(this.sequences, from, to, out, next);
    next = copyColumn(this.ends, from, to, out, next);
    return next + this.bytes.copy(out, next, idsStart, idsEnd);
  }
}

/** What was written by `encode`: one chunk after the other. */
export class DedupReader {
  private readonly encoded: Buffer;
  private readonly from: number;

  constructor(encoded: Buffer, from: number) {
    this.encoded = encoded;
    this.from = from;
  }

  /** How many ids there are. */
  count(): number {
    let ids = 0;
    for (let at = this.from; at < this.encoded.length; at = this.endOf(at)) ids += get32(this.encoded, at);
    return ids;
  }

  /** The chunks that are not empty; the times in them are raised by `shiftMs`. */
  *chunks(shiftMs: number): Generator<DedupChunk> {
    const { encoded } = this;
    for (let at = this.from; at < encoded.length; at = this.endOf(at)) {
      if (get32(encoded, at) > 0) yield this.chunkAt(at, shiftMs);
    }
  }

  private endOf(at: number): number {
    return at + HEAD_BYTES + get32(this.encoded, at) * (2 * NUMBER_BYTES + END_BYTES) + get32(this.encoded, at + 4);
  }

  private chunkAt(at: number, shiftMs: number): DedupChunk {
    const { encoded } = this;
    const count = get32(encoded, at);
    const times = at + HEAD_BYTES;
    const sequences = times + count * NUMBER_BYTES;
    const ends = sequences + count * NUMBER_BYTES;
    const ids = ends + count * END_BYTES;
    const idsStart = get32(encoded, at + 8);
    const chunk = new DedupChunk();
    let start = ids;
    for (let i = 0; i < count; i++) {
      const end = ids + get32(encoded, ends + i * END_BYTES) - idsStart;
      const sequence = encoded.readDoubleLE(sequences + i * NUMBER_BYTES);
      const timeMs = encoded.readDoubleLE(times + i * NUMBER_BYTES) + shiftMs;
      chunk.add(encoded, start, end, hashBytes(encoded, start, end, 0), sequence, timeMs);
      start = end;
    }
    return chunk;
  }
}

function copyColumn(column: Column, from: number, to: number, out: Buffer, at: number): number {
  const { buffer, byteOffset, BYTES_PER_ELEMENT: bytes } = column;
  const view = Buffer.from(buffer as ArrayBuffer, byteOffset + from * bytes, (to - from) * bytes);
  return at + view.copy(out, at);
}
