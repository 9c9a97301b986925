/**
 * A pull consumer: who asked for messages gets them in order, each until it is acknowledged.
 *
 *     stream ──visible──► pump ──► waiting request ──► receiver
 *                          ▲                              │ ack, nak, in progress, term, next
 *                          └── redelivery ◄── deadline ───┘
 *
 * The pump delivers while there are requests and messages, DELIVER_PER_TURN in one turn, and stops while the receiver has
 * much unsent. It parks when a message has to be read from the disk. What was delivered and acknowledged is noted in the
 * consumer's log; an acknowledgement that asks for a reply gets it when that is durable.
 */

import { Buffer } from 'node:buffer';
import type { Timer } from '../../server/io/io.ts';
import { Message } from '../../server/protocol/message.ts';
import { millisecondsOf } from '../../server/protocol/nanoseconds.ts';
import { asksTooHighLevel } from '../../server/protocol/required-level.ts';
import { Subscription } from '../../server/subject/subscription.ts';
import { RecordView } from '../store/record.ts';
import { LOADING, NONE, type StoreListener } from '../store/store.ts';
import { AckSubject, copySubject } from './ack-subject.ts';
import { Acknowledgements } from './acknowledgements.ts';
import type { ConsumedStream } from './consumed-stream.ts';
import { type ConsumerConfig, durationText } from './consumer-config.ts';
import { ConsumerLog } from './consumer-log.ts';
import { CallbackSink } from './consumer-sinks.ts';
import { ConsumerState } from './consumer-state.ts';
import { SubjectFilter } from './subject-filter.ts';
import { Inactivity } from './inactivity.ts';
import { type PullRequest, readPullRequest, type RequestLimits } from './pull-request.ts';
import { RedeliveryQueue } from './redelivery-queue.ts';
import { WaitingPulls } from './waiting-pulls.ts';

const DELIVER_PER_TURN = 256;
const CONGESTED_RETRY_MS = 2;
const NOTHING = Buffer.alloc(0);

export class Consumer implements StoreListener {
  readonly number: number;
  readonly stream: ConsumedStream;
  readonly created: string;
  readonly state: ConsumerState;
  /** `null` for a consumer that lives in memory. */
  readonly log: ConsumerLog | null;
  readonly waiting: WaitingPulls;
  config: ConsumerConfig;
  /** Messages that match and were not delivered yet. */
  numPending = 0;
  /** Wall milliseconds; 0: never. */
  lastDeliveredMs = 0;
  /** Called when nobody has used the consumer for its inactive threshold. */
  onInactive: () => void = () => undefined;

  private readonly redelivery: RedeliveryQueue;
  private filter: SubjectFilter;
  private readonly subscriptions: Subscription[] = [];
  private readonly view = new RecordView(NOTHING);
  private readonly message = new Message();
  private readonly ackSubject: AckSubject;
  private pumpScheduled = false;
  private reading = false;
  private isStopped = false;
  private reviewTimer: Timer | null = null;
  private readonly acknowledgements: Acknowledgements;
  private readonly inactivity: Inactivity;

  constructor(number: number, stream: ConsumedStream, config: ConsumerConfig, created: string, isLogged: boolean) {
    this.number = number;
    this.stream = stream;
    this.config = config;
    this.created = created;
    this.filter = new SubjectFilter(config.filterSubject, stream.store.subjects);
    this.state = new ConsumerState(1);
    this.log = isLogged ? new ConsumerLog(stream.host.storage, number, this.state) : null;
    this.waiting = new WaitingPulls(stream.account, config.maxWaiting);
    this.ackSubject = new AckSubject(stream.name, config.name);
    this.redelivery = new RedeliveryQueue(stream.host.io, this.state.pending, (sequences) => {
      this.acknowledgements.expired(sequences);
    });
    this.acknowledgements = new Acknowledgements(this, this.redelivery);
    this.inactivity = new Inactivity(
      stream.host.io,
      () => this.isInUse,
      () => this.onInactive(),
    );
  }

