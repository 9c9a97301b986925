/**
 * Messages as a consumer of headers alone gets them: no payload, and its size in a header behind the others.
 *
 * Source: nats-server's convertToHeadersOnly.
 */

import { Buffer } from 'node:buffer';
import { writeNumber } from '../../server/protocol/message-encoder.ts';
import type { RecordView } from '../store/record.ts';

const FIRST_LINE: Buffer = Buffer.from('NATS/1.0\r\n');
const NAME: Buffer = Buffer.from('Nats-Msg-Size: ');
const END: Buffer = Buffer.from('\r\n\r\n');
const ADDED_BYTES_MAX = 64;

export class HeadersOnly {
  /** The header block written last, from 0 to the answer of `write`. */
  buffer: Buffer = Buffer.alloc(256);

  /** Writes the header block; its length. */
  write(view: RecordView): number {
    const headerBytes = view.payloadStart - view.bodyStart;
    if (headerBytes + ADDED_BYTES_MAX > this.buffer.length) {
      this.buffer = Buffer.alloc((headerBytes + ADDED_BYTES_MAX) * 2);
    }
    const { buffer } = this;
    let at = 0;
    // The block's own end, an empty line, comes behind the new header.
    if (headerBytes > 2) at = view.buffer.copy(buffer, 0, view.bodyStart, view.payloadStart - 2);
    else at = FIRST_LINE.copy(buffer);
    at += NAME.copy(buffer, at);
    at = writeNumber(buffer, at, view.end - view.payloadStart);
    return at + END.copy(buffer, at);
  }
}
