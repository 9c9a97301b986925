/**
 * Delivery to a subject, while anybody listens to exactly that: a plain subscription, or one of the deliver group if the
 * consumer has such a group. Whoever else matches the subject gets the messages too.
 *
 *     listener comes ──► bound ──► messages ──► held back by: flow control, rate limit, much unsent
 *     listener goes  ──► not bound, and after the inactive threshold the consumer ends, if it has one
 *
 * Source: nats-server's loopAndGatherMsgs and updateDeliveryInterest.
 */

import { Buffer } from 'node:buffer';
import type { Timer } from '../../server/io/io.ts';
import type { Message } from '../../server/protocol/message.ts';
import { millisecondsOf } from '../../server/protocol/nanoseconds.ts';
import { asksTooHighLevel } from '../../server/protocol/required-level.ts';
import { copySubject } from './ack-subject.ts';
import type { ConsumerConfig } from './consumer-config.ts';
import { CallbackSink } from './consumer-sinks.ts';
import type { Delivery, DeliveryHost, Take } from './delivery.ts';
import { heartbeatOf, IdleHeartbeat } from './idle-heartbeat.ts';
import { type FlowHost, PushFlow } from './push-flow.ts';
import { sendStatus } from './push-status.ts';
import { RateLimit } from './rate-limit.ts';

/** Bytes that a rate limit lets pass at once, where the stream sets no largest message. */
const RATE_BURST_BYTES: number = 1024 * 1024;

export interface PushHost extends FlowHost {
  readonly stream: DeliveryHost['stream'] & {
    readonly config: { readonly maxMsgSize: number };
  };
  /** What is pending is to be delivered again now. */
  redeliverPending(): void;
}

export class PushDelivery implements Delivery {
  readonly numWaiting = 0;
  readonly queueGroups = null;
  readonly pin = null;
  readonly pinId = null;
  isBound = false;
  destination: Buffer;
  private readonly host: PushHost;
  private readonly flow: PushFlow | null;
  private readonly heartbeat: IdleHeartbeat | null;
  private readonly onInterest = (): void => this.interestChanged();
  private subject: string;
  private rateLimit: RateLimit | null;
  private rateTimer: Timer | null = null;
  private takenBytes = 0;
  private takenAtMs = 0;

  constructor(host: PushHost) {
    const { config, stream } = host;
    const intervalMs = millisecondsOf(config.idleHeartbeatNs);
    this.host = host;
    this.subject = config.deliverSubject;
    this.destination = Buffer.from(config.deliverSubject, 'latin1');
    this.flow = config.flowControl ? new PushFlow(host) : null;
    this.heartbeat = intervalMs > 0 ? new IdleHeartbeat(stream.host.io, intervalMs, () => this.beat()) : null;
    this.rateLimit = this.newRateLimit(config.rateLimitBps);
  }

  start(): void {
    const { host } = this;
    const pulls = new CallbackSink((message) => this.pulled(message));
    host.subscribe(pulls, `$JS.API.CONSUMER.MSG.NEXT.${host.stream.name}.${host.name}`);
    this.flow?.start();
    this.heartbeat?.start();
    host.stream.account.watch(this.subject, this.onInterest);
    this.interestChanged();
  }

  update(config: ConsumerConfig): void {
    const { account } = this.host.stream;
    this.rateLimit = this.newRateLimit(config.rateLimitBps);
    if (config.deliverSubject !== this.subject) {
      account.unwatch(this.subject, this.onInterest);
      this.subject = config.deliverSubject;
      this.destination = Buffer.from(config.deliverSubject, 'latin1');
      account.watch(this.subject, this.onInterest);
      // Whoever acknowledges by flow control begins anew by itself.
      if (config.ackPolicy !== 'flow_control') this.host.redeliverPending();
    }
    this.interestChanged();
  }

  stop(): void {
    this.host.stream.account.unwatch(this.subject, this.onInterest);
    this.heartbeat?.stop();
    this.rateTimer?.cancel();
    this.rateTimer = null;
    this.isBound = false;
  }

  get isInUse(): boolean {
    return this.isBound;
  }

  private interestChanged(): void {
    const { host } = this;
    const wasBound = this.isBound;
    this.isBound = host.stream.account.hasExactInterest(this.destination, host.config.deliverGroup);
    if (this.isBound) host.wake();
    else if (wasBound) host.used();
  }

  // ── requests ─────────────────────────────────────────────────────────────────────────────────────────────────────

  private pulled(message: Message): void {
    if (!message.hasReply) return;
    const reply = copySubject(message.reply, message.replyStart, message.replyEnd);
    if (asksTooHighLevel(message)) sendStatus(this.host.stream.account, reply, '412 Required Api Level\r\n');
    else this.request(reply);
  }

  request(reply: Buffer): void {
    sendStatus(this.host.stream.account, reply, '409 Consumer is push based\r\n');
  }

  // ── delivering ───────────────────────────────────────────────────────────────────────────────────────────────────

  get isReady(): boolean {
    return this.isBound && this.rateTimer === null && this.flow?.isFull !== true;
  }

  take(bytes: number, nowMs: number): Take {
    if (this.host.stream.account.isCongested(this.destination)) return 'congested';
    if (this.rateLimit !== null) {
      const delayMs = this.rateLimit.take(bytes, nowMs);
      if (delayMs > 0) return this.holdBack(delayMs);
    }
    this.takenBytes = bytes;
    this.takenAtMs = nowMs;
    return 'taken';
  }

  private holdBack(delayMs: number): 'later' {
    this.rateTimer = this.host.stream.host.io.timers.after(delayMs, () => {
      this.rateTimer = null;
      this.host.wake();
    });
    return 'later';
  }

  private newRateLimit(bitsPerSecond: number): RateLimit | null {
    if (bitsPerSecond === 0) return null;
    const { config, host } = this.host.stream;
    const burstBytes = config.maxMsgSize > 0 ? config.maxMsgSize : RATE_BURST_BYTES;
    return new RateLimit(bitsPerSecond, burstBytes, host.io.clock.monotonicMs());
  }

  delivered(): void {
    this.heartbeat?.sent(this.takenAtMs);
    this.flow?.sent(this.takenBytes, this.destination);
  }

  review(): void {
    // Nobody waits who would have to be told.
  }

  private beat(): void {
    if (!this.isBound) return;
    const request = this.flow?.openRequest ?? '';
    const stalled = request === '' ? '' : `Nats-Consumer-Stalled: ${request}\r\n`;
    sendStatus(this.host.stream.account, this.destination, heartbeatOf(this.host) + stalled);
    this.flow?.askForRest(this.destination);
  }
}