  get name(): string {
    return this.config.name;
  }

  // ── life cycle ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** Begins at this stream sequence, for a consumer that is new. */
  begin(nextStream: number): void {
    this.state.beginAt(nextStream);
    this.log?.began(nextStream);
  }

  /** Begins to serve. */
  start(): void {
    this.countPending();
    const { stream, name } = this;
    const domain = stream.host.domain === '' ? '_' : stream.host.domain;
    const acks = new CallbackSink((message) => this.acknowledgements.take(message));
    const pulls = new CallbackSink((message) => this.pulled(message));
    this.subscribe(acks, `$JS.ACK.${stream.name}.${name}.*.*.*.*.*`);
    this.subscribe(acks, `$JS.ACK.${domain}.*.${stream.name}.${name}.*.*.*.*.*`);
    this.subscribe(pulls, `$JS.API.CONSUMER.MSG.NEXT.${stream.name}.${name}`);
    stream.observers.add(this);
    this.redelivery.watchAll();
    this.inactivity.watch(millisecondsOf(this.config.inactiveThresholdNs));
  }

  update(config: ConsumerConfig): void {
    this.config = config;
    this.filter = new SubjectFilter(config.filterSubject, this.stream.store.subjects);
    this.countPending();
    this.inactivity.watch(millisecondsOf(this.config.inactiveThresholdNs));
    this.wake();
  }

  /** Serves nobody any more; requests that wait are told `status`. */
  stop(status: string | null): void {
    if (this.isStopped) return;
    this.isStopped = true;
    if (status !== null) this.waiting.endAll(status);
    for (const subscription of this.subscriptions) this.stream.account.unsubscribe(subscription);
    this.stream.observers.delete(this);
    this.redelivery.stop();
    this.reviewTimer?.cancel();
    this.inactivity.stop();
  }

  private subscribe(sink: CallbackSink, subject: string): void {
    const subscription = new Subscription(sink, subject, '', '');
    this.subscriptions.push(subscription);
    this.stream.account.subscribe(subscription);
  }

  // ── what the stream says ─────────────────────────────────────────────────────────────────────────────────────────

  stored(fromSequence: number, toSequence: number): void {
    const { accepts } = this.filter;
    const { store } = this.stream;
    let from = Math.max(fromSequence, this.state.nextStream);
    if (accepts === null) this.numPending += Math.max(0, toSequence - from + 1);
    else {
      while (from <= toSequence) {
        const next = store.next(from, accepts);
        if (next <= 0 || next > toSequence) break;
        this.numPending++;
        from = next + 1;
      }
    }
    if (this.numPending > 0) this.wake();
  }

  removed(sequence: number, subject: number): void {
    if (sequence >= this.state.nextStream) {
      if (this.filter.matches(subject)) this.numPending = Math.max(0, this.numPending - 1);
      return;
    }
    if (this.settle(sequence)) this.wake();
  }

  purged(belowSequence: number): void {
    if (belowSequence <= this.state.ackFloor.stream + 1) return;
    this.state.purgedBelow(belowSequence);
    this.log?.purgedBelow(belowSequence);
    this.countPending();
    this.wake();
  }

  private countPending(): void {
    const { store } = this.stream;
    const { nextStream } = this.state;
    if (nextStream <= store.firstSequence) {
      this.numPending = this.filter.accepts === null ? store.messages : this.filter.count();
      return;
    }
    this.numPending = 0;
    let at = nextStream;
    for (let next = store.next(at, this.filter.accepts); next !== NONE; next = store.next(at, this.filter.accepts)) {
      if (next === LOADING) {
        store.whenReadable(at, () => this.countPending());
        return;
      }
      this.numPending++;
      at = next + 1;
    }
  }

  // ── requests ─────────────────────────────────────────────────────────────────────────────────────────────────────

