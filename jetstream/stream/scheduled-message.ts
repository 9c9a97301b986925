/**
 * What a schedule publishes when it is due: its own message, or the last one under another subject, under its target.
 *
 *     schedule  s.later   Nats-Schedule: @every 5m          published  s.now   Other: x
 *                         Nats-Schedule-Target: s.now  ───►                   Nats-Scheduler: s.later
 *                         Other: x                                             Nats-Schedule-Next: 2026-…, or purge
 *
 * Headers that were meant for the schedule stay behind.
 *
 * Source: ADR-51.
 */

import { Buffer } from 'node:buffer';
import { Message } from '../../server/protocol/message.ts';
import type { RecordView } from '../store/record.ts';
import type { PublishHeaders } from './publish-headers.ts';

const CRLF = '\r\n';
const STAYS_BEHIND = /^(?:Nats-Schedule|Nats-Expected-|(?:Nats-Msg-Id|Nats-TTL|Nats-Rollup):)/;

/** `headers` are the schedule's; `content` gives headers and payload; `next`: when it is due again, or `purge`. */
export function scheduledMessage(
  schedule: string,
  headers: PublishHeaders,
  content: RecordView,
  next: string,
): Message {
  const lines = headerLines(content).filter((line) => !STAYS_BEHIND.test(line));
  lines.push(`Nats-Scheduler: ${schedule}`, `Nats-Schedule-Next: ${next}`);
  if (headers.scheduleTtl !== null) lines.push(`Nats-TTL: ${headers.scheduleTtl}`);
  if (headers.scheduleRollup !== null) lines.push(`Nats-Rollup: ${headers.scheduleRollup}`);
  const block = Buffer.from(['NATS/1.0', ...lines, '', ''].join(CRLF), 'latin1');
  const body = Buffer.concat([block, content.buffer.subarray(content.payloadStart, content.end)]);
  const subject = Buffer.from(headers.scheduleTarget ?? '', 'latin1');
  const message = new Message();
  message.setSubject(subject, 0, subject.length);
  message.setBody(body, 0, block.length, body.length);
  return message;
}

function headerLines({ buffer, bodyStart, payloadStart }: RecordView): string[] {
  return buffer.toString('latin1', bodyStart, payloadStart).split(CRLF).slice(1, -2);
}
