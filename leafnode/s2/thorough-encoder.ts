/**
 * Makes blocks of S2 that are smaller than those of block-encoder.ts, at several times the cost. Every position is known
 * by a hash of its four bytes: the last one from a table, the one before each from a chain.
 *
 *     table ──hash──► last position ──chain──► the one before ──chain──► …      at most DEPTH of them are looked at
 *
 * The longest copy is taken, unless the next position has one that is longer by more than a byte: then the byte at hand
 * goes out as it is. The offset of the last copy comes first, since repeating it takes less.
 *
 * It is for content of CONTENT_BYTES_MAX: with more, a turn would be too long. As there, positions count on from block to
 * block, so that nothing is cleared. Bounds: 320 KiB of tables for all, made when they are first needed.
 */

import type { Buffer } from 'node:buffer';
import {
  LITERAL_START_BYTES_MAX,
  readWord,
  writeContentLength,
  writeCopy,
  writeLiteral,
  writeRepeat,
} from './block-tags.ts';

export const CONTENT_BYTES_MAX = 65_536;
const CONTENT_BYTES_MIN = 32;
const TABLE_BITS = 14;
const HASH_SHIFT = 32 - TABLE_BITS;
const DEPTH = 24;
const MATCH_BYTES_MIN = 4;
/** From here on a copy takes three bytes, so that one of four saves nothing. */
const FAR_OFFSET = 2048;
/** A copy of so many bytes is long enough not to look further. */
const MATCH_BYTES_GOOD = 96;
const TAIL_BYTES = 10;
const FIRST_BASE = 1;
const BASE_MAX = 0x40000000;

class ThoroughEncoder {
  /** Where the bytes of a hash were last, and before that, by position in the block; counted from `base`. */
  private readonly table: Int32Array = new Int32Array(1 << TABLE_BITS);
  private readonly chain: Int32Array = new Int32Array(CONTENT_BYTES_MAX);
  private nextBase = FIRST_BASE;
  private base = 0;
  private source: Buffer;
  private start = 0;
  private end = 0;
  /** What was found last. */
  private matchLength = 0;
  private matchOffset = 0;

  constructor(source: Buffer) {
    this.source = source;
  }

  /** The offset behind the tags in `target`, or more than `limit` when they would pass it. */
  writeTags(source: Buffer, start: number, end: number, target: Buffer, at: number, limit: number): number {
    this.begin(source, start, end);
    const last = end - TAIL_BYTES;
    let w = at;
    let s = start;
    let literalStart = start;
    let repeat = 0;
    while (s < last) {
      if (!this.find(s, repeat)) {
        this.insert(s++);
        continue;
      }
      s = this.improve(s, last, repeat);
      const { matchLength, matchOffset } = this;
      if (w + (s - literalStart) + LITERAL_START_BYTES_MAX > limit) return limit + 1;
      if (s > literalStart) w = writeLiteral(source, literalStart, s, target, w);
      w = (matchOffset === repeat ? writeRepeat : writeCopy)(target, w, matchOffset, matchLength);
      if (w > limit) return w;
      repeat = matchOffset;
      const behind = s + matchLength;
      for (; s < behind && s < last; s++) this.insert(s);
      s = behind;
      literalStart = behind;
    }
    if (literalStart === end) return w;
    if (w + (end - literalStart) + LITERAL_START_BYTES_MAX > limit) return limit + 1;
    return writeLiteral(source, literalStart, end, target, w);
  }

  private begin(source: Buffer, start: number, end: number): void {
    if (this.nextBase + end - start > BASE_MAX) {
      this.table.fill(0);
      this.nextBase = FIRST_BASE;
    }
    this.source = source;
    this.start = start;
    this.end = end;
    this.base = this.nextBase - start;
    this.nextBase += end - start;
  }

  /** Goes on by single bytes as long as that leads to longer copies. */
  private improve(at: number, last: number, repeat: number): number {
    let s = at;
    while (s + 1 < last && this.matchLength < MATCH_BYTES_GOOD) {
      const { matchLength, matchOffset } = this;
      this.insert(s);
      if (this.find(s + 1, repeat) && this.matchLength > matchLength + 1) s++;
      else {
        this.matchLength = matchLength;
        this.matchOffset = matchOffset;
        return s;
      }
    }
    return s;
  }

  private insert(s: number): void {
    const slot = hashOf(readWord(this.source, s));
    const position = s + this.base;
    const before = this.table[slot] as number;
    if (before === position) return;
    this.chain[s - this.start] = before;
    this.table[slot] = position;
  }

  /** Looks for the longest copy for what stands at `s`; false when there is none that saves anything. */
  private find(s: number, repeat: number): boolean {
    const { source, start, base, chain } = this;
    const word = readWord(source, s);
    let best = MATCH_BYTES_MIN - 1;
    let offset = 0;
    if (repeat > 0 && s - repeat >= start && readWord(source, s - repeat) === word) {
      best = this.equalBytes(s, s - repeat);
      offset = repeat;
    }
    let position = (this.table[hashOf(word)] as number) - base;
    for (let steps = 0; steps < DEPTH && position >= start && best < MATCH_BYTES_GOOD; steps++) {
      if (source[position + best] === source[s + best] && readWord(source, position) === word && position < s) {
        const length = this.equalBytes(s, position);
        const isFar = s - position >= FAR_OFFSET;
        // A copy that repeats takes less than one that does not.
        if (length > best + (offset === repeat && offset > 0 ? 1 : 0) && (!isFar || length > MATCH_BYTES_MIN)) {
          best = length;
          offset = s - position;
        }
      }
      position = (chain[position - start] as number) - base;
    }
    this.matchLength = best;
    this.matchOffset = offset;
    return offset > 0;
  }

  private equalBytes(s: number, from: number): number {
    const { source, end } = this;
    let length = MATCH_BYTES_MIN;
    while (s + length < end && source[s + length] === source[from + length]) length++;
    return length;
  }
}

let encoder: ThoroughEncoder | null = null;

/** Encodes `source[start, end)` from `target[at]` on; the offset behind the block, or -1 when it would not pay. */
export function encodeBlockThoroughly(source: Buffer, start: number, end: number, target: Buffer, at: number): number {
  const length = end - start;
  if (length < CONTENT_BYTES_MIN) return -1;
  const limit = at + length - (length >>> 5);
  const tags = writeContentLength(target, at, length);
  encoder ??= new ThoroughEncoder(source);
  const written = encoder.writeTags(source, start, end, target, tags, limit);
  return written > limit ? -1 : written;
}

function hashOf(word: number): number {
  return Math.imul(word, 0x9e3779b1) >>> HASH_SHIFT;
}
