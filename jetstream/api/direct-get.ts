/**
 * Direct gets of one stream: messages as they are, with headers that say where they come from, and no JSON.
 *
 *     $JS.API.DIRECT.GET.<stream>             {"seq":n} | {"last_by_subj":s} | {"next_by_subj":s,"seq":n}
 *     $JS.API.DIRECT.GET.<stream>.<subject>   the last one under the subject
 *
 * Source: ADR-31.
 */

import { Buffer } from 'node:buffer';
import { decode } from '../../server/protocol/go-json.ts';
import { Message } from '../../server/protocol/message.ts';
import { Subscription } from '../../server/subject/subscription.ts';
import { CallbackSink } from '../consumer/consumer-sinks.ts';
import type { RecordView } from '../store/record.ts';
import type { Stream } from '../stream/stream.ts';
import { encodeTime } from './api-time.ts';
import { wantedMessage } from './message-requests.ts';
import { findMessage, type Wanted } from './message-search.ts';
import { messageGetBody } from './request-bodies.ts';

const PREFIX = '$JS.API.DIRECT.GET.';
const QUEUE_GROUP = '_sys_';
const VERSION_LINE = 'NATS/1.0\r\n';
const CRLF_BYTES = 2;

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
    const wanted = this.wanted(message, reply);
    if (wanted === null) return;
    findMessage(this.stream.store, wanted, (found) => {
      if (found === null) this.sendStatus(reply, '404 Message Not Found');
      else this.sendMessage(reply, found);
    });
  }

  /** What the request asks for; `null` when it was refused. */
  private wanted(message: Message, reply: Buffer): Wanted | null {
    const subject = message.subject.toString('latin1', message.subjectStart, message.subjectEnd);
    const named = subject.slice(PREFIX.length + this.stream.name.length);
    if (named !== '') return { kind: 'last', subject: named.slice(1) };
    const body = message.body.toString('latin1', message.payloadStart, message.bodyEnd);
    if (body === '') {
      this.sendStatus(reply, '408 Empty Request');
      return null;
    }
    const { value, error } = decode(body, messageGetBody);
    if (error !== null) {
      this.sendStatus(reply, '408 Malformed Request');
      return null;
    }
    const wanted = wantedMessage(value);
    if (wanted === null) this.sendStatus(reply, '408 Bad Request');
    return wanted;
  }

  private sendMessage(reply: Buffer, found: RecordView): void {
    const { buffer, bodyStart, payloadStart, end } = found;
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