  private pulled(message: Message): void {
    if (!message.hasReply) return;
    const reply = copySubject(message.reply, message.replyStart, message.replyEnd);
    if (asksTooHighLevel(message)) this.waiting.send(reply, '412 Required Api Level\r\n');
    else this.request(reply, message.body.toString('latin1', message.payloadStart, message.bodyEnd));
  }

  /** Somebody asks for messages. */
  request(reply: Buffer, body: string): void {
    const now = this.stream.host.io.clock.monotonicMs();
    const request = readPullRequest(body, reply, now, this.requestLimits());
    if (typeof request === 'string') {
      this.waiting.send(reply, `${request}\r\n`);
      return;
    }
    const refusal = this.refusal(request, now);
    if (refusal === null) {
      this.inactivity.used();
      this.waiting.add(request);
      this.wake();
    } else if (refusal !== '') this.waiting.send(reply, `${refusal}\r\n`);
  }

  /** Why the request can't wait: a status, or nothing at all for one that listens for heartbeats anyway. */
  private refusal(request: PullRequest, now: number): string | null {
    const available = this.numPending + this.redelivery.size;
    if (request.noWait) {
      if (available === 0 && request.expiresAtMs === 0) return '404 No Messages';
      if (available > 0) {
        this.waiting.review(now, false, this.heartbeat());
        if (available < this.waiting.wanted) return '408 Requests Pending';
      }
    }
    if (this.waiting.isFull) this.waiting.review(now, false, this.heartbeat());
    if (!this.waiting.isFull) return null;
    return request.heartbeatMs > 0 ? '' : '409 Exceeded MaxWaiting';
  }

  private requestLimits(): RequestLimits {
    const { maxRequestBatch, maxRequestExpiresNs, maxRequestMaxBytes } = this.config;
    return {
      maxBatch: maxRequestBatch,
      maxExpiresMs: millisecondsOf(maxRequestExpiresNs),
      maxExpiresText: durationText(maxRequestExpiresNs),
      maxBytes: maxRequestMaxBytes,
    };
  }

  private heartbeat(): string {
    const { nextConsumer, deliveredStream } = this.state;
    return `100 Idle Heartbeat\r\nNats-Last-Consumer: ${nextConsumer - 1}\r\nNats-Last-Stream: ${deliveredStream}\r\n`;
  }

  get lastAckMs(): number {
    return this.acknowledgements.lastMs;
  }

  /** Somebody waits for messages, or works on some as far as their deadlines tell. */
  private get isInUse(): boolean {
    this.waiting.review(this.stream.host.io.clock.monotonicMs(), false, this.heartbeat());
    return this.waiting.size > 0 || this.state.pending.size > 0;
  }

  // ── delivering ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** There may be something to deliver. */
  wake(): void {
    if (this.pumpScheduled || this.reading || this.isStopped || this.waiting.size === 0) return;
    this.pumpScheduled = true;
    this.stream.host.io.timers.afterTurn(() => this.pump());
  }

  private pump(): void {
    this.pumpScheduled = false;
    if (this.isStopped) return;
    let atEnd = false;
    for (let count = 0; count < DELIVER_PER_TURN && this.waiting.size > 0; count++) {
      const outcome = this.deliverNext();
      if (outcome === 'delivered') continue;
      if (outcome === 'congested') {
        this.retryLater();
        return;
      }
      atEnd = outcome === 'end';
      this.reviewWaiting(atEnd);
      return;
    }
    if (this.waiting.size > 0) this.wake();
  }

  private deliverNext(): 'delivered' | 'end' | 'full' | 'loading' | 'congested' {
    const { state, redelivery } = this;
    const queued = redelivery.peek();
    if (queued > 0) return this.redeliver(queued);
    const { maxAckPending } = this.config;
    if (maxAckPending > 0 && state.pending.size >= maxAckPending) return 'full';
    const sequence = this.stream.store.next(state.nextStream, this.filter.accepts);
    if (sequence === NONE) return 'end';
    if (sequence === LOADING) return this.park(state.nextStream);
    const outcome = this.stream.store.read(sequence, this.view);
    if (outcome === 'loading') return this.park(sequence);
    if (outcome === 'missing') {
      state.nextStream = sequence + 1;
      return 'delivered';
    }
    return this.send(sequence, 1);
  }

