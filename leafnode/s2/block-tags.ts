/**
 * The tags of a block (their layout: block-decoder.ts) as encoders write them. Offsets of copies are at most 65,535, so
 * that none needs four bytes.
 */

import type { Buffer } from 'node:buffer';

const LOOP_BYTES_MAX = 32;
/** Of a literal, before its bytes. */
export const LITERAL_START_BYTES_MAX = 4;

/** Four bytes, to be compared. */
export function readWord(source: Buffer, at: number): number {
  return (
    (source[at] as number) |
    ((source[at + 1] as number) << 8) |
    ((source[at + 2] as number) << 16) |
    ((source[at + 3] as number) << 24)
  );
}

export function writeContentLength(target: Buffer, at: number, length: number): number {
  let w = at;
  let rest = length;
  for (; rest >= 0x80; rest >>>= 7) target[w++] = (rest & 0x7f) | 0x80;
  target[w++] = rest;
  return w;
}

export function writeLiteral(source: Buffer, start: number, end: number, target: Buffer, at: number): number {
  const length = end - start;
  let w = at;
  const less = length - 1;
  if (less < 60) target[w++] = less << 2;
  else {
    const extra = less < 0x100 ? 1 : less < 0x10000 ? 2 : 3;
    target[w++] = (59 + extra) << 2;
    for (let i = 0; i < extra; i++) target[w++] = (less >>> (8 * i)) & 0xff;
  }
  if (length > LOOP_BYTES_MAX) source.copy(target, w, start, end);
  else for (let i = 0; i < length; i++) target[w + i] = source[start + i] as number;
  return w + length;
}

/** A copy of at least four bytes. */
export function writeCopy(target: Buffer, at: number, offset: number, length: number): number {
  if (length < 12 && offset < 2048) {
    target[at] = ((offset >>> 8) << 5) | ((length - 4) << 2) | 1;
    target[at + 1] = offset & 0xff;
    return at + 2;
  }
  if (length <= 64) return writeCopy2(target, at, offset, length);
  // The rest is a repeat, of at least four bytes.
  return writeRepeat(target, writeCopy2(target, at, offset, 60), offset, length - 60);
}

function writeCopy2(target: Buffer, at: number, offset: number, length: number): number {
  target[at] = ((length - 1) << 2) | 2;
  target[at + 1] = offset & 0xff;
  target[at + 2] = offset >>> 8;
  return at + 3;
}

/** A copy from the offset of the last one, of at least four bytes. */
export function writeRepeat(target: Buffer, at: number, offset: number, length: number): number {
  let w = at;
  const less = length - 4;
  if (less <= 4) {
    target[w++] = (less << 2) | 1;
    target[w++] = 0;
    return w;
  }
  if (less < 8 && offset < 2048) return writeCopy(target, w, offset, length);
  const extra = less < 260 ? 1 : less < 65_792 ? 2 : 3;
  const value = less - (extra === 1 ? 4 : extra === 2 ? 256 : 65_536);
  target[w++] = ((4 + extra) << 2) | 1;
  target[w++] = 0;
  for (let i = 0; i < extra; i++) target[w++] = (value >>> (8 * i)) & 0xff;
  return w;
}
