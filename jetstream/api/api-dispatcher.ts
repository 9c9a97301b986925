/**
 * The API of one account: requests to `$JS.API.>` are copied, queued, and handled one after the other behind the turn in
 * which they came, so that what a publisher sent behind a request is not affected by it yet.
 *
 * Requests for messages (MSG.NEXT, DIRECT.GET) have subscriptions of their own, with consumers and streams: where there is
 * none, nobody answers here either, and the requester hears that there are no responders. A subject that is none of the
 * API's is taken and not answered, as nats-server does; a request that petiole does not have yet is refused by its name.
 *
 * A request to `$JS.<domain>.API.>` becomes the one without the domain, whoever answers that.
 *
 * Bound: request_queue_limit requests; beyond it all that wait are dropped.
 */

import { Buffer } from 'node:buffer';
import { Message } from '../../server/protocol/message.ts';
import { asksTooHighLevel } from '../../server/protocol/required-level.ts';
import type { Sink, SinkKind } from '../../server/ports.ts';
import { subjectMatches } from '../../server/subject/subject.ts';
import { Subscription } from '../../server/subject/subscription.ts';
import { absentHandlers } from './absent-requests.ts';
import { accountInfo } from './account-requests.ts';
import type { ApiContext, ApiEntry, ApiHandler } from './api-handler.ts';
import { ApiRequest } from './api-request.ts';
import { consumerHandlers } from './consumer-requests.ts';
import type { JetStreamAccount } from './jetstream-account.ts';
import type { JetStream } from './jetstream.ts';
import { refuseLevel } from './level-refusals.ts';
import { messageHandlers } from './message-requests.ts';
import { streamHandlers } from './stream-requests.ts';

const PREFIX = '$JS.API.';
const PREFIX_TOKENS = 2;

/** Handlers by what follows the prefix in the subject. */
const HANDLERS: readonly ApiEntry[] = [
  ['INFO', accountInfo],
  ...streamHandlers,
  ...consumerHandlers,
  ...messageHandlers,
  ...absentHandlers,
];

export class ApiDispatcher implements Sink {
  readonly sinkKind: SinkKind = 'internal';
  private readonly context: ApiContext;
  private readonly jetstream: JetStream;
  private readonly owner: JetStreamAccount;
  private readonly subscriptions: Subscription[] = [];
  /** A request without the domain that it named. */
  private readonly local = new Message();
  private queue: ApiRequest[] = [];
  private busy = false;

  constructor(jetstream: JetStream, owner: JetStreamAccount) {
    this.jetstream = jetstream;
    this.owner = owner;
    this.context = { jetstream, owner };
  }

  start(): void {
    this.subscribe('$JS.API.>');
    const { domain } = this.jetstream;
    if (domain !== '') this.subscribe(`$JS.${domain}.API.>`);
  }

  stop(): void {
    for (const subscription of this.subscriptions) this.owner.account.unsubscribe(subscription);
    this.queue = [];
  }

  private subscribe(subject: string): void {
    const subscription = new Subscription(this, subject, '', '');
    this.subscriptions.push(subscription);
    this.owner.account.subscribe(subscription);
  }

  deliver(_subscription: Subscription, message: Message): boolean {
    const subject = message.subjectText();
    if (!subject.startsWith(PREFIX)) return this.forward(subject, message);
    const path = subject.split('.').slice(PREFIX_TOKENS);
    if (path[0] === 'DIRECT' || (path[0] === 'CONSUMER' && path[1] === 'MSG')) return false;
    if (handlerFor(path) === undefined) return true;
    if (this.queue.length >= this.jetstream.options.requestQueueLimit) {
      this.jetstream.log.warn(`JetStream API queue limit reached, dropping ${this.queue.length} requests`);
      this.queue = [];
    }
    const reply = Buffer.from(message.reply.subarray(message.replyStart, message.replyEnd));
    const body = message.body.toString('latin1', message.payloadStart, message.bodyEnd);
    this.queue.push(new ApiRequest(this.owner.account, path, reply, body, asksTooHighLevel(message)));
    if (!this.busy) this.next();
    return true;
  }

  private forward(subject: string, message: Message): boolean {
    const { local } = this;
    const withoutDomain = Buffer.from(`$JS.${subject.slice(`$JS.${this.jetstream.domain}.`.length)}`, 'latin1');
    local.setSubject(withoutDomain, 0, withoutDomain.length);
    local.setReply(message.reply, message.replyStart, message.replyEnd);
    local.setBody(message.body, message.bodyStart, message.payloadStart, message.bodyEnd);
    local.source = message.source;
    local.producer = message.producer;
    return this.owner.account.route(local);
  }

  private next(): void {
    this.busy = this.queue.length > 0;
    if (!this.busy) return;
    this.jetstream.io.timers.afterTurn(() => this.handle());
  }

  private handle(): void {
    const request = this.queue.shift();
    const handler = request === undefined ? undefined : handlerFor(request.tokens);
    if (request === undefined || handler === undefined) {
      this.next();
      return;
    }
    request.onAnswered = (isError) => {
      this.owner.apiTotal++;
      if (isError) this.owner.apiErrors++;
      this.next();
    };
    if (!request.asksTooHighLevel || !refuseLevel(request)) handler(this.context, request);
  }
}

function handlerFor(tokens: readonly string[]): ApiHandler | undefined {
  const subject = tokens.join('.');
  return HANDLERS.find(([pattern]) => subjectMatches(pattern, subject))?.[1];
}