  private redeliver(sequence: number): 'delivered' | 'end' | 'loading' | 'congested' {
    const { pending } = this.state;
    const row = pending.row(sequence);
    const deliveries = pending.deliveryCount(row) + 1;
    const { maxDeliver } = this.config;
    if (maxDeliver > 0 && deliveries > maxDeliver) {
      this.redelivery.shift();
      this.settle(sequence);
      return 'delivered';
    }
    const outcome = this.stream.store.read(sequence, this.view);
    if (outcome === 'loading') return this.park(sequence);
    if (outcome === 'missing') {
      this.redelivery.shift();
      this.settle(sequence);
      return 'delivered';
    }
    return this.send(sequence, deliveries);
  }

  /** Waits until the message is in memory. */
  private park(sequence: number): 'loading' {
    this.reading = true;
    this.stream.store.whenReadable(sequence, () => {
      this.reading = false;
      this.wake();
    });
    return 'loading';
  }

  /** Sends the message in `view` to the next request that takes it. */
  private send(sequence: number, deliveries: number): 'delivered' | 'end' | 'congested' {
    const { state, view, ackSubject, message } = this;
    const { clock } = this.stream.host.io;
    const pendingAfter = deliveries === 1 ? this.numPending - 1 : this.numPending;
    const { seconds, nanoseconds } = view;
    const length = ackSubject.write(deliveries, sequence, state.nextConsumer, seconds, nanoseconds, pendingAfter);
    const bytes = view.end - view.subjectStart + length;
    const request = this.waiting.take(bytes, clock.monotonicMs());
    if (request === null) return 'end';
    if (this.stream.account.isCongested(request.reply)) {
      this.waiting.putBack(request, bytes);
      return 'congested';
    }
    message.setSubject(view.buffer, view.subjectStart, view.subjectEnd);
    message.setDestination(request.reply, 0, request.reply.length);
    message.setReply(ackSubject.buffer, 0, length);
    message.setBody(view.buffer, view.bodyStart, view.payloadStart, view.end);
    this.noteDelivered(sequence, deliveries);
    this.stream.account.route(message);
    if (request.batch === 0 && request.maxBytes > 0) this.waiting.sendStatus(request, '409 Batch Completed', true);
    return 'delivered';
  }

  private noteDelivered(sequence: number, deliveries: number): void {
    const { state } = this;
    const now = this.stream.host.io.clock.wallMs();
    const deadline = now + millisecondsOf(this.config.ackWaitNs);
    state.delivered(sequence, deliveries, deadline);
    this.log?.delivered(sequence, deliveries, deadline);
    this.lastDeliveredMs = now;
    this.redelivery.watch(deadline);
    if (deliveries === 1) this.numPending--;
    else this.redelivery.shift();
  }

  private retryLater(): void {
    this.pumpScheduled = true;
    this.stream.host.io.timers.after(CONGESTED_RETRY_MS, () => this.pump());
  }

  /** Ends requests whose time has come, and comes back for the next one. */
  private reviewWaiting(atEnd: boolean): void {
    this.reviewTimer?.cancel();
    this.reviewTimer = null;
    const { clock, timers } = this.stream.host.io;
    const now = clock.monotonicMs();
    const next = this.waiting.review(now, atEnd, this.heartbeat());
    if (this.waiting.size < 1 || next === 0) return;
    this.reviewTimer = timers.after(Math.max(1, next - now), () => {
      // Whoever does not wait has by now what there is, be it that acknowledgements are missing for more.
      if (!this.pumpScheduled && !this.reading && !this.isStopped) this.reviewWaiting(true);
      this.pump();
    });
  }

  /** No further delivery: by acknowledgement, or because the message is gone or exhausted. */
  private settle(sequence: number): boolean {
    return this.acknowledgements.settle(sequence);
  }
}
