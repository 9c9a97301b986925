/**
 * The consumer on an origin from which a reader is fed, over the API of the account or of another domain: asked for,
 * listened to, and asked for again at the reader's position whenever something is amiss.
 *
 *     start ─► waiting ─delay over, or somebody listens to the API─► asking ─answered─► reading
 *                 ▲                                                    │                   │
 *                 └── nobody, refused, no answer in time ──────────────┘                   │
 *                 └── a gap, silence of SILENCE_MS, a message that can't be stored, ───────┘
 *                     somebody else listens to the API: a link, or the server behind it, is another one
 *
 * A message counts only when it is the next one of the present consumer; heartbeats say whether the last one came. So
 * what is lost on the way is noticed with the next message or within a heartbeat, and nothing is taken twice.
 *
 * Flow control is answered when what came before it is durable. That bounds what is on its way here, and tells an origin
 * that lets messages go when they are acknowledged how far that is.
 *
 * Source: nats-server's processInboundMirrorMsg and processInboundSourceMsg.
 */

import type { Timer } from '../../server/io/io.ts';
import type { Message } from '../../server/protocol/message.ts';
import { Subscription } from '../../server/subject/subscription.ts';
import { CallbackSink } from '../consumer/consumer-sinks.ts';
import { type ApiError, ApiErrors, isApiError } from '../errors.ts';
import { type CallAnswer, OriginCall, type OriginCalls, publish, uniqueSubject } from './origin-call.ts';
import { OriginInterest } from './origin-interest.ts';
import { OriginPlace } from './origin-place.ts';
import type { OriginReader } from './origin-reader.ts';
import {
  apiPrefix,
  apiSubject,
  createRequest,
  HEARTBEAT_MS,
  isOldServerError,
  type OriginConsumerInfo,
  type OriginRequest,
  readAnswer,
  resetRequest,
} from './origin-request.ts';
import { RetryDelay } from './retry-delay.ts';

/** An origin that says nothing for so long is asked anew. */
const SILENCE_MS: number = 3 * HEARTBEAT_MS;
const ANSWER_MS = 5000;
const STALLED_MAX = 3;
const CONTROL = 'NATS/1.0 100 ';
const DELIVER_PREFIX = '$JS';

type Phase = 'waiting' | 'asking' | 'reading' | 'stopped';

export class OriginConsumer {
  /** Why it is not fed at present; `null`: nothing is known against it. */
  error: ApiError | null = null;
  /** Messages that the origin had behind the last one that came. */
  lag = 0;
  /** Monotonic milliseconds of the last message or heartbeat; -1: none yet. */
  lastHeardMs = -1;
  private readonly calls: OriginCalls;
  private readonly reader: OriginReader;
  private readonly delay: RetryDelay;
  private readonly interest: OriginInterest;
  private readonly place = new OriginPlace();
  private phase: Phase = 'waiting';
  private timer: Timer | null = null;
  private call: OriginCall | null = null;
  private subscription: Subscription | null = null;
  /** Name of the present consumer, how many messages of it came, and the sequence of the last one. */
  private name = '';
  private delivered = 0;
  private seen = 0;
  /** Once a server did not know the present form of a request. */
  private isOldForm = false;
  private stalledOn = '';
  private stalledTimes = 0;

  constructor(calls: OriginCalls, reader: OriginReader) {
    this.calls = calls;
    this.reader = reader;
    this.delay = new RetryDelay(() => calls.io.random.fraction());
    this.interest = new OriginInterest(calls.account, () => this.wait(this.delay.soon()));
  }

  start(): void {
    this.wait(this.delay.soon());
  }

  /** Leaves the consumer alone: it may be needed after a restart. */
  stop(): void {
    this.close();
    this.interest.stop();
    this.phase = 'stopped';
  }

  /** Nothing will be read from the origin any more: its consumer, if it was made for this, can go. */
  end(): void {
    const { account } = this.calls;
    const { source } = this.reader;
    const isOurs = this.name !== '' && source.consumer === null;
    const { name } = this;
    this.stop();
    if (isOurs) publish(account, apiSubject(source, `CONSUMER.DELETE.${source.name}.${name}`), '', '', '');
  }

  // ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────────

  private close(): void {
    this.timer?.cancel();
    this.timer = null;
    this.call?.drop();
    this.call = null;
    if (this.subscription !== null) this.calls.account.unsubscribe(this.subscription);
    this.subscription = null;
  }

  private wait(delayMs: number): void {
    this.close();
    this.phase = 'waiting';
    this.timer = this.calls.io.timers.after(delayMs, () => this.ask());
  }

  /** Something is amiss: begins again in a while. */
  private fail(error: ApiError | null): void {
    if (error !== null) this.error = error;
    this.wait(this.delay.next());
  }

  private ask(): void {
    this.close();
    this.phase = 'asking';
    const request = this.request();
    this.interest.watch(request.subject);
    this.call = new OriginCall(this.calls, (answer) => this.answered(answer));
    if (!this.call.send(request.subject, request.headers, request.text, ANSWER_MS)) this.unanswered();
  }

  private request(): OriginRequest {
    const { reader, isOldForm } = this;
    const { source, consumerName, metadata, identity } = reader;
    if (source.consumer !== null) return resetRequest(source, identity);
    const prefix = source.external?.deliverPrefix || DELIVER_PREFIX;
    return createRequest(source, {
      name: isOldForm ? `${consumerName}_${uniqueSubject(this.calls, '').slice(1)}` : consumerName,
      deliverSubject: uniqueSubject(this.calls, `${prefix}.${reader.deliverToken}`.replaceAll('..', '.')),
      start: reader.start(),
      metadata,
      identity,
      isOldForm,
    });
  }

