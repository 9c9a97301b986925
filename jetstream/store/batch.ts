/**
 * What was appended to the commit log together and leaves in one write, and the buffers for that.
 *
 * Bounds: BATCH_BYTES_MAX a batch; BUFFERS_KEPT buffers are kept for the next ones.
 */

import { Buffer } from 'node:buffer';
import type { LogParticipant } from './commit-log.ts';

export const BATCH_BYTES_MAX: number = 512 * 1024;
const BYTES_FIRST = 64 * 1024;
const BUFFERS_KEPT = 3;

export class Batch {
  buffer: Buffer;
  length = 0;
  readonly lsn: number;
  readonly participants: LogParticipant[] = [];

  constructor(buffer: Buffer, lsn: number) {
    this.buffer = buffer;
    this.lsn = lsn;
  }

  /** Position behind the batch. */
  get endLsn(): number {
    return this.lsn + this.length;
  }

  /** Makes room for so many bytes altogether. */
  grow(bytes: number): void {
    let size = this.buffer.length;
    while (size < bytes) size *= 2;
    const grown = Buffer.allocUnsafeSlow(size);
    this.buffer.copy(grown, 0, 0, this.length);
    this.buffer = grown;
  }
}

export class BatchBuffers {
  private readonly spare: Buffer[] = [];

  take(): Buffer {
    return this.spare.pop() ?? Buffer.allocUnsafeSlow(BYTES_FIRST);
  }

  clear(): void {
    this.spare.length = 0;
  }

  give(buffer: Buffer): void {
    if (this.spare.length < BUFFERS_KEPT) this.spare.push(buffer);
  }
}
