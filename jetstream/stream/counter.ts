/**
 * Where one counter stands, and how an increment moves it: the body of its last message, `{"val":"42"}`, which is a whole
 * number of any size, and what of it came from other streams (`Nats-Counter-Sources`).
 *
 *     increment of this stream's own       total + Nats-Incr
 *     message from another stream          total + (its total - what that stream's subject had brought before), so that
 *                                          a message that comes twice, or was skipped, leaves the sum right
 *
 * Source: ADR-49.
 */

import { Buffer } from 'node:buffer';
import { decode, encode } from '../../server/protocol/go-json.ts';
import { quotedBytes } from '../../server/protocol/go-json-reader.ts';
import { goMap, goString, goStringMap } from '../../server/protocol/go-json-schema.ts';
import { field, GoStruct } from '../../server/protocol/go-json-struct.ts';
import { Message } from '../../server/protocol/message.ts';
import type { RecordView } from '../store/record.ts';
import { withHeaderSet } from './batch-headers.ts';
import type { PublishHeaders } from './publish-headers.ts';

const SOURCES_HEADER = 'Nats-Counter-Sources';
const INCREMENT_HEADER = 'Nats-Incr';

/** By stream and subject of the origin: its total there. */
type CounterSources = ReadonlyMap<string, ReadonlyMap<string, string> | null>;

export interface Counter {
  readonly total: bigint;
  readonly sources: CounterSources | null;
}

export const NEW_COUNTER: Counter = { total: 0n, sources: null };

const bodyType: GoStruct<{ readonly val: string }> = new GoStruct('server.CounterValue', [
  field('val', 'val', goString),
]);

const sourcesType = goMap(goStringMap);

/** The increment in a header; `null`: it is none. */
export function incrementIn(text: string): bigint | null {
  return /^[-+]?\d+$/.test(text) ? BigInt(text) : null;
}

/** The counter that a stored message is; `null`: it is none. `sources`: the value of its Nats-Counter-Sources. */
export function storedCounter(view: RecordView, sources: string | null): Counter | null {
  const total = totalIn(view.buffer.toString('latin1', view.payloadStart, view.end));
  return total === null ? null : counterWith(total, sources);
}

/** What the next increment will find of `after`: a publisher may have written sources of its own where it has none. */
export function foundCounter(after: Counter, headers: PublishHeaders): Counter | null {
  return hasSources(after) ? after : counterWith(after.total, headers.counterSources);
}

function counterWith(total: bigint, sources: string | null): Counter | null {
  if (sources === null) return { total, sources: null };
  const { value, error } = decode(sources, sourcesType);
  return error === null ? { total, sources: value } : null;
}

function hasSources({ sources }: Counter): boolean {
  return sources !== null && sources.size > 0;
}

/** The counter behind the message, whose headers are given; `null`: it comes from a counter that is none. */
export function movedCounter(before: Counter, message: Message, headers: PublishHeaders): Counter | null {
  if (headers.streamSource === null) {
    return { ...before, total: before.total + (incrementIn(headers.increment ?? '') ?? 0n) };
  }
  const total = totalIn(message.body.toString('latin1', message.payloadStart, message.bodyEnd));
  if (total === null) return null;
  const [stream = '', , , , subject = message.subjectText()] = headers.streamSource.split(' ');
  const ofStream = before.sources?.get(stream) ?? new Map<string, string>();
  const sources = new Map(before.sources).set(stream, new Map(ofStream).set(subject, String(total)));
  return { total: before.total + total - (incrementIn(ofStream.get(subject) ?? '') ?? 0n), sources };
}

/** The message as it is stored, when it moves the counter from `before` to `after`. */
export function countedMessage(message: Message, headers: PublishHeaders, before: Counter, after: Counter): Message {
  const isSourced = headers.streamSource !== null;
  const own = isSourced ? withHeaderSet(message, INCREMENT_HEADER, String(after.total - before.total)) : message;
  if (!hasSources(after)) return withPayload(own, bodyText(after));
  const text = encode(sourcesType.toJson(after.sources) as object);
  return withPayload(withHeaderSet(own, SOURCES_HEADER, text), bodyText(after));
}

function bodyText({ total }: Counter): string {
  return `{"val":${quotedBytes(String(total))}}`;
}

/** The number in a counter's body; `null`: it is no counter's. What is no number counts nothing. */
function totalIn(body: string): bigint | null {
  const { value, error } = decode(body, bodyType);
  return error === null ? (incrementIn(value.val) ?? 0n) : null;
}

function withPayload(message: Message, text: string): Message {
  const headerBytes = message.payloadStart - message.bodyStart;
  const body = Buffer.allocUnsafe(headerBytes + text.length);
  message.body.copy(body, 0, message.bodyStart, message.payloadStart);
  body.write(text, headerBytes, 'latin1');
  const changed = new Message();
  changed.setSubject(message.subject, message.subjectStart, message.subjectEnd);
  changed.setReply(message.reply, message.replyStart, message.replyEnd);
  changed.setBody(body, 0, headerBytes, body.length);
  changed.producer = message.producer;
  return changed;
}
