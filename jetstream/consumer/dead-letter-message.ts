/**
 * A message as a dead letter: its own headers and payload, and in front of them where it comes from and why.
 *
 *     NATS/1.0
 *     Nats-Msg-Id: ORDERS.worker.17.2026-11-30T01:11:13.6Z      the same however often this letter is sent
 *     Petiole-Dead-Letter-Stream: ORDERS
 *     Petiole-Dead-Letter-Consumer: worker
 *     Petiole-Dead-Letter-Subject: orders.new
 *     Petiole-Dead-Letter-Sequence: 17
 *     Petiole-Dead-Letter-Time: 2026-11-30T01:11:12.5Z          when it was stored
 *     Petiole-Dead-Letter-Deliveries: 5
 *     Petiole-Dead-Letter-Reason: max_deliver | terminated
 *     Petiole-Dead-Letter-Text: …                               what came with +TERM
 *     Petiole-Dead-Letter-Msg-Id: …                             the Nats-Msg-Id that the message had
 *
 * Headers that would tell the stream which stores the letter what to do (expectations, rollup, TTL, batches …) are left
 * out, and so are those of an earlier life as a dead letter.
 */

import { Buffer } from 'node:buffer';
import { formatTime } from '../../server/protocol/rfc3339.ts';
import type { RecordView } from '../store/record.ts';
import type { LeaveReason } from './consumer-events.ts';

const PREFIX = 'Petiole-Dead-Letter-';
const INSTRUCTIONS =
  /^(Nats-(Msg-Id|Expected-|Rollup|TTL|Batch-|Schedule|Incr|Required-Api-Level)|Petiole-Dead-Letter-)/i;
const MESSAGE_ID = /^Nats-Msg-Id:/i;
const TEXT_BYTES_MAX = 1024;

export interface DeadLetterFacts {
  readonly stream: string;
  readonly consumer: string;
  /** When the consumer was made, so that one of the same name does not repeat its letters. */
  readonly created: string;
  readonly deliveries: number;
  readonly reason: LeaveReason;
  /** A string of bytes; '' when nobody said anything. */
  readonly text: string;
}

/** Header block and payload; `headerBytes` of it are the header block. */
export interface DeadLetterBody {
  readonly bytes: Buffer;
  readonly headerBytes: number;
}

export function deadLetterBody(message: RecordView, facts: DeadLetterFacts): DeadLetterBody {
  const { buffer, bodyStart, payloadStart, end } = message;
  const given = buffer.toString('latin1', bodyStart, payloadStart).split('\r\n').slice(1, -2);
  const lines = [...origin(message, facts, given), ...given.filter((line) => !INSTRUCTIONS.test(line))];
  const block = Buffer.from(`NATS/1.0\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return { bytes: Buffer.concat([block, buffer.subarray(payloadStart, end)]), headerBytes: block.length };
}

function origin(message: RecordView, facts: DeadLetterFacts, given: readonly string[]): string[] {
  const { stream, consumer, created, deliveries, reason, text } = facts;
  const { sequence, seconds, nanoseconds } = message;
  const lines = [
    `Nats-Msg-Id: ${stream}.${consumer}.${sequence}.${created}`,
    `${PREFIX}Stream: ${stream}`,
    `${PREFIX}Consumer: ${consumer}`,
    `${PREFIX}Subject: ${message.subject}`,
    `${PREFIX}Sequence: ${sequence}`,
    `${PREFIX}Time: ${formatTime({ seconds, nanoseconds })}`,
    `${PREFIX}Deliveries: ${deliveries}`,
    `${PREFIX}Reason: ${reason === 'exhausted' ? 'max_deliver' : reason}`,
  ];
  if (text !== '') lines.push(`${PREFIX}Text: ${text.slice(0, TEXT_BYTES_MAX).replaceAll(/[\0\r\n]+/g, ' ')}`);
  const id = given.find((line) => MESSAGE_ID.test(line));
  if (id !== undefined) lines.push(`${PREFIX}Msg-Id:${id.slice(id.indexOf(':') + 1)}`);
  return lines;
}
