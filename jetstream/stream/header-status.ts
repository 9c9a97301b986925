/**
 * The status in the first line of a header block (`NATS/1.0 503`) speaks to whoever asked; it is not stored. A consumer's
 * client would take a stored one for the end of its own request.
 */

import { Buffer } from 'node:buffer';
import { Message } from '../../server/protocol/message.ts';

const CR = 13;
const VERSION: Buffer = Buffer.from('NATS/1.0', 'latin1');
/** A header block without headers. */
const EMPTY_BLOCK_BYTES = VERSION.length + '\r\n\r\n'.length;

/** The message as a stream takes it: itself unless it has a status. What has nothing but a status has no headers then. */
export function withoutStatus(message: Message): Message {
  const { body, bodyStart, payloadStart } = message;
  const versionEnd = bodyStart + VERSION.length;
  if (versionEnd >= payloadStart) return message;
  if (body[versionEnd] === CR || body.compare(VERSION, 0, VERSION.length, bodyStart, versionEnd) !== 0) return message;
  const lineEnd = body.indexOf(CR, versionEnd);
  return lineEnd < 0 || lineEnd >= payloadStart ? message : without(message, versionEnd, lineEnd);
}

function without(message: Message, from: number, to: number): Message {
  const { body, bodyStart, payloadStart, bodyEnd } = message;
  const headerBytes = payloadStart - bodyStart - (to - from);
  const own = Buffer.concat([body.subarray(bodyStart, from), body.subarray(to, bodyEnd)]);
  const changed = new Message();
  changed.setSubject(message.subject, message.subjectStart, message.subjectEnd);
  changed.setReply(message.reply, message.replyStart, message.replyEnd);
  if (headerBytes === EMPTY_BLOCK_BYTES) changed.setBody(own, headerBytes, headerBytes, own.length);
  else changed.setBody(own, 0, headerBytes, own.length);
  changed.source = message.source;
  changed.producer = message.producer;
  return changed;
}
