/**
 * The API of one account: requests to `$JS.API.>` are copied, queued, and handled one after the other behind the turn in
 * which they came, so that what a publisher sent behind a request is not affected by it yet. Those that only ask have a
 * queue of their own: they need not wait until what others change is on the disk.
 *
 * Requests for messages (MSG.NEXT, DIRECT.GET) have subscriptions of their own, with consumers and streams: where there is
 * none, nobody answers here either, and the requester hears that there are no responders. A subject that is none of the
 * API's is taken and not answered, as nats-server does.
 *
 * A request to `$JS.<domain>.API.>` becomes the one without the domain, whoever answers that. So do messages for buckets,
 * which clients put behind the same prefix: `$JS.<domain>.API.$KV.>`, `$JS.<domain>.API.$OBJ.>`.
 *
 * Bound: request_queue_limit and info_queue_limit requests; with one more all that wait are dropped.
 */

import { Buffer } from 'node:buffer';
import { Message } from '../../server/protocol/message.ts';
import type { Sink, SinkKind } from '../../server/ports.ts';
import { subjectMatches } from '../../server/subject/subject.ts';
import { Subscription } from '../../server/subject/subscription.ts';
import { absentHandlers } from './absent-requests.ts';
import { accountInfo } from './account-requests.ts';
import { adviseDropped, auditRequest } from './api-audit.ts';
import type { ApiContext, ApiEntry } from './api-handler.ts';
import { ApiQueue } from './api-queue.ts';
import { ApiRequest } from './api-request.ts';
import { consumerControlHandlers } from './consumer-control-requests.ts';
import { consumerHandlers } from './consumer-requests.ts';
import { consumerResetHandlers } from './consumer-reset-requests.ts';
import type { JetStreamAccount } from './jetstream-account.ts';
import type { JetStream } from './jetstream.ts';
import { refuseLevel } from './level-refusals.ts';
import { messageHandlers } from './message-requests.ts';
import { snapshotHandlers } from './snapshot-requests.ts';
import { streamHandlers } from './stream-requests.ts';

const BUCKETS: readonly string[] = ['$KV.', '$OBJ.'];
const PREFIX = '$JS.API.';
/** A request that nats-server takes outside its API: not counted, not audited, and idle when nobody wants an answer. */
const UNCOUNTED = 'CONSUMER.RESET.';
/** Requests that only ask. */
const QUESTION = /^(INFO|(STREAM|CONSUMER)\.(INFO|NAMES|LIST)(\..*)?)$/;

/** Handlers by what follows the prefix in the subject. */
const HANDLERS: readonly ApiEntry[] = [
  ['INFO', accountInfo],
  ...streamHandlers,
  ...consumerHandlers,
  ...consumerControlHandlers,
  ...consumerResetHandlers,
  ...messageHandlers,
  ...snapshotHandlers,
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
  private readonly changes: ApiQueue<ApiRequest>;
  private readonly questions: ApiQueue<ApiRequest>;

  constructor(jetstream: JetStream, owner: JetStreamAccount) {
    this.jetstream = jetstream;
    this.owner = owner;
    this.context = { jetstream, owner };
    const { timers } = jetstream.io;
    const { requestQueueLimit, infoQueueLimit } = jetstream.options;
    const handle = (request: ApiRequest, done: () => void): void => this.handle(request, done);
    this.changes = new ApiQueue(timers, requestQueueLimit, handle);
    this.questions = new ApiQueue(timers, infoQueueLimit, handle);
  }

  start(): void {
    this.subscribe('$JS.API.>');
    const { domain } = this.jetstream;
    if (domain !== '') this.subscribe(`$JS.${domain}.API.>`);
  }

  stop(): void {
    for (const subscription of this.subscriptions) this.owner.account.unsubscribe(subscription);
    this.changes.clear();
    this.questions.clear();
  }

  private subscribe(subject: string): void {
    const subscription = new Subscription(this, subject, '', '');
    this.subscriptions.push(subscription);
    this.owner.account.subscribe(subscription);
  }

  deliver(_subscription: Subscription, message: Message): boolean {
    const subject = message.subjectText();
    if (!subject.startsWith(PREFIX)) return this.forward(subject, message);
    const path = subject.slice(PREFIX.length);
    if (path.startsWith('DIRECT.GET') || path.startsWith('CONSUMER.MSG.NEXT.')) return false;
    if (path.startsWith(UNCOUNTED) && !message.hasReply) return true;
    if (entryFor(path) !== undefined) this.enqueue(path, new ApiRequest(this.owner.account, subject, message));
    return true;
  }

  private enqueue(path: string, request: ApiRequest): void {
    const { jetstream } = this;
    const isQuestion = QUESTION.test(path);
    const dropped = (isQuestion ? this.questions : this.changes).push(request);
    if (dropped === 0) return;
    const queue = isQuestion ? 'JetStream API info queue' : 'JetStream API queue';
    jetstream.log.warn(`${queue} limit reached, dropping ${dropped} requests`);
    adviseDropped(jetstream, dropped);
  }

  private forward(subject: string, message: Message): boolean {
    const { local } = this;
    const request = subject.slice(`$JS.${this.jetstream.domain}.API.`.length);
    const isOfBucket = BUCKETS.some((prefix) => request.startsWith(prefix));
    const withoutDomain = Buffer.from(isOfBucket ? request : `${PREFIX}${request}`, 'latin1');
    local.setSubject(withoutDomain, 0, withoutDomain.length);
    local.setReply(message.reply, message.replyStart, message.replyEnd);
    local.setBody(message.body, message.bodyStart, message.payloadStart, message.bodyEnd);
    local.source = message.source;
    local.producer = message.producer;
    return this.owner.account.route(local);
  }

  private handle(request: ApiRequest, done: () => void): void {
    const path = request.subject.slice(PREFIX.length);
    request.onAnswered = (isError, answer) => {
      if (path.startsWith(UNCOUNTED)) {
        done();
        return;
      }
      if (isError) this.owner.apiErrors++;
      this.owner.apiTotal++;
      auditRequest(this.jetstream, request, answer);
      done();
    };
    request.onLeft = done;
    if (request.asksTooHighLevel && refuseLevel(request)) return;
    const [, handler] = entryFor(path) as ApiEntry;
    handler(this.context, request);
  }
}

function entryFor(path: string): ApiEntry | undefined {
  return HANDLERS.find(([pattern]) => subjectMatches(pattern, path));
}
