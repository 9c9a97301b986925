/**
 * Answers to publishers that wait until what was appended before them is visible, in the order in which they are to
 * leave: acknowledgements, and texts. Held as bytes, since there may be as many as messages on their way:
 *
 *     u48 gate     the answer leaves when this sequence is visible
 *     u48 sequence an acknowledgement names; bytes of a text
 *     u8  kind
 *     u16 length of the reply subject
 *         the reply subject, then the text
 */

import { Buffer } from 'node:buffer';
import { enlarged } from '../store/buffers.ts';
import { get16, get48, put16, put48 } from '../store/integers.ts';

const HEAD_BYTES = 15;
const KEEP_BYTES = 64 * 1024;
const EMPTY = Buffer.alloc(0);

const STORED = 0;
const DUPLICATE = 1;
const TEXT = 2;

/** Sends one answer to the reply subject `buffer[start, end)`; the bytes die when it returns. */
export interface AnswerSender {
  sendAck(buffer: Buffer, start: number, end: number, sequence: number, isDuplicate: boolean): void;
  /** The text is `buffer[end, textEnd)`. */
  sendText(buffer: Buffer, start: number, end: number, textEnd: number): void;
}

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
    this.end = this.putHead(gate, sequence, isDuplicate ? DUPLICATE : STORED, reply, from, to, 0);
  }

  /** `text`: a string of bytes. */
  addText(gate: number, text: string, reply: Buffer, from: number, to: number): void {
    const w = this.putHead(gate, text.length, TEXT, reply, from, to, text.length);
    this.end = w + this.buffer.write(text, w, 'latin1');
  }

  private putHead(
    gate: number,
    sequence: number,
    kind: number,
    reply: Buffer,
    from: number,
    to: number,
    textBytes: number,
  ): number {
    const length = to - from;
    this.makeRoom(HEAD_BYTES + length + textBytes);
    const { buffer, end } = this;
    put48(buffer, end, gate);
    put48(buffer, end + 6, sequence);
    buffer[end + 12] = kind;
    put16(buffer, end + 13, length);
    let w = end + HEAD_BYTES;
    for (let i = from; i < to; i++) buffer[w++] = reply[i] as number;
    return w;
  }

  /** Sends every answer whose gate is at most `sequence`. Asked while it sends, it goes on with what has come. */
  release(sequence: number, sender: AnswerSender): void {
    if (this.releasing) return;
    this.releasing = true;
    while (this.start < this.end && get48(this.buffer, this.start) <= sequence) {
      const { buffer } = this;
      const at = this.start;
      const from = at + HEAD_BYTES;
      const to = from + get16(buffer, at + 13);
      const named = get48(buffer, at + 6);
      if (buffer[at + 12] === TEXT) {
        this.start = to + named;
        sender.sendText(buffer, from, to, this.start);
      } else {
        this.start = to;
        sender.sendAck(buffer, from, to, named, buffer[at + 12] === DUPLICATE);
      }
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
