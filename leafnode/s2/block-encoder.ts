/**
 * Makes blocks of S2 (their layout: block-decoder.ts), in one pass and greedily:
 *
 *     a table of 2^14 entries holds where a hash of six bytes was seen last. Where the bytes at hand were seen at most
 *     65,535 back, what came in between goes out as a literal, and as much as is equal as a copy. The offset of the last
 *     copy is tried too, since records of one shape are equal at one distance again and again.
 *
 * A step looks at three positions, whose hashes come from the same eight bytes, and goes on by four. Where nothing is
 * found, steps grow, and bytes that don't compress cost little. Behind a copy each position is tried for a while, since
 * more is found there than elsewhere.
 *
 * Positions in the table count on from block to block, so that it is not cleared for each: an entry from an earlier
 * block is one below the block's base.
 *
 * A block that would not be at least 1/32 smaller than its content is given up. Bounds: one table of 64 KiB for all.
 */

import type { Buffer } from 'node:buffer';
import { LITERAL_START_BYTES_MAX, writeContentLength, writeCopy, writeLiteral, writeRepeat } from './block-tags.ts';
import { equalUntil, viewOf } from './words.ts';

const TABLE_BITS = 14;
const HASH_SHIFT = 32 - TABLE_BITS;
const OFFSET_MAX = 65_535;
/** Of a copy; and so many bytes before the end nothing is looked for. */
const MATCH_BYTES_MIN = 4;
const TAIL_BYTES = 16;
/** Content below this is not looked at. */
const CONTENT_BYTES_MIN = 32;
const STEP_BYTES = 4;
const SKIP_SHIFT = 6;
/** No position is 0, which is what an empty entry holds. */
const FIRST_BASE = 1;
const BASE_MAX = 0x40000000;

class BlockEncoder {
  private readonly seen: Int32Array = new Int32Array(1 << TABLE_BITS);
  private nextBase = FIRST_BASE;
  /** What is added to a position for the table. */
  private base = 0;
  private start = 0;
  /** Where `find` stops. */
  private last = 0;
  /** Where the bytes were seen that `find` has found. */
  private from = 0;

  /** The offset behind the tags in `target`; `limit` is passed by at most what one tag takes. */
  writeTags(source: Buffer, start: number, end: number, target: Buffer, at: number, limit: number): number {
    const view = viewOf(source);
    this.begin(start, end);
    let w = at;
    let literalStart = start;
    let repeat = 0;
    for (
      let s = this.find(view, start + 1, start, repeat);
      s >= 0;
      s = this.find(view, literalStart, literalStart, repeat)
    ) {
      let { from } = this;
      while (s > literalStart && from > start && source[s - 1] === source[from - 1]) {
        s--;
        from--;
      }
      if (s > literalStart) {
        if (w + (s - literalStart) + LITERAL_START_BYTES_MAX > limit) return limit + 1;
        w = writeLiteral(source, literalStart, s, target, w);
      }
      const offset = s - from;
      const matchEnd = equalUntil(view, s + MATCH_BYTES_MIN, from + MATCH_BYTES_MIN, end);
      if (offset === repeat) w = writeRepeat(target, w, offset, matchEnd - s);
      else w = writeCopy(target, w, offset, matchEnd - s);
      if (w > limit) return w;
      repeat = offset;
      literalStart = matchEnd;
    }
    if (literalStart === end) return w;
    if (w + (end - literalStart) + LITERAL_START_BYTES_MAX > limit) return limit + 1;
    return writeLiteral(source, literalStart, end, target, w);
  }

  private begin(start: number, end: number): void {
    if (this.nextBase + end - start > BASE_MAX) {
      this.seen.fill(0);
      this.nextBase = FIRST_BASE;
    }
    this.base = this.nextBase - start;
    this.nextBase += end - start;
    this.start = start;
    this.last = end - TAIL_BYTES;
  }

  /**
   * Where the first four bytes from `at` on stand that were seen before, and in `from` where; -1 when there are none.
   * Nothing has been found since `literalStart`.
   */
  private find(view: DataView, at: number, literalStart: number, repeat: number): number {
    const { seen, base, start, last } = this;
    for (let s = at; s < last; s += STEP_BYTES + ((s - literalStart) >>> SKIP_SHIFT)) {
      const low = view.getInt32(s, true);
      const high = view.getInt32(s + 4, true);
      const slot0 = hashOf(low, high);
      const from0 = (seen[slot0] as number) - base;
      seen[slot0] = s + base;
      const low1 = (low >>> 8) | (high << 24);
      const slot1 = hashOf(low1, high >>> 8);
      const from1 = (seen[slot1] as number) - base;
      seen[slot1] = s + 1 + base;
      if (repeat > 0 && view.getInt32(s + 1 - repeat, true) === low1) return this.found(s + 1, s + 1 - repeat);
      if (from0 >= start && s - from0 <= OFFSET_MAX && view.getInt32(from0, true) === low) return this.found(s, from0);
      if (from1 >= start && s + 1 - from1 <= OFFSET_MAX && view.getInt32(from1, true) === low1) {
        return this.found(s + 1, from1);
      }
      const low2 = (low >>> 16) | (high << 16);
      const slot2 = hashOf(low2, high >>> 16);
      const from2 = (seen[slot2] as number) - base;
      seen[slot2] = s + 2 + base;
      if (from2 >= start && s + 2 - from2 <= OFFSET_MAX && view.getInt32(from2, true) === low2) {
        return this.found(s + 2, from2);
      }
    }
    return -1;
  }

  private found(s: number, from: number): number {
    this.from = from;
    return s;
  }
}

let encoder: BlockEncoder | null = null;

/** Encodes `source[start, end)` from `target[at]` on; the offset behind the block, or -1 when it would not pay. */
export function encodeBlock(source: Buffer, start: number, end: number, target: Buffer, at: number): number {
  const length = end - start;
  if (length < CONTENT_BYTES_MIN) return -1;
  const limit = at + length - (length >>> 5);
  const tags = writeContentLength(target, at, length);
  encoder ??= new BlockEncoder();
  const written = encoder.writeTags(source, start, end, target, tags, limit);
  return written > limit ? -1 : written;
}

/** Of six bytes: four in `low`, and the two lowest of `high`. */
function hashOf(low: number, high: number): number {
  return (Math.imul(low, 0x9e3779b1) ^ Math.imul(high & 0xffff, 0x85ebca6b)) >>> HASH_SHIFT;
}
