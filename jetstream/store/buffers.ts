/** Buffers that grow by doubling. */

import { Buffer } from 'node:buffer';

const BYTES_MIN = 1024;

/** A buffer of at least `needed` bytes that begins with the first `used` of this one. */
export function enlarged(buffer: Buffer, used: number, needed: number): Buffer {
  let length = Math.max(buffer.length, BYTES_MIN);
  while (length < needed) length *= 2;
  const larger = Buffer.allocUnsafeSlow(length);
  buffer.copy(larger, 0, 0, used);
  return larger;
}

/** A buffer of exactly `used` bytes that begins with those of this one. */
export function trimmed(buffer: Buffer, used: number): Buffer {
  const exact = Buffer.allocUnsafeSlow(used);
  buffer.copy(exact, 0, 0, used);
  return exact;
}
