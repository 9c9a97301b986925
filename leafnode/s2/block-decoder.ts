/**
 * Blocks of S2, which are Snappy's and more:
 *
 *     content length, 7 bits a byte, low first │ tag … │ tag … │ …
 *
 *     nnnnnn00                literal of n + 1 bytes, which follow; n 60..63: n - 59 bytes hold the length less one
 *     hhhlll01 oooooooo       copy of l + 4 bytes from h·256 + o bytes back
 *     00lll01 00000000        the same with offset 0: a repeat of the last offset, of l + 4 bytes; l 5, 6, 7: 1, 2, 3
 *                             bytes follow that hold the length less 8, 260, 65,540
 *     nnnnnn10 + 2 bytes      copy of n + 1 bytes from so far back
 *     nnnnnn11 + 4 bytes      copy of n + 1 bytes from so far back
 *
 * A copy may overlap what it makes. A block is right only if it yields exactly the length it announced; whatever else
 * it says is answered with `false`, and neither reads nor writes outside the ranges given.
 */

import type { Buffer } from 'node:buffer';
import { copyBack, viewOf } from './words.ts';

const COPY_1 = 1;
const COPY_2 = 2;
const LITERAL = 0;
const LENGTH_BYTES_MAX = 5;
/** From here on the runtime's copying is faster than a loop. */
const LOOP_BYTES_MAX = 48;

/** What a block's first bytes say. */
export interface Announced {
  contentBytes: number;
  /** Offset of its first tag. */
  tagsStart: number;
}

/** Reads a block's first bytes into `into`; false when they are no length. */
export function readContentLength(source: Buffer, start: number, end: number, into: Announced): boolean {
  let value = 0;
  for (let i = 0; i < LENGTH_BYTES_MAX && start + i < end; i++) {
    const byte = source[start + i] as number;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) {
      into.contentBytes = value;
      into.tagsStart = start + i + 1;
      return true;
    }
  }
  return false;
}

/** Decodes the tags in `source[start, end)` to exactly `target[at, limit)`; false when they are not right. */
export function decodeTags(
  source: Buffer,
  start: number,
  end: number,
  target: Buffer,
  at: number,
  limit: number,
): boolean {
  const view = viewOf(target);
  let s = start;
  let d = at;
  let offset = 0;
  while (s < end) {
    const tag = source[s] as number;
    let length = tag >>> 2;
    const kind = tag & 3;
    if (kind === LITERAL) {
      s++;
      if (length >= 60) {
        const extra = length - 59;
        if (s + extra > end) return false;
        length = readInteger(source, s, extra);
        s += extra;
      }
      length++;
      if (length > limit - d || length > end - s) return false;
      copyLiteral(source, s, length, target, d);
      s += length;
      d += length;
      continue;
    }
    if (kind === COPY_1) {
      if (s + 2 > end) return false;
      length &= 7;
      const distance = ((tag & 0xe0) << 3) | (source[s + 1] as number);
      s += 2;
      if (distance !== 0) offset = distance;
      else if (length > 4) {
        const extra = length - 4;
        if (s + extra > end) return false;
        length = readInteger(source, s, extra) + (extra === 1 ? 4 : extra === 2 ? 256 : 65_536);
        s += extra;
      }
      length += 4;
    } else {
      const extra = kind === COPY_2 ? 2 : 4;
      if (s + 1 + extra > end) return false;
      length++;
      offset = readInteger(source, s + 1, extra);
      s += 1 + extra;
    }
    if (offset === 0 || offset > d - at || length > limit - d) return false;
    copyBack(target, view, d, offset, length);
    d += length;
  }
  return d === limit;
}

function readInteger(source: Buffer, at: number, bytes: number): number {
  let value = source[at] as number;
  if (bytes > 1) value |= (source[at + 1] as number) << 8;
  if (bytes > 2) value |= (source[at + 2] as number) << 16;
  if (bytes > 3) value += (source[at + 3] as number) * 0x1000000;
  return value;
}

function copyLiteral(source: Buffer, start: number, length: number, target: Buffer, at: number): void {
  if (length > LOOP_BYTES_MAX) source.copy(target, at, start, start + length);
  else for (let i = 0; i < length; i++) target[at + i] = source[start + i] as number;
}
