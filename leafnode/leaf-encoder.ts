/**
 * LMSG and HMSG as a link sends them, written byte by byte into its chunk.
 *
 *     LMSG subject [reply] size                      no queue group
 *     LMSG subject + reply queue… size               with a reply
 *     LMSG subject | queue… size                     without one
 *     HMSG … headerSize size                         the same with a header block
 *
 * The subject on the line is the one by which receivers are found. A message that shows another (what JetStream
 * delivers) carries the shown one behind its reply:
 *
 *     destination inbox, subject orders.1, reply $JS.ACK.…      LMSG inbox $JS.ACK.…@orders.1 size
 *
 * A peer that did not agree on headers gets an LMSG with the payload alone.
 *
 * What came in the usual form and goes to no queue group differs by its verb alone, and the rest is one copy.
 */

import type { Buffer } from 'node:buffer';
import type { Message } from '../server/protocol/message.ts';
import { copyBytes, writeNumber } from '../server/protocol/message-encoder.ts';
import { findDeliverSubject } from './deliver-subject.ts';

const SPACE = 32;
const CR = 13;
const LF = 10;
const AT = 0x40;
const PLUS = 0x2b;
const BAR = 0x7c;
/** Verb, blanks, signs, two sizes and line ends. */
const FIXED_BYTES_MAX = 48;

/** Bytes that line, body and final CR LF take at most. */
export function encodedBytesMax(message: Message, queueGroups: readonly string[]): number {
  let bytes = FIXED_BYTES_MAX + (message.subjectEnd - message.subjectStart) + message.bodyBytes;
  bytes += message.replyEnd - message.replyStart;
  if (message.destination !== null) bytes += message.destinationEnd - message.destinationStart;
  for (const name of queueGroups) bytes += name.length + 1;
  return bytes;
}

/** Writes line, body and final CR LF at `at`; the offset behind them. */
export function writeLeafMessage(
  out: Buffer,
  at: number,
  message: Message,
  queueGroups: readonly string[],
  withHeaders: boolean,
): number {
  const { body, bodyEnd, tailStart } = message;
  const hasHeaders = message.payloadStart > message.bodyStart;
  if (tailStart >= 0 && (withHeaders || !hasHeaders)) {
    if (queueGroups.length === 0 && isWhole(message)) {
      return copyBytes(out, writeVerb(out, at, hasHeaders), body, message.subjectStart, bodyEnd + 2);
    }
    const w = writeAddress(out, at, message, queueGroups, hasHeaders);
    return copyBytes(out, w, body, tailStart, bodyEnd + 2);
  }
  let w = writeLeafLine(out, at, message, queueGroups, withHeaders);
  w = copyBytes(out, w, message.body, withHeaders ? message.bodyStart : message.payloadStart, message.bodyEnd);
  out[w++] = CR;
  out[w++] = LF;
  return w;
}

/** Whether subject, reply and tail stand behind each other in the body's buffer, one space apart. */
function isWhole(message: Message): boolean {
  const { subject, subjectEnd, body, reply, replyStart, replyEnd, tailStart } = message;
  if (subject !== body || message.destination !== null || body[subjectEnd] !== SPACE) return false;
  if (replyEnd === replyStart) return tailStart === subjectEnd + 1;
  return reply === body && replyStart === subjectEnd + 1 && body[replyEnd] === SPACE && tailStart === replyEnd + 1;
}

function writeVerb(out: Buffer, at: number, isHeaderForm: boolean): number {
  out[at] = isHeaderForm ? 0x48 : 0x4c;
  out[at + 1] = 0x4d;
  out[at + 2] = 0x53;
  out[at + 3] = 0x47;
  out[at + 4] = SPACE;
  return at + 5;
}

/** Writes the line alone, for a body that is too large for one chunk. */
export function writeLeafLine(
  out: Buffer,
  at: number,
  message: Message,
  queueGroups: readonly string[],
  withHeaders: boolean,
): number {
  const headerBytes = withHeaders ? message.headerBytes : 0;
  let w = writeAddress(out, at, message, queueGroups, headerBytes > 0);
  if (headerBytes > 0) {
    w = writeNumber(out, w, headerBytes);
    out[w++] = SPACE;
  }
  w = writeNumber(out, w, headerBytes + message.payloadBytes);
  out[w++] = CR;
  out[w++] = LF;
  return w;
}

/** Everything up to the sizes, with the blank behind it. */
function writeAddress(
  out: Buffer,
  at: number,
  message: Message,
  queueGroups: readonly string[],
  isHeaderForm: boolean,
): number {
  let w = writeVerb(out, at, isHeaderForm);
  const { destination } = message;
  w =
    destination === null
      ? copyBytes(out, w, message.subject, message.subjectStart, message.subjectEnd)
      : copyBytes(out, w, destination, message.destinationStart, message.destinationEnd);
  out[w++] = SPACE;
  if (queueGroups.length > 0) {
    out[w++] = message.hasReply ? PLUS : BAR;
    out[w++] = SPACE;
  }
  if (message.hasReply) {
    w = writeReply(out, w, message);
    out[w++] = SPACE;
  }
  for (const name of queueGroups) {
    for (let i = 0; i < name.length; i++) out[w++] = name.charCodeAt(i);
    out[w++] = SPACE;
  }
  return w;
}

function writeReply(out: Buffer, at: number, message: Message): number {
  const { reply, replyStart, replyEnd } = message;
  const w = copyBytes(out, at, reply, replyStart, replyEnd);
  if (message.destination === null || findDeliverSubject(reply, replyStart, replyEnd) >= 0) return w;
  out[w] = AT;
  return copyBytes(out, w + 1, message.subject, message.subjectStart, message.subjectEnd);
}
