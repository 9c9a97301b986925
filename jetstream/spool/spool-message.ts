/**
 * A message as the spool keeps it. The bytes of the record are those of the message, with one line more in front of its
 * header block:
 *
 *     reply SP group SP group … LF │ header block │ payload
 *                                  └─ with Nats-Msg-Id
 *
 * A cut leaves open what the hub has taken, so some messages go twice: the id, which the first copy has too, lets a
 * stream at the hub drop the second one (ADR-4, headers; `Nats-Msg-Id` of JetStream's message deduplication).
 */

import { Buffer } from 'node:buffer';
import type { Message } from '../../server/protocol/message.ts';
import type { RecordView } from '../store/record.ts';

const LINE_END = 0x0a;
const BLANK = ' ';
const ID = /\r\nnats-msg-id:/i;
const VERSION = 'NATS/1.0\r\n';
const HEADER_END_BYTES = 2;

/** The message under another id, where it has none: a view into bytes of its own. */
export function withId(message: Message, id: string, into: Message): Message {
  const { body, bodyStart, payloadStart, bodyEnd } = message;
  const block = body.toString('latin1', bodyStart, payloadStart);
  const isNamed = ID.test(block);
  const begin = block === '' ? VERSION : block.slice(0, -HEADER_END_BYTES);
  const headers = isNamed ? block : `${begin}Nats-Msg-Id: ${id}\r\n\r\n`;
  const payloadBytes = bodyEnd - payloadStart;
  const bytes = Buffer.allocUnsafe(headers.length + payloadBytes + HEADER_END_BYTES);
  bytes.write(headers, 0, 'latin1');
  body.copy(bytes, headers.length, payloadStart, bodyEnd);
  bytes.write('\r\n', bytes.length - HEADER_END_BYTES, 'latin1');
  const subject = Buffer.from(message.subject.subarray(message.subjectStart, message.subjectEnd));
  const reply = Buffer.from(message.reply.subarray(message.replyStart, message.replyEnd));
  into.setSubject(subject, 0, subject.length);
  into.setReply(reply, 0, reply.length);
  into.setBody(bytes, 0, headers.length, headers.length + payloadBytes);
  return into;
}

/** The message as it is kept, for these queue groups. */
export function toKeep(message: Message, queueGroups: readonly string[], into: Message): Message {
  const line = `${[message.replyText(), ...queueGroups].join(BLANK)}\n`;
  const { body, bodyStart, payloadStart, bodyEnd } = message;
  const bytes = Buffer.allocUnsafe(line.length + bodyEnd - bodyStart);
  bytes.write(line, 0, 'latin1');
  body.copy(bytes, line.length, bodyStart, bodyEnd);
  into.setSubject(message.subject, message.subjectStart, message.subjectEnd);
  into.setBody(bytes, 0, line.length + payloadStart - bodyStart, bytes.length);
  return into;
}

/** The kept message as it was; its queue groups are the answer. Its bytes are copies. */
export function fromKept(kept: RecordView, into: Message): string[] {
  const { buffer, bodyStart, payloadStart, end } = kept;
  const lineEnd = buffer.indexOf(LINE_END, bodyStart);
  const [reply = '', ...queueGroups] = buffer.toString('latin1', bodyStart, lineEnd).split(BLANK);
  const headerBytes = payloadStart - lineEnd - 1;
  const bytes = Buffer.allocUnsafe(end - lineEnd - 1 + HEADER_END_BYTES);
  buffer.copy(bytes, 0, lineEnd + 1, end);
  bytes.write('\r\n', bytes.length - HEADER_END_BYTES, 'latin1');
  const subject = Buffer.from(kept.subject, 'latin1');
  const replyBytes = Buffer.from(reply, 'latin1');
  into.setSubject(subject, 0, subject.length);
  into.setReply(replyBytes, 0, replyBytes.length);
  into.setBody(bytes, 0, headerBytes, bytes.length - HEADER_END_BYTES);
  return queueGroups;
}
