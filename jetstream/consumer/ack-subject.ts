/**
 * The subject by which a delivered message is acknowledged:
 *
 *     $JS.ACK.<stream>.<consumer>.<deliveries>.<stream sequence>.<consumer sequence>.<time in ns>.<pending>
 *     $JS.ACK.<domain>.<account hash>.<stream>.<consumer>.<the same five>
 *
 * Both forms are understood; the first is the one sent. Read on bytes: the names may hold anything but dots.
 *
 * Source: ADR-15; nats-server's ackReply.
 */

import { Buffer } from 'node:buffer';
import { copyBytes, writeNumber } from '../../server/protocol/message-encoder.ts';

const DOT = 0x2e;
const ZERO = 0x30;
/** Five numbers and the dots between them. */
const NUMBERS_BYTES_MAX = 96;
const FIELDS = 5;
const SHORT_TOKENS = 9;
const SHORT_PREFIX_TOKENS = 4;
const LONG_PREFIX_TOKENS = 6;

export class AckSubject {
  /** The subject written last, from 0 to the answer of `write`. */
  readonly buffer: Buffer;
  private readonly prefixBytes: number;

  /** Names are strings of bytes. */
  constructor(stream: string, consumer: string) {
    const prefix = Buffer.from(`$JS.ACK.${stream}.${consumer}.`, 'latin1');
    this.buffer = Buffer.alloc(prefix.length + NUMBERS_BYTES_MAX);
    prefix.copy(this.buffer);
    this.prefixBytes = prefix.length;
  }

  /** Writes the subject of one delivery; its length. */
  write(
    deliveries: number,
    streamSequence: number,
    consumerSequence: number,
    seconds: number,
    nanoseconds: number,
    pending: number,
  ): number {
    const { buffer } = this;
    let w = writeNumber(buffer, this.prefixBytes, deliveries);
    buffer[w++] = DOT;
    w = writeNumber(buffer, w, streamSequence);
    buffer[w++] = DOT;
    w = writeNumber(buffer, w, consumerSequence);
    buffer[w++] = DOT;
    w = writeNumber(buffer, w, seconds);
    let rest = nanoseconds;
    for (let i = w + 8; i >= w; i--) {
      const quotient = Math.floor(rest / 10);
      buffer[i] = ZERO + (rest - quotient * 10);
      rest = quotient;
    }
    w += 9;
    buffer[w++] = DOT;
    return writeNumber(buffer, w, Math.max(0, pending));
  }
}

/** What an acknowledgement is about. */
export class AckFields {
  deliveries = 0;
  streamSequence = 0;
  consumerSequence = 0;

  /**
   * Reads the numbers of the subject `buffer[start, end)`; false when there are none. In the longer form more tokens may
   * follow them.
   */
  read(buffer: Buffer, start: number, end: number): boolean {
    let tokens = 1;
    for (let i = start; i < end; i++) if (buffer[i] === DOT) tokens++;
    const first = tokens === SHORT_TOKENS ? SHORT_PREFIX_TOKENS : LONG_PREFIX_TOKENS;
    let at = start;
    for (let left = first; left > 0 && at < end; at++) if (buffer[at] === DOT) left--;
    for (let field = 0; field < FIELDS; field++) {
      let fieldEnd = at;
      while (fieldEnd < end && buffer[fieldEnd] !== DOT) fieldEnd++;
      const value = numberAt(buffer, at, fieldEnd);
      if (value < 0) return false;
      if (field === 0) this.deliveries = value;
      else if (field === 1) this.streamSequence = value;
      else if (field === 2) this.consumerSequence = value;
      at = fieldEnd + 1;
    }
    return true;
  }
}

function numberAt(buffer: Buffer, start: number, end: number): number {
  if (start >= end) return -1;
  let value = 0;
  for (let i = start; i < end; i++) {
    const digit = (buffer[i] as number) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** A copy of a subject's bytes, for keeping. */
export function copySubject(buffer: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.allocUnsafe(end - start);
  copyBytes(copy, 0, buffer, start, end);
  return copy;
}
