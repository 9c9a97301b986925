/**
 * Direct gets of one stream: messages as they are, with headers that say where they come from, and no JSON.
 *
 *     $JS.API.DIRECT.GET.<stream>             {"seq":n} | {"last_by_subj":s} | {"next_by_subj":s,"seq":n}
 *     $JS.API.DIRECT.GET.<stream>.<subject>   the last one under the subject
 *
 * With `"no_hdr":true` a message comes without any headers.
 *
 * Source: ADR-31.
 */

import { Buffer } from 'node:buffer';
import { decode } from '../../server/protocol/go-json.ts';
import { Message } from '../../server/protocol/message.ts';
import { asksTooHighLevel } from '../../server/protocol/required-level.ts';
import { Subscription } from '../../server/subject/subscription.ts';
import { CallbackSink } from '../consumer/consumer-sinks.ts';
import type { RecordView } from '../store/record.ts';
import type { Stream } from '../stream/stream.ts';
import { encodeTime } from './api-time.ts';
import { wantedMessage } from './message-requests.ts';
import { findMessage, type Wanted } from './message-search.ts';
import { type MessageGetBody, messageGetBody } from './request-bodies.ts';

const PREFIX = '$JS.API.DIRECT.GET.';
const QUEUE_GROUP = '_sys_';
const VERSION_LINE = 'NATS/1.0\r\n';
const CRLF_BYTES = 2;
/** Fields that say which messages are wanted. */
const WHICH: ReadonlySet<string> = new Set(['seq', 'last_by_subj', 'next_by_subj', 'start_time', 'multi_last']);
/** Fields that make no sense where the request's subject says which. */
const NOT_WITH_SUBJECT: ReadonlySet<string> = new Set([...WHICH, 'batch', 'up_to_seq', 'up_to_time']);

interface DirectGetRequest {
  readonly wanted: Wanted;
  readonly noHeaders: boolean;
}

export class DirectGets {
  private readonly stream: Stream;
  private readonly sink: CallbackSink;
  private subscriptions: Subscription[] = [];

  constructor(stream: Stream) {
    this.stream = stream;
    this.sink = new CallbackSink((message) => this.take(message));
    this.update();
  }

  /** The stream's configuration may have changed. */
  update(): void {
    this.stop();
    if (!this.stream.config.allowDirect) return;
    const subject = PREFIX + this.stream.name;
    for (const each of [subject, `${subject}.>`]) {
      const subscription = new Subscription(this.sink, each, QUEUE_GROUP, '');
      this.subscriptions.push(subscription);
      this.stream.account.subscribe(subscription);
    }
  }

  stop(): void {
    for (const subscription of this.subscriptions) this.stream.account.unsubscribe(subscription);
    this.subscriptions = [];
  }

  private take(message: Message): void {
    if (!message.hasReply) return;
    const reply = Buffer.from(message.reply.subarray(message.replyStart, message.replyEnd));
    const request = this.read(message);
    if (typeof request === 'string') {
      this.sendStatus(reply, request);
      return;
    }
    findMessage(this.stream.store, request.wanted, (found) => {
      if (found === null) this.sendStatus(reply, '404 Message Not Found');
      else this.sendMessage(reply, found, request.noHeaders);
    });
  }

  /** What the request asks for, or the status that refuses it. */
  private read(message: Message): DirectGetRequest | string {
    if (asksTooHighLevel(message)) return '412 Required Api Level';
    const subject = message.subject.toString('latin1', message.subjectStart, message.subjectEnd);
    const named = subject.slice(PREFIX.length + this.stream.name.length + 1);
    const body = message.body.toString('latin1', message.payloadStart, message.bodyEnd);
    if (body === '') return named === '' ? '408 Empty Request' : { wanted: lastUnder(named), noHeaders: false };
    const { value, error } = decode(body, messageGetBody);
    if (error !== null) return '408 Malformed Request';
    const { noHeaders } = value;
    if (named === '' && !saysAnyOf(value, WHICH)) return '408 Empty Request';
    const wanted = named === '' ? wantedMessage(value) : saysAnyOf(value, NOT_WITH_SUBJECT) ? null : lastUnder(named);
    return wanted === null ? '408 Bad Request' : { wanted, noHeaders };
  }

  private sendMessage(reply: Buffer, found: RecordView, noHeaders: boolean): void {
    const { buffer, bodyStart, payloadStart, end } = found;
    if (noHeaders) {
      this.send(reply, buffer.subarray(payloadStart, end), 0);
      return;
    }
    const origin = [
      `Nats-Stream: ${this.stream.name}`,
      `Nats-Subject: ${found.subject}`,
      `Nats-Sequence: ${found.sequence}`,
      `Nats-Time-Stamp: ${encodeTime(found)}`,
    ].join('\r\n');
    // The message's own header block ends with an empty line, in whose place ours go.
    const own =
      payloadStart > bodyStart ? buffer.toString('latin1', bodyStart, payloadStart - CRLF_BYTES) : VERSION_LINE;
    const headers = Buffer.from(`${own}${origin}\r\n\r\n`, 'latin1');
    const body = Buffer.concat([headers, buffer.subarray(payloadStart, end)]);
    this.send(reply, body, headers.length);
  }

  private sendStatus(reply: Buffer, status: string): void {
    const body = Buffer.from(`NATS/1.0 ${status}\r\n\r\n`, 'latin1');
    this.send(reply, body, body.length);
  }

  private send(reply: Buffer, body: Buffer, headerBytes: number): void {
    const answer = new Message();
    answer.setSubject(reply, 0, reply.length);
    answer.setBody(body, 0, headerBytes, body.length);
    this.stream.account.route(answer);
  }
}

function saysAnyOf(body: MessageGetBody, fields: ReadonlySet<string>): boolean {
  return messageGetBody.fields.some((field) => fields.has(field.json) && !field.isEmpty(body));
}

function lastUnder(subject: string): Wanted {
  return { kind: 'last', subject };
}
