/**
 * A bucket of bytes that fills at a steady rate: a message may go when its bytes are in it. It begins full and holds as
 * much as the largest message, so that a limit never delays a single message after a pause.
 */

const MS_PER_SECOND = 1000;
const BITS_PER_BYTE = 8;

export class RateLimit {
  private readonly bytesPerMs: number;
  private readonly sizeBytes: number;
  private bytes: number;
  private filledAtMs: number;

  /** `nowMs` and all later times are monotonic milliseconds. */
  constructor(bitsPerSecond: number, sizeBytes: number, nowMs: number) {
    this.bytesPerMs = Math.floor(bitsPerSecond / BITS_PER_BYTE) / MS_PER_SECOND;
    this.sizeBytes = sizeBytes;
    this.bytes = sizeBytes;
    this.filledAtMs = nowMs;
  }

  /** Takes the bytes of a message and answers 0, or the milliseconds after which they will be there. */
  take(bytes: number, nowMs: number): number {
    this.bytes = Math.min(this.sizeBytes, this.bytes + (nowMs - this.filledAtMs) * this.bytesPerMs);
    this.filledAtMs = nowMs;
    // What never fits is let through by a full bucket.
    const missing = Math.min(bytes, this.sizeBytes) - this.bytes;
    if (missing > 0) return missing / this.bytesPerMs;
    this.bytes -= bytes;
    return 0;
  }
}
