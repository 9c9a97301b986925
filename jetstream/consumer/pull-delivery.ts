/**
 * Delivery to those who ask: requests on `$JS.API.CONSUMER.MSG.NEXT.<stream>.<consumer>` wait in turn for messages, and
 * are told when they end without.
 *
 * Source: ADR-13; nats-server's processNextMsgReq.
 */

import { Buffer } from 'node:buffer';
import type { Timer } from '../../server/io/io.ts';
import type { Message } from '../../server/protocol/message.ts';
import { millisecondsOf } from '../../server/protocol/nanoseconds.ts';
import { asksTooHighLevel } from '../../server/protocol/required-level.ts';
import { copySubject } from './ack-subject.ts';
import { durationText } from './consumer-config.ts';
import { CallbackSink } from './consumer-sinks.ts';
import type { Delivery, DeliveryHost, Take } from './delivery.ts';
import { heartbeatOf } from './idle-heartbeat.ts';
import { PinnedClient } from './pinned-client.ts';
import { PriorityTurns } from './priority-turns.ts';
import { type PullRequest, readPullRequest, type RequestLimits } from './pull-request.ts';
import { WaitingPulls } from './waiting-pulls.ts';

const NOWHERE = Buffer.alloc(0);

export class PullDelivery implements Delivery {
  readonly isBound = null;
  readonly queueGroups = null;
  destination: Buffer = NOWHERE;
  private readonly host: DeliveryHost;
  private readonly waiting: WaitingPulls;
  readonly pin: PinnedClient;
  private taken: PullRequest | null = null;
  private limits: RequestLimits;
  private reviewTimer: Timer | null = null;

  constructor(host: DeliveryHost) {
    this.host = host;
    this.pin = new PinnedClient({
      io: host.stream.host.io,
      config: () => host.config,
      events: host.advisories,
      onUnpinned: () => host.wake(),
    });
    const turns = new PriorityTurns(host, this.pin);
    this.waiting = new WaitingPulls(host.stream.account, host.config.maxWaiting, turns, () => host.used());
    this.limits = requestLimits(host);
  }

  start(): void {
    const { host } = this;
    const pulls = new CallbackSink((message) => this.pulled(message));
    host.subscribe(pulls, `$JS.API.CONSUMER.MSG.NEXT.${host.stream.name}.${host.name}`);
  }

  update(): void {
    this.limits = requestLimits(this.host);
    if (this.pinId === null) this.pin.clear();
  }

  get pinId(): string | null {
    return this.host.config.priorityPolicy === 'pinned_client' ? this.pin.id : null;
  }

  stop(status: string | null): void {
    if (status !== null) this.waiting.endAll(status);
    this.pin.clear();
    this.reviewTimer?.cancel();
    this.reviewTimer = null;
  }

  get isReady(): boolean {
    return this.waiting.size > 0;
  }

  get numWaiting(): number {
    this.waiting.review(this.nowMs(), false, heartbeatOf(this.host));
    return this.waiting.size;
  }

  get isInUse(): boolean {
    this.waiting.review(this.nowMs(), false, heartbeatOf(this.host));
    return this.waiting.size > 0;
  }

  // ── requests ─────────────────────────────────────────────────────────────────────────────────────────────────────

  private pulled(message: Message): void {
    if (!message.hasReply) return;
    const reply = copySubject(message.reply, message.replyStart, message.replyEnd);
    if (asksTooHighLevel(message)) this.waiting.send(reply, '412 Required Api Level\r\n');
    else this.request(reply, message.body.toString('latin1', message.payloadStart, message.bodyEnd));
  }

  request(reply: Buffer, body: string): void {
    const now = this.nowMs();
    const request = readPullRequest(body, reply, now, this.limits);
    if (typeof request === 'string') {
      this.waiting.send(reply, `${request}\r\n`);
      return;
    }
    if (!this.isOfPinned(request)) {
      this.waiting.send(reply, '423 Nats-Pin-Id mismatch\r\n');
      return;
    }
    const refusal = this.refusal(request, now);
    if (refusal === null || request.noWait) this.host.used();
    if (refusal === null) {
      this.waiting.add(request);
      this.host.wake();
    } else if (refusal !== '') this.waiting.send(reply, `${refusal}\r\n`);
  }

  /** Whether the request may wait beside the pinned client, whose time begins anew with each of its own. */
  private isOfPinned({ group, pinId }: PullRequest): boolean {
    const { pin } = this;
    if (pin.id === '' || pinId === '') return true;
    if (pinId !== pin.id) return false;
    pin.renew(group);
    return true;
  }

  /** Why the request can't wait: a status, or nothing at all for one that listens for heartbeats anyway. */
  private refusal(request: PullRequest, now: number): string | null {
    const { available } = this.host;
    if (request.noWait) {
      if (available === 0 && request.expiresAtMs === 0) return '404 No Messages';
      if (available > 0) {
        this.waiting.review(now, false, heartbeatOf(this.host));
        if (available < this.waiting.wanted) return '408 Requests Pending';
      }
    }
    if (this.waiting.isFull) this.waiting.review(now, false, heartbeatOf(this.host));
    if (!this.waiting.isFull) return null;
    return request.heartbeatMs > 0 ? '' : '409 Exceeded MaxWaiting';
  }

  // ── delivering ───────────────────────────────────────────────────────────────────────────────────────────────────

  take(bytes: number, nowMs: number): Take {
    const request = this.waiting.take(bytes, nowMs);
    if (request === null) return 'nobody';
    if (request === 'congested') return 'congested';
    this.taken = request;
    this.destination = request.reply;
    return 'taken';
  }

  delivered(): void {
    const request = this.taken as PullRequest;
    if (request.batch <= 0 && request.maxBytes > 0) this.waiting.sendStatus(request, '409 Batch Completed', true);
  }

  /** Ends requests whose time has come, and comes back for the next one. */
  review(atEnd: boolean): void {
    this.reviewTimer?.cancel();
    this.reviewTimer = null;
    const now = this.nowMs();
    const next = this.waiting.review(now, atEnd, heartbeatOf(this.host));
    if (this.waiting.size < 1 || next === 0) return;
    this.reviewTimer = this.host.stream.host.io.timers.after(Math.max(1, next - now), () => {
      // Whoever does not wait has by now what there is, be it that acknowledgements are missing for more.
      if (this.host.isResting) this.review(true);
      this.host.wake();
    });
  }

  private nowMs(): number {
    return this.host.stream.host.io.clock.monotonicMs();
  }
}

function requestLimits({ config }: DeliveryHost): RequestLimits {
  const { maxRequestBatch, maxRequestExpiresNs, maxRequestMaxBytes, priorityPolicy, priorityGroups } = config;
  return {
    maxBatch: maxRequestBatch,
    maxExpiresMs: millisecondsOf(maxRequestExpiresNs),
    maxExpiresText: durationText(maxRequestExpiresNs),
    maxBytes: maxRequestMaxBytes,
    policy: priorityPolicy,
    groups: priorityGroups ?? [],
  };
}
