/** What a direct get asks for, and the statuses of those that can't be answered: nats-server's checks in its order. */

import { decode } from '../../server/protocol/go-json.ts';
import type { Message } from '../../server/protocol/message.ts';
import { asksTooHighLevel } from '../../server/protocol/required-level.ts';
import type { Moment } from '../../server/protocol/rfc3339.ts';
import type { Wanted } from './message-search.ts';
import { type MessageGetBody, messageGetBody } from './request-bodies.ts';

/** `maxBytes` 0: as many as a client may have unsent. */
export type DirectGetRequest =
  | { readonly kind: 'one'; readonly wanted: Wanted; readonly noHeaders: boolean; readonly maxBytes: number }
  | {
      readonly kind: 'batch';
      /** Where it begins. */
      readonly start: Moment | number;
      /** Empty: every subject. */
      readonly subject: string;
      readonly batch: number;
      readonly noHeaders: boolean;
      readonly maxBytes: number;
    }
  | {
      readonly kind: 'last of each';
      readonly patterns: readonly string[];
      readonly from: number;
      readonly upTo: Moment | number;
      /** 0: no limit. */
      readonly batch: number;
      readonly maxBytes: number;
    };

/** The request, whose subject names another subject from `nameStart` on; or the status that refuses it. */
export function readDirectGet(message: Message, nameStart: number): DirectGetRequest | string {
  if (asksTooHighLevel(message)) return '412 Required Api Level';
  const subject = message.subject.toString('latin1', message.subjectStart, message.subjectEnd);
  const named = subject.slice(nameStart);
  const body = message.body.toString('latin1', message.payloadStart, message.bodyEnd);
  if (named === '') return body === '' ? '408 Empty Request' : readBody(body);
  if (body === '') return lastUnder(named, false);
  const { value, error } = decode(body, messageGetBody);
  if (error !== null) return '408 Malformed Request';
  return saysWhich(value) || value.batch !== 0 || value.upToSequence > 0 || value.upToTime !== null
    ? '408 Bad Request'
    : lastUnder(named, value.noHeaders);
}

function readBody(body: string): DirectGetRequest | string {
  const { value, error } = decode(body, messageGetBody);
  if (error !== null) return '408 Malformed Request';
  if (!saysWhich(value)) return '408 Empty Request';
  if (contradictsItself(value)) return '408 Bad Request';
  const { sequence, lastFor, nextFor, startTime, batch, maxBytes, noHeaders } = value;
  const patterns = value.multiLastFor ?? [];
  if (patterns.length > 0) {
    const upTo = value.upToTime ?? value.upToSequence;
    return { kind: 'last of each', patterns, from: sequence, upTo, batch, maxBytes };
  }
  // A batch below none gets nothing but an end in nats-server; it is taken for none here.
  if (batch > 0) {
    return { kind: 'batch', start: startTime ?? sequence, subject: nextFor, batch, noHeaders, maxBytes };
  }
  if (lastFor !== '') return lastUnder(lastFor, noHeaders);
  const wanted: Wanted =
    startTime !== null
      ? { kind: 'since', subject: nextFor, moment: startTime }
      : nextFor !== ''
        ? { kind: 'next', subject: nextFor, from: sequence }
        : { kind: 'sequence', sequence };
  return { kind: 'one', wanted, noHeaders, maxBytes };
}

function saysWhich({ sequence, lastFor, nextFor, startTime, multiLastFor }: MessageGetBody): boolean {
  return sequence > 0 || lastFor !== '' || nextFor !== '' || startTime !== null || (multiLastFor ?? []).length > 0;
}

function contradictsItself(body: MessageGetBody): boolean {
  const { sequence, nextFor, startTime, batch } = body;
  const isMulti = (body.multiLastFor ?? []).length > 0;
  if (body.lastFor !== '') return sequence > 0 || startTime !== null || nextFor !== '' || batch > 0 || isMulti;
  if (sequence > 0 && startTime !== null) return true;
  return (nextFor !== '' && isMulti) || (body.upToSequence > 0 && body.upToTime !== null);
}

function lastUnder(subject: string, noHeaders: boolean): DirectGetRequest {
  return { kind: 'one', wanted: { kind: 'last', subject }, noHeaders, maxBytes: 0 };
}
