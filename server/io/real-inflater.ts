/**
 * Inflates messages on the runtime's stream, which does that in its thread pool and a chunk of output at a time: what it
 * has ready and nobody takes holds it up, so a few bytes that inflate to gigabytes cost no memory.
 *
 *     write ──► stream ──'data'──► inflated, from a buffer with headroom ──all of it──► taken
 *
 * A message that says that it is the end of the stream ends the stream, and the next one gets a new one. What follows in
 * such a message counts for nothing: it is to be a zero byte.
 */

import { Buffer } from 'node:buffer';
import type { InflateRaw } from 'node:zlib';
import { HEADROOM_BYTES, type Inflater, type InflaterHandler } from './io.ts';

const CHUNK_BYTES = 16 * 1024;
/** What RFC 7692 takes away from the end of each message. */
const TAIL = Buffer.from([0, 0, 0xff, 0xff]);

/** Where all that is inflated is handed over from; made when first needed. */
let area: Buffer | null = null;

class RealInflater implements Inflater {
  private readonly handler: InflaterHandler;
  private stream: InflateRaw | null = null;
  private isLast = false;
  /** The stream has no use any more for what was written last, and has not said so. */
  private isTakenUntold = false;
  private isStopped = false;
  /** The message has ended the stream before its last bytes were written. */
  private hasEnded = false;
  private isClosed = false;

  constructor(handler: InflaterHandler) {
    this.handler = handler;
  }

  write(bytes: Uint8Array, isLast: boolean): void {
    this.isLast = isLast;
    if (this.hasEnded) {
      this.hasEnded = !isLast;
      setImmediate(() => this.took());
      return;
    }
    const stream = (this.stream ??= this.open());
    const taken = (): void => {
      if (this.stream === stream) this.took();
    };
    if (!isLast) {
      stream.write(bytes, taken);
      return;
    }
    stream.write(bytes);
    stream.write(TAIL);
    stream.flush(taken);
  }

  resume(): void {
    if (!this.isStopped) return;
    this.isStopped = false;
    this.stream?.resume();
    setImmediate(() => this.tell());
  }

  close(): void {
    this.isClosed = true;
    this.drop();
  }

  private open(): InflateRaw {
    const stream = process.getBuiltinModule('node:zlib').createInflateRaw({ chunkSize: CHUNK_BYTES });
    stream.on('data', (chunk: Buffer) => this.give(chunk));
    stream.on('end', () => {
      if (this.stream === stream) this.ended();
    });
    stream.on('error', (error) => {
      if (this.stream !== stream || this.isClosed) return;
      this.close();
      this.handler.failed(error);
    });
    return stream;
  }

  private give(chunk: Buffer): void {
    if (this.isClosed) return;
    area ??= Buffer.allocUnsafeSlow(HEADROOM_BYTES + CHUNK_BYTES);
    const bytes = chunk.copy(area, HEADROOM_BYTES);
    if (!this.handler.inflated(area, HEADROOM_BYTES, HEADROOM_BYTES + bytes)) {
      this.isStopped = true;
      this.stream?.pause();
    } else this.tell();
  }

  private took(): void {
    this.isTakenUntold = true;
    this.tell();
  }

  private ended(): void {
    this.drop();
    this.hasEnded = !this.isLast;
    this.took();
  }

  /** Once everything has been handed over. */
  private tell(): void {
    const { stream } = this;
    if (this.isClosed || this.isStopped || !this.isTakenUntold) return;
    if (stream !== null && stream.readableLength > 0) return;
    this.isTakenUntold = false;
    // Each message stands for itself.
    if (this.isLast) stream?.reset();
    this.handler.taken();
  }

  private drop(): void {
    const { stream } = this;
    this.stream = null;
    stream?.destroy();
  }
}

export function openInflater(handler: InflaterHandler): Inflater {
  return new RealInflater(handler);
}
