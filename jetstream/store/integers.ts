/**
 * Little-endian integers in buffers, as all files of the store have them: 16, 32, 48 and 64 bits. 48 bits hold every
 * sequence and second that there will be (2^48 - 1 = 281,474,976,710,655). Log positions count bytes and have 64 bits, of
 * which a `number` holds 53: 100 MB a second for 2.8 years.
 */

import type { Buffer } from 'node:buffer';

const TWO_32 = 0x1_0000_0000;

export function put16(out: Buffer, at: number, value: number): void {
  out[at] = value;
  out[at + 1] = value >>> 8;
}

export function put32(out: Buffer, at: number, value: number): void {
  out[at] = value;
  out[at + 1] = value >>> 8;
  out[at + 2] = value >>> 16;
  out[at + 3] = value >>> 24;
}

export function put48(out: Buffer, at: number, value: number): void {
  put32(out, at, value >>> 0);
  put16(out, at + 4, (value / TWO_32) >>> 0);
}

export function put64(out: Buffer, at: number, value: number): void {
  put32(out, at, value >>> 0);
  put32(out, at + 4, Math.floor(value / TWO_32));
}

export function get16(buffer: Buffer, at: number): number {
  return (buffer[at] as number) | ((buffer[at + 1] as number) << 8);
}

export function get32(buffer: Buffer, at: number): number {
  return (
    ((buffer[at] as number) |
      ((buffer[at + 1] as number) << 8) |
      ((buffer[at + 2] as number) << 16) |
      ((buffer[at + 3] as number) << 24)) >>>
    0
  );
}

export function get48(buffer: Buffer, at: number): number {
  return get32(buffer, at) + get16(buffer, at + 4) * TWO_32;
}

export function get64(buffer: Buffer, at: number): number {
  return get32(buffer, at) + get32(buffer, at + 4) * TWO_32;
}
