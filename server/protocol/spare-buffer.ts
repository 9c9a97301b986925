/**
 * One buffer at hand for what has to be encoded before it is written. It is in use until the write is done; most writes
 * are done at once, so nearly all of them share it, and only who comes meanwhile gets a new one. The largest of at most
 * 1 MiB that comes back is kept.
 */

import { Buffer } from 'node:buffer';

const BYTES_MIN = 4096;
const KEPT_BYTES_MAX = 1024 * 1024;

export const NO_BYTES: Buffer = Buffer.alloc(0);

export class SpareBuffer {
  private spare: Buffer = NO_BYTES;

  /** At least so many bytes, of no particular content, until they are given back. */
  take(bytes: number): Buffer {
    const { spare } = this;
    if (spare.length >= bytes) {
      this.spare = NO_BYTES;
      return spare;
    }
    let size = BYTES_MIN;
    while (size < bytes) size *= 2;
    return Buffer.allocUnsafeSlow(size);
  }

  /** Not in use any more. */
  give(buffer: Buffer): void {
    if (buffer.length > this.spare.length && buffer.length <= KEPT_BYTES_MAX) this.spare = buffer;
  }
}
