/**
 * MSG and HMSG, written byte by byte into the receiver's chunk.
 *
 *     MSG subject sid [reply] size CR LF payload CR LF
 *     HMSG subject sid [reply] headerSize size CR LF header payload CR LF
 *
 * A receiver that did not agree on headers gets a MSG with the payload alone.
 */

import type { Buffer } from 'node:buffer';
import type { Message } from './message.ts';

const SPACE = 32;
const CR = 13;
const LF = 10;
/** Below this many bytes a loop is faster than a call of copy. */
const LOOP_BYTES_MAX = 32;
/** Verb, blanks, two sizes and line ends. */
const FIXED_BYTES_MAX = 48;

/** Bytes that the message takes at most, encoded for a receiver that calls its subscription `sid`. */
export function encodedBytesMax(message: Message, sid: string): number {
  return (
    FIXED_BYTES_MAX +
    (message.subjectEnd - message.subjectStart) +
    sid.length +
    (message.replyEnd - message.replyStart) +
    (message.bodyEnd - message.bodyStart)
  );
}

/** Writes line, body and final CR LF at `at`; the offset behind them. */
export function writeMessage(out: Buffer, at: number, message: Message, sid: string, withHeaders: boolean): number {
  const hasHeaders = message.payloadStart > message.bodyStart;
  if (message.tailStart >= 0 && (withHeaders || !hasHeaders)) {
    let w = writeAddress(out, at, message, sid, hasHeaders);
    w = copyBytes(out, w, message.body, message.tailStart, message.bodyEnd + 2);
    return w;
  }
  let w = writeLine(out, at, message, sid, withHeaders);
  const start = withHeaders ? message.bodyStart : message.payloadStart;
  w = copyBytes(out, w, message.body, start, message.bodyEnd);
  out[w++] = CR;
  out[w++] = LF;
  return w;
}

/** Writes the line alone, for a body that is too large for one chunk. */
export function writeLine(out: Buffer, at: number, message: Message, sid: string, withHeaders: boolean): number {
  const headerBytes = withHeaders ? message.payloadStart - message.bodyStart : 0;
  let w = writeAddress(out, at, message, sid, headerBytes > 0);
  if (headerBytes > 0) {
    w = writeNumber(out, w, headerBytes);
    out[w++] = SPACE;
  }
  w = writeNumber(out, w, headerBytes + message.bodyEnd - message.payloadStart);
  out[w++] = CR;
  out[w++] = LF;
  return w;
}

/** `[H]MSG subject sid [reply] ` */
function writeAddress(out: Buffer, at: number, message: Message, sid: string, withHeaders: boolean): number {
  let w = at;
  if (withHeaders) out[w++] = 0x48;
  out[w++] = 0x4d;
  out[w++] = 0x53;
  out[w++] = 0x47;
  out[w++] = SPACE;
  w = copyBytes(out, w, message.subject, message.subjectStart, message.subjectEnd);
  out[w++] = SPACE;
  for (let i = 0; i < sid.length; i++) out[w++] = sid.charCodeAt(i);
  out[w++] = SPACE;
  const { replyStart, replyEnd } = message;
  if (replyEnd > replyStart) {
    w = copyBytes(out, w, message.reply, replyStart, replyEnd);
    out[w++] = SPACE;
  }
  return w;
}

export function copyBytes(out: Buffer, at: number, from: Buffer, start: number, end: number): number {
  const length = end - start;
  if (length < LOOP_BYTES_MAX) {
    let w = at;
    for (let i = start; i < end; i++) out[w++] = from[i] as number;
    return w;
  }
  from.copy(out, at, start, end);
  return at + length;
}

/** Writes an unsigned decimal; the offset behind it. */
export function writeNumber(out: Buffer, at: number, value: number): number {
  let digits = 1;
  for (let limit = 10; value >= limit; limit *= 10) digits++;
  let rest = value;
  for (let i = at + digits - 1; i >= at; i--) {
    const quotient = Math.floor(rest / 10);
    out[i] = 0x30 + (rest - quotient * 10);
    rest = quotient;
  }
  return at + digits;
}
