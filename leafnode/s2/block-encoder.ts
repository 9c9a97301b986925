/**
 * Makes blocks of S2 (their layout: block-decoder.ts), in one pass and greedily:
 *
 *     a table of 2^14 entries holds where a hash of six bytes was seen last. Where the bytes at hand were seen at most
 *     65,535 back, what came in between goes out as a literal, and as much as is equal as a copy. The offset of the last
 *     copy is tried first, since records of one shape are equal at one distance again and again.
 *
 * Positions in the table count on from block to block, so that it is not cleared for each: an entry from an earlier
 * block is one below the block's base. Where nothing is found, steps grow, and bytes that don't compress cost little.
 *
 * A block that would not be at least 1/32 smaller than its content is given up. Bounds: one table of 64 KiB for all.
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

const TABLE_BITS = 14;
const HASH_SHIFT = 32 - TABLE_BITS;
const OFFSET_MAX = 65_535;
/** Of a copy; and so many bytes before the end nothing is looked for. */
const MATCH_BYTES_MIN = 4;
const TAIL_BYTES = 10;
/** Content below this is not looked at. */
const CONTENT_BYTES_MIN = 32;
const SKIP_SHIFT = 5;
/** No position is 0, which is what an empty entry holds. */
const FIRST_BASE = 1;
const BASE_MAX = 0x40000000;

let table: Int32Array | null = null;
let nextBase = FIRST_BASE;

/** Encodes `source[start, end)` from `target[at]` on; the offset behind the block, or -1 when it would not pay. */
export function encodeBlock(source: Buffer, start: number, end: number, target: Buffer, at: number): number {
  const length = end - start;
  if (length < CONTENT_BYTES_MIN) return -1;
  const limit = at + length - (length >>> 5);
  const out = writeContentLength(target, at, length);
  const written = writeTags(source, start, end, target, out, limit);
  return written > limit ? -1 : written;
}

/** `limit` is passed by at most what one tag takes. */
function writeTags(source: Buffer, start: number, end: number, target: Buffer, at: number, limit: number): number {
  const seen = (table ??= new Int32Array(1 << TABLE_BITS));
  // What is added to a position for the table.
  const base = claimBase(seen, end - start) - start;
  const last = end - TAIL_BYTES;
  let w = at;
  let s = start + 1;
  let literalStart = start;
  let repeat = 0;
  while (s < last) {
    const low = readWord(source, s);
    const slot = hashOf(low, source, s);
    const candidate = (seen[slot] as number) - base;
    seen[slot] = s + base;
    let from = -1;
    if (repeat > 0 && readWord(source, s + 1 - repeat) === readWord(source, s + 1)) {
      s++;
      from = s - repeat;
    } else if (candidate >= start && s - candidate <= OFFSET_MAX && readWord(source, candidate) === low)
      from = candidate;
    if (from < 0) {
      s += 1 + ((s - literalStart) >>> SKIP_SHIFT);
      continue;
    }
    while (s > literalStart && from > start && source[s - 1] === source[from - 1]) {
      s--;
      from--;
    }
    if (s > literalStart) {
      if (w + (s - literalStart) + LITERAL_START_BYTES_MAX > limit) return limit + 1;
      w = writeLiteral(source, literalStart, s, target, w);
    }
    const offset = s - from;
    const matchStart = s;
    s += MATCH_BYTES_MIN;
    from += MATCH_BYTES_MIN;
    while (s < end && source[s] === source[from]) {
      s++;
      from++;
    }
    w =
      offset === repeat ? writeRepeat(target, w, offset, s - matchStart) : writeCopy(target, w, offset, s - matchStart);
    if (w > limit) return w;
    repeat = offset;
    literalStart = s;
    if (s < last) {
      const behind = s - 2;
      seen[hashOf(readWord(source, behind), source, behind)] = behind + base;
    }
  }
  if (literalStart === end) return w;
  return w + (end - literalStart) + LITERAL_START_BYTES_MAX > limit
    ? limit + 1
    : writeLiteral(source, literalStart, end, target, w);
}

/** Positions for so many bytes that none before had. */
function claimBase(seen: Int32Array, length: number): number {
  if (nextBase + length > BASE_MAX) {
    seen.fill(0);
    nextBase = FIRST_BASE;
  }
  const base = nextBase;
  nextBase += length;
  return base;
}

/** Of six bytes, the first four of which are `low`. */
function hashOf(low: number, source: Buffer, at: number): number {
  const high = (source[at + 4] as number) | ((source[at + 5] as number) << 8);
  return (Math.imul(low, 0x9e3779b1) ^ Math.imul(high, 0x85ebca6b)) >>> HASH_SHIFT;
}
