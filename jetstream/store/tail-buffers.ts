/**
 * The memory for what a block collects before it is written, and for what is read from it. A buffer of full size is used again: an engine that
 * allocates a quarter of a megabyte for every thousand messages spends its time collecting them.
 *
 *     grow ─► tail ─full─► being written ─┐
 *                                         ├─► window of the cache ─evicted─► give ─► grow, take
 *     take ─► being read ─────────────────┘
 *
 * Bound: SPARE_MAX buffers are kept for later.
 */

import { Buffer } from 'node:buffer';
import { enlarged } from './buffers.ts';

/** Up to this a tail grows by doubling; most streams are small. */
const SMALL_BYTES = 32 * 1024;
const SPARE_MAX = 4;

export class TailBuffers {
  private readonly fullBytes: number;
  private readonly spare: Buffer[] = [];

  constructor(fullBytes: number) {
    this.fullBytes = fullBytes;
  }

  /** A buffer of at least `needed` bytes that begins with the first `used` of `buffer`. */
  grow(buffer: Buffer, used: number, needed: number): Buffer {
    if (needed <= SMALL_BYTES || needed > this.fullBytes) return enlarged(buffer, used, needed);
    const full = this.full();
    buffer.copy(full, 0, 0, used);
    return full;
  }

  /** A buffer of at least so many bytes, whatever is in them. */
  take(bytes: number): Buffer {
    return bytes <= SMALL_BYTES || bytes > this.fullBytes ? Buffer.allocUnsafeSlow(bytes) : this.full();
  }

  private full(): Buffer {
    return this.spare.pop() ?? Buffer.allocUnsafeSlow(this.fullBytes);
  }

  /** Keeps none for later. */
  clear(): void {
    this.spare.length = 0;
  }

  /** Nobody refers to the buffer any more, also not further up in this call. */
  give(buffer: Buffer): void {
    if (buffer.length === this.fullBytes && this.spare.length < SPARE_MAX) this.spare.push(buffer);
  }
}
