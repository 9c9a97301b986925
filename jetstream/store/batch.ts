/**
 * What was appended to the commit log together and leaves in one write, and the buffers for that.
 *
 * Bounds: BATCH_BYTES_MAX a batch; BUFFERS_KEPT buffers are kept for the next ones.
 */

import { Buffer } from 'node:buffer';
import type { Coverage } from './coverage.ts';
import { FRAME_BYTES_MAX } from './frame.ts';

/** Every frame fits into a batch. */
export const BATCH_BYTES_MAX: number = FRAME_BYTES_MAX;
const BYTES_FIRST = 64 * 1024;
const BUFFERS_KEPT = 3;

/** Whoever appends frames. */
export interface LogParticipant {
  /** Position of the last batch it took part in; the log's own note. */
  joinedLsn: number;
  /** Position behind its last frame; the log's own note. */
  lastLsn: number;
  /** What of the log it still needs. */
  readonly coverage: Coverage;
  /** Its frames so far lie below this position and leave together. */
  sealed(lsn: number): void;
  /** Everything below this position is durable. */
  durable(lsn: number): void;
  /** The log is closed while the disk fails: what of its frames is not durable never will be. */
  abandoned(): void;
}

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
