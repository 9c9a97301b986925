/** Changes to the header block of a message before it is stored. They are rare, so each makes a copy of the message. */

import { Buffer } from 'node:buffer';
import { Message } from '../../server/protocol/message.ts';

const VERSION_LINE = 'NATS/1.0\r\n';
const CRLF = '\r\n';

/** A copy of the message without any line of this header; without a header block when nothing else was in it. */
export function withoutHeader(message: Message, name: string): Message {
  const [, ...lines] = headerLines(message);
  const kept = lines.filter((line) => !line.startsWith(`${name}:`));
  return withBlock(message, kept.length === 0 ? '' : `${VERSION_LINE}${kept.join(CRLF)}${CRLF}${CRLF}`);
}

/** A copy of the message, which has a header block, with this line at its end. */
export function withHeader(message: Message, line: string): Message {
  return withBlock(message, `${[...headerLines(message), line].join(CRLF)}${CRLF}${CRLF}`);
}

/** A copy of the message, which has a header block, with this line at its end and no other line of this header. */
export function withHeaderChanged(message: Message, name: string, value: string): Message {
  const kept = headerLines(message).filter((line) => !line.startsWith(`${name}:`));
  return withBlock(message, `${[...kept, `${name}: ${value}`].join(CRLF)}${CRLF}${CRLF}`);
}

/** A copy of the message, which has a header block, with this value where it had another, or with this line at its end. */
export function withHeaderSet(message: Message, name: string, value: string): Message {
  const lines = headerLines(message);
  const at = lines.findIndex((line) => line.startsWith(`${name}:`));
  if (at < 0) return withHeader(message, `${name}: ${value}`);
  const changed = lines.with(at, `${name}: ${value}`);
  return withBlock(message, `${changed.join(CRLF)}${CRLF}${CRLF}`);
}

function headerLines(message: Message): string[] {
  return message.body.toString('latin1', message.bodyStart, message.payloadStart).split(CRLF).slice(0, -2);
}

function withBlock(message: Message, block: string): Message {
  const headers = Buffer.from(block, 'latin1');
  const body = Buffer.concat([headers, message.body.subarray(message.payloadStart, message.bodyEnd)]);
  const changed = new Message();
  changed.setSubject(message.subject, message.subjectStart, message.subjectEnd);
  changed.setReply(message.reply, message.replyStart, message.replyEnd);
  changed.setBody(body, 0, headers.length, body.length);
  changed.producer = message.producer;
  return changed;
}
