/**
 * What a publisher is told of a stored message: `{"stream":"ORDERS","seq":42}`. One buffer serves all acknowledgements
 * of a stream, since whoever receives one copies it at once:
 *
 *     [room for the size] CR LF {"stream":"ORDERS","seq": │ 42} CR LF
 *                               body: fixed beginning       written anew each time
 */

import { Buffer } from 'node:buffer';
import { copyBytes, writeNumber } from '../../server/protocol/message-encoder.ts';
import { Message } from '../../server/protocol/message.ts';

const CR = 13;
const LF = 10;
const BODY_START = 8;
const END = Buffer.from('}', 'latin1');
const DUPLICATE_END = Buffer.from(',"duplicate": true}', 'latin1');
/** A sequence, the longer end and the line end. */
const REST_BYTES_MAX = 48;

export class PublishAck {
  private readonly message: Message = new Message();
  private readonly buffer: Buffer;
  private readonly sequenceStart: number;

  /** `head`: the acknowledgement's JSON up to the sequence. */
  constructor(head: string) {
    this.sequenceStart = BODY_START + head.length;
    this.buffer = Buffer.alloc(this.sequenceStart + REST_BYTES_MAX);
    this.buffer.write(head, BODY_START, 'latin1');
  }

  /** The acknowledgement as a message to the reply subject `reply[start, end)`; it stands until the next one. */
  encode(reply: Buffer, start: number, end: number, sequence: number, isDuplicate: boolean): Message {
    const { buffer, message } = this;
    const numberEnd = writeNumber(buffer, this.sequenceStart, sequence);
    const tail = isDuplicate ? DUPLICATE_END : END;
    const bodyEnd = copyBytes(buffer, numberEnd, tail, 0, tail.length);
    buffer[bodyEnd] = CR;
    buffer[bodyEnd + 1] = LF;
    message.setSubject(reply, start, end);
    message.setBody(buffer, BODY_START, BODY_START, bodyEnd);
    message.tailStart = this.writeSize(bodyEnd - BODY_START);
    return message;
  }

  /** Writes the size in front of the body, from its last digit on; where it begins. */
  private writeSize(size: number): number {
    const { buffer } = this;
    let at = BODY_START - 2;
    buffer[at] = CR;
    buffer[at + 1] = LF;
    for (let rest = size; rest > 0; rest = Math.floor(rest / 10)) buffer[--at] = 0x30 + (rest % 10);
    return at;
  }
}
