/**
 * Acknowledgements that wait until what they acknowledge is visible, in the order of publication. Held as bytes, since
 * there may be as many as messages on their way:
 *
 *     u48 gate   the acknowledgement leaves when this sequence is visible
 *     u48 sequence it names
 *     u8  flags  1: a duplicate
 *     u16 length of the reply subject, and the subject
 */

import { Buffer } from 'node:buffer';
import { enlarged } from '../store/buffers.ts';
import { get16, get48, put16, put48 } from '../store/integers.ts';

const HEAD_BYTES = 15;
const DUPLICATE = 1;
const KEEP_BYTES = 64 * 1024;
const EMPTY = Buffer.alloc(0);

/** Sends one acknowledgement to the reply subject `buffer[start, end)`. */
export type SendAck = (buffer: Buffer, start: number, end: number, sequence: number, isDuplicate: boolean) => void;

export class PendingAcks {
  private buffer: Buffer = EMPTY;
  private start = 0;
  private end = 0;
  /** What is being sent may lead to more: bytes that are in use don't move. */
  private releasing = false;

  get isEmpty(): boolean {
    return this.start === this.end;
  }

  add(gate: number, sequence: number, isDuplicate: boolean, reply: Buffer, from: number, to: number): void {
    const length = to - from;
    this.makeRoom(HEAD_BYTES + length);
    const { buffer, end } = this;
    put48(buffer, end, gate);
    put48(buffer, end + 6, sequence);
    buffer[end + 12] = isDuplicate ? DUPLICATE : 0;
    put16(buffer, end + 13, length);
    let w = end + HEAD_BYTES;
    for (let i = from; i < to; i++) buffer[w++] = reply[i] as number;
    this.end = w;
  }

  /** Sends every acknowledgement whose gate is at most `sequence`. */
  release(sequence: number, send: SendAck): void {
    this.releasing = true;
    while (this.start < this.end && get48(this.buffer, this.start) <= sequence) {
      const { buffer } = this;
      const at = this.start;
      const from = at + HEAD_BYTES;
      const to = from + get16(buffer, at + 13);
      this.start = to;
      send(buffer, from, to, get48(buffer, at + 6), buffer[at + 12] === DUPLICATE);
    }
    this.releasing = false;
    if (this.start < this.end) return;
    this.start = 0;
    this.end = 0;
    if (this.buffer.length > KEEP_BYTES) this.buffer = EMPTY;
  }

  private makeRoom(bytes: number): void {
    if (this.end + bytes <= this.buffer.length) return;
    const used = this.end - this.start;
    if (this.start > 0 && !this.releasing && used + bytes <= this.buffer.length / 2)
      this.buffer.copyWithin(0, this.start, this.end);
    else {
      const held = this.buffer.subarray(this.start, this.end);
      this.buffer = enlarged(held, used, used + bytes);
    }
    this.start = 0;
    this.end = used;
  }
}
