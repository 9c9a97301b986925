/**
 * The messages of an atomic batch before its commit, copied one behind the other into chunks:
 *
 *     u16 subject bytes │ u32 header bytes │ u32 header and payload bytes │ subject │ header block │ payload
 *
 * A message lies in one chunk; chunks grow from CHUNK_BYTES_MIN to CHUNK_BYTES_MAX, or to what one message needs. Nothing
 * of this is on the disk: a batch whose commit nobody has acknowledged is gone with the process.
 */

import { Buffer } from 'node:buffer';
import { Message } from '../../server/protocol/message.ts';
import { copyBytes } from '../../server/protocol/message-encoder.ts';
import { get16, get32, put16, put32 } from '../store/integers.ts';
import type { BatchUse, TimedBatch } from './batch-table.ts';

const HEAD_BYTES = 10;
const CHUNK_BYTES_MIN = 1024;
const CHUNK_BYTES_MAX = 256 * 1024;

interface Chunk {
  readonly buffer: Buffer;
  end: number;
}

export class AtomicBatch implements TimedBatch {
  readonly id: string;
  usedMs = 0;
  /** Sequence in the batch of the last message that belongs to it. */
  lastSequence = 0;
  /** Messages held. */
  count = 0;
  private readonly use: BatchUse;
  private readonly chunks: Chunk[] = [];
  private bytes = 0;

  constructor(id: string, use: BatchUse) {
    this.id = id;
    this.use = use;
  }

  /** Bytes that the message takes here. */
  static bytesOf(message: Message): number {
    return HEAD_BYTES + (message.subjectEnd - message.subjectStart) + (message.bodyEnd - message.bodyStart);
  }

  /** Keeps a copy of the message. */
  add(message: Message): void {
    const bytes = AtomicBatch.bytesOf(message);
    const chunk = this.chunkFor(bytes);
    const { buffer, end } = chunk;
    put16(buffer, end, message.subjectEnd - message.subjectStart);
    put32(buffer, end + 2, message.payloadStart - message.bodyStart);
    put32(buffer, end + 6, message.bodyEnd - message.bodyStart);
    const w = copyBytes(buffer, end + HEAD_BYTES, message.subject, message.subjectStart, message.subjectEnd);
    chunk.end = copyBytes(buffer, w, message.body, message.bodyStart, message.bodyEnd);
    this.count++;
    this.bytes += bytes;
    this.use.stagedBytes += bytes;
  }

  /** Shows every message in order, in one view that the next one reuses, until `visit` gives something but `null`. */
  forEach<Result>(visit: (message: Message, position: number) => Result | null): Result | null {
    const view = new Message();
    let position = 0;
    for (const { buffer, end } of this.chunks) {
      for (let at = 0; at < end; position++) {
        const subject = at + HEAD_BYTES;
        const body = subject + get16(buffer, at);
        view.setSubject(buffer, subject, body);
        view.setBody(buffer, body, body + get32(buffer, at + 2), body + get32(buffer, at + 6));
        at = view.bodyEnd;
        const result = visit(view, position);
        if (result !== null) return result;
      }
    }
    return null;
  }

  ended(): void {
    this.use.stagedBytes -= this.bytes;
    this.bytes = 0;
    this.chunks.length = 0;
  }

  private chunkFor(bytes: number): Chunk {
    const last = this.chunks.at(-1);
    if (last !== undefined && last.end + bytes <= last.buffer.length) return last;
    const usual = last === undefined ? CHUNK_BYTES_MIN : Math.min(CHUNK_BYTES_MAX, last.buffer.length * 2);
    const chunk: Chunk = { buffer: Buffer.allocUnsafeSlow(Math.max(usual, bytes)), end: 0 };
    this.chunks.push(chunk);
    return chunk;
  }
}
