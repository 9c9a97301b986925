/**
 * How the subject that JetStream shows travels between servers: a delivered message goes to a receiver's inbox, and the
 * subject under which it was stored follows the acknowledgement subject behind an `@`.
 *
 *     $JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>.<consumer seq>.<time>.<pending>@<subject>
 *
 * The `@` that counts is the first one behind the eighth dot: names of streams and consumers may hold one too.
 */

import { Buffer } from 'node:buffer';
import type { Message } from '../server/protocol/message.ts';

const AT = 0x40;
const DOT = 0x2e;
const DOTS = 8;
const ACK_PREFIX = Buffer.from('$JS.ACK.');

/** Offset of the `@` in front of the shown subject in `reply[start, end)`, or -1 when the reply is no such form. */
export function findDeliverSubject(reply: Buffer, start: number, end: number): number {
  if (!isAckSubject(reply, start, end)) return -1;
  let dots = 0;
  for (let i = start; i < end; i++) {
    const byte = reply[i];
    if (byte === DOT) dots++;
    else if (byte === AT && dots >= DOTS) return i;
  }
  return -1;
}

/** Takes the subject that JetStream shows from behind the reply and makes the one on the line the destination. */
export function showDeliverSubject(message: Message): void {
  const { reply, replyStart, replyEnd } = message;
  if (replyEnd === replyStart) return;
  const at = findDeliverSubject(reply, replyStart, replyEnd);
  if (at < 0 || at + 1 === replyEnd) return;
  const { subject, subjectStart, subjectEnd } = message;
  message.setSubject(reply, at + 1, replyEnd);
  message.setDestination(subject, subjectStart, subjectEnd);
  message.setReply(reply, replyStart, at);
}

/** Whether `subject[start, end)` acknowledges something to JetStream. */
export function isAckSubject(subject: Buffer, start: number, end: number): boolean {
  return startsWith(subject, start, end, ACK_PREFIX);
}

export function startsWith(subject: Buffer, start: number, end: number, prefix: Buffer): boolean {
  if (end - start <= prefix.length || subject[start] !== prefix[0]) return false;
  for (let i = 1; i < prefix.length; i++) if (subject[start + i] !== prefix[i]) return false;
  return true;
}
