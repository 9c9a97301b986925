/**
 * Messages as a pinned client gets them: with its id behind the other headers.
 *
 * Source: ADR-42.
 */

import { Buffer } from 'node:buffer';
import type { Message } from '../../server/protocol/message.ts';

const FIRST_LINE: Buffer = Buffer.from('NATS/1.0\r\n');
const NAME = 'Nats-Pin-Id: ';
const END = '\r\n\r\n';
const ADDED_BYTES_MAX = 128;

export class PinHeader {
  private buffer: Buffer = Buffer.alloc(1024);

  /** Gives the message the header, in bytes that the next call reuses. */
  add(message: Message, id: string): void {
    const { body, bodyStart, payloadStart, bodyEnd } = message;
    const bytes = bodyEnd - bodyStart + ADDED_BYTES_MAX;
    if (bytes > this.buffer.length) this.buffer = Buffer.alloc(bytes * 2);
    const { buffer } = this;
    // The block's own end, an empty line, comes behind the new header.
    const isFirst = payloadStart - bodyStart <= 2;
    let at = isFirst ? FIRST_LINE.copy(buffer) : body.copy(buffer, 0, bodyStart, payloadStart - 2);
    at += buffer.write(NAME + id + END, at, 'latin1');
    message.setBody(buffer, 0, at, at + body.copy(buffer, at, payloadStart, bodyEnd));
  }
}