  private answered(answer: CallAnswer | null): void {
    this.call = null;
    if (answer === null) {
      this.unanswered();
      return;
    }
    const info = readAnswer(answer.headers, answer.text);
    if (info === null) this.fail(this.setupError('invalid consumer create response'));
    else if (isApiError(info)) this.refused(info);
    else this.opened(info);
  }

  /** Nobody is there, or nobody who answers: a domain that is mistyped looks like a link that is down. */
  private unanswered(): void {
    this.fail(this.setupError(`no answer from ${apiPrefix(this.reader.source)}`));
  }

  private refused(error: ApiError): void {
    const { reader } = this;
    if (error.errCode === ApiErrors.consumerStreamIdentityMismatch('').errCode) {
      reader.recreated();
      this.wait(this.delay.soon());
    } else if (!this.isOldForm && isOldServerError(error)) {
      this.isOldForm = true;
      this.wait(this.delay.soon());
    } else this.fail(error);
  }

  private setupError(text: string): ApiError {
    const { mirrorConsumerSetupFailed, sourceConsumerSetupFailed } = ApiErrors;
    return this.reader.deliverToken === 'M' ? mirrorConsumerSetupFailed(text) : sourceConsumerSetupFailed(text);
  }

  private opened(info: OriginConsumerInfo): void {
    const { reader } = this;
    const error = this.unfit(info) ?? reader.opened(info);
    if (error !== null) {
      this.fail(error);
      return;
    }
    this.error = null;
    this.phase = 'reading';
    this.name = info.name;
    this.delivered = 0;
    this.seen = 0;
    this.stalledOn = '';
    this.lag = info.pending;
    this.heard();
    const deliverSubject = reader.source.consumer?.deliverSubject ?? info.deliverSubject;
    this.subscription = new Subscription(new CallbackSink((each) => this.received(each)), deliverSubject, '', '');
    this.calls.account.subscribe(this.subscription);
    this.watchSilence();
    const { subscription } = this;
    reader.verify((amiss) => {
      if (this.subscription === subscription) this.fail(amiss);
    });
  }

  private unfit({ ackPolicy }: OriginConsumerInfo): ApiError | null {
    if (this.reader.source.consumer === null || ackPolicy === 'flow_control') return null;
    const { mirrorConsumerRequiresAckFlowControl, sourceConsumerRequiresAckFlowControl } = ApiErrors;
    return this.reader.deliverToken === 'M'
      ? mirrorConsumerRequiresAckFlowControl
      : sourceConsumerRequiresAckFlowControl;
  }

  // ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────

  private heard(): void {
    this.lastHeardMs = this.calls.io.clock.monotonicMs();
  }

  private watchSilence(): void {
    const { clock, timers } = this.calls.io;
    const left = this.lastHeardMs + SILENCE_MS - clock.monotonicMs();
    if (left <= 0) this.fail(null);
    else this.timer = timers.after(left, () => this.watchSilence());
  }

  private received(message: Message): void {
    if (this.phase !== 'reading') return;
    if (isControl(message)) {
      this.heard();
      this.control(message);
      return;
    }
    const { place, reader } = this;
    if (!place.read(message) || place.consumer !== this.name || place.deliveries > 1) return;
    this.heard();
    if (place.consumerSequence !== this.delivered + 1) {
      this.fail(null);
      return;
    }
    if (place.sequence > reader.position) {
      const error = reader.take(message, place);
      if (error !== null) {
        this.fail(error);
        return;
      }
      this.delay.reset();
    }
    this.delivered = place.consumerSequence;
    this.seen = place.sequence;
    this.lag = Math.max(0, place.pending - 1);
    this.unstalled();
  }

  private control(message: Message): void {
    const headers = message.body.toString('latin1', message.bodyStart, message.payloadStart);
    if (message.hasReply) {
      this.answerFlowControl(message.replyText());
      return;
    }
    const last = valueIn(headers, 'Nats-Last-Consumer');
    if (last !== '' && last !== '0' && last !== String(this.delivered)) {
      this.fail(null);
      return;
    }
    this.delay.reset();
    const stalled = valueIn(headers, 'Nats-Consumer-Stalled');
    if (stalled === '') this.unstalled();
    else this.stalled(stalled);
  }

  private answerFlowControl(reply: string): void {
    const { delivered, seen, reader, name } = this;
    const headers = `NATS/1.0\r\nNats-Last-Consumer: ${delivered}\r\nNats-Last-Stream: ${seen}\r\n\r\n`;
    reader.whenDurable(() => {
      if (this.phase === 'reading' && this.name === name) publish(this.calls.account, reply, '', headers, '');
    });
  }

  /** The origin waits for an answer; when it does so again and again, answers do not get there. */
  private stalled(reply: string): void {
    if (reply !== this.stalledOn) this.stalledTimes = 0;
    this.stalledOn = reply;
    if (++this.stalledTimes === STALLED_MAX) this.error = ApiErrors.sourceConsumerFlowControlStalled;
    this.answerFlowControl(reply);
  }

  private unstalled(): void {
    if (this.stalledOn === '') return;
    this.stalledOn = '';
    if (this.error === ApiErrors.sourceConsumerFlowControlStalled) this.error = null;
  }
}

function isControl({ body, bodyStart, payloadStart, bodyEnd }: Message): boolean {
  if (bodyEnd > payloadStart || payloadStart - bodyStart < CONTROL.length) return false;
  return body.toString('latin1', bodyStart, bodyStart + CONTROL.length) === CONTROL;
}

/** The value of the header in the block; empty: there is none. */
function valueIn(headers: string, name: string): string {
  const at = headers.indexOf(`\r\n${name}:`);
  if (at < 0) return '';
  const start = at + name.length + 3;
  return headers.slice(start, headers.indexOf('\r\n', start)).trim();
}
