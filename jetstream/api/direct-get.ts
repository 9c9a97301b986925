/**
 * Direct gets of one stream: messages as they are, with headers that say where they come from, and no JSON.
 *
 *     $JS.API.DIRECT.GET.<stream>             {"seq":n} | {"last_by_subj":s} | {"next_by_subj":s,"seq":n} | {"start_time":t}
 *                                             with "batch":k that many from there on; "multi_last":[s…]: the last of each
 *     $JS.API.DIRECT.GET.<stream>.<subject>   the last one under the subject
 *
 * What is read of a request stands in `direct-get-request.ts`, how several messages are sent in `direct-get-batch.ts`.
 *
 * Source: ADR-31.
 */

import { Buffer } from 'node:buffer';
import type { Message } from '../../server/protocol/message.ts';
import { Subscription } from '../../server/subject/subscription.ts';
import { CallbackSink } from '../consumer/consumer-sinks.ts';
import type { RecordView } from '../store/record.ts';
import type { Stream } from '../stream/stream.ts';
import { sendBatch, sendLastOfEach } from './direct-get-batch.ts';
import { DirectGetAnswer } from './direct-get-answer.ts';
import { type DirectGetRequest, readDirectGet } from './direct-get-request.ts';
import { findMessage } from './message-search.ts';
import { type Paced, runPaced } from '../store/paced-work.ts';

const PREFIX = '$JS.API.DIRECT.GET.';
const QUEUE_GROUP = '_sys_';

export class DirectGets {
  private readonly stream: Stream;
  /** Of the stream that is asked for. */
  private readonly name: string;
  private readonly isAllowed: () => boolean;
  private readonly sink: CallbackSink;
  private subscriptions: Subscription[] = [];
  private isStopped = false;

  /** Answers for the stream by this name, from `update` on, while that `isAllowed`. */
  constructor(stream: Stream, name: string, isAllowed: () => boolean) {
    this.stream = stream;
    this.name = name;
    this.isAllowed = isAllowed;
    this.sink = new CallbackSink((message) => this.take(message));
  }

  /** Whether it is allowed may have changed. */
  update(): void {
    const isAllowed = !this.isStopped && this.isAllowed();
    if (isAllowed === this.subscriptions.length > 0) return;
    this.unsubscribe();
    if (!isAllowed) return;
    const subject = PREFIX + this.name;
    for (const each of [subject, `${subject}.>`]) {
      const subscription = new Subscription(this.sink, each, QUEUE_GROUP, '');
      this.subscriptions.push(subscription);
      this.stream.account.subscribe(subscription);
    }
  }

  stop(): void {
    this.isStopped = true;
    this.unsubscribe();
  }

  private unsubscribe(): void {
    for (const subscription of this.subscriptions) this.stream.account.unsubscribe(subscription);
    this.subscriptions = [];
  }

  private take(message: Message): void {
    if (!message.hasReply) return;
    const { stream } = this;
    const reply = Buffer.from(message.reply.subarray(message.replyStart, message.replyEnd));
    const answer = new DirectGetAnswer(stream.account, stream.name, reply);
    const request = readDirectGet(message, PREFIX.length + this.name.length + 1);
    if (typeof request === 'string') {
      answer.status(request);
      return;
    }
    const begin = (): void => this.answer(request, answer);
    // Who was told by its origin that a message is stored may ask a mirror for it at once.
    if (stream.config.mirror === null) begin();
    else stream.whenVisible(begin);
  }

  private answer(request: DirectGetRequest, answer: DirectGetAnswer): void {
    const { stream } = this;
    const isStopped = (): boolean => this.isStopped;
    if (!isStopped())
      runPaced(stream.host.io, stream.store, this.answerTo(request, answer), isStopped, () => undefined);
  }

  private answerTo(request: DirectGetRequest, answer: DirectGetAnswer): Paced<void> {
    const { store } = this.stream;
    const maxBytes = request.maxBytes > 0 ? request.maxBytes : this.stream.host.maxPendingBytes;
    switch (request.kind) {
      case 'one':
        return sendOne(this.stream, request, answer);
      case 'batch':
        return sendBatch(store, { ...request, maxBytes }, answer);
      case 'last of each':
        return sendLastOfEach(store, { ...request, maxBytes }, answer);
    }
  }
}

function* sendOne(
  { store }: Stream,
  { wanted, noHeaders }: Extract<DirectGetRequest, { kind: 'one' }>,
  answer: DirectGetAnswer,
): Paced<void> {
  const found: RecordView | null = yield* findMessage(store, wanted);
  if (found === null) answer.status('404 Message Not Found');
  else if (noHeaders) answer.payload(found);
  else answer.message(found, '');
}
