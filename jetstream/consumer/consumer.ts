/**
 * A consumer: who wants messages gets them in order, each until it is acknowledged.
 *
 *     stream ──visible──► MessagePump ──► Delivery ──► receiver
 *                          ▲                            │ ack, nak, in progress, term, next
 *                          └── redelivery ◄── deadline ─┘ ◄── Acknowledgements
 *
 * What was delivered and acknowledged is noted in the consumer's log; an acknowledgement that asks for a reply gets it
 * when that is durable.
 */

import { millisecondsOf } from '../../server/protocol/nanoseconds.ts';
import type { Sink } from '../../server/ports.ts';
import { Subscription } from '../../server/subject/subscription.ts';
import { LOADING, NONE, type StoreListener } from '../store/store.ts';
import { Acknowledgements } from './acknowledgements.ts';
import type { ConsumedStream } from './consumed-stream.ts';
import type { ConsumerConfig } from './consumer-config.ts';
import { ConsumerLog } from './consumer-log.ts';
import { ConsumerPause } from './consumer-pause.ts';
import { CallbackSink } from './consumer-sinks.ts';
import { ConsumerState } from './consumer-state.ts';
import type { Delivery } from './delivery.ts';
import { Inactivity } from './inactivity.ts';
import { MessagePump } from './message-pump.ts';
import { PullDelivery } from './pull-delivery.ts';
import { PushDelivery, type PushHost } from './push-delivery.ts';
import { RedeliveryQueue } from './redelivery-queue.ts';
import { SubjectFilter } from './subject-filter.ts';

export class Consumer implements StoreListener, PushHost {
  readonly number: number;
  readonly stream: ConsumedStream;
  readonly created: string;
  readonly state: ConsumerState;
  /** `null` for a consumer that lives in memory. */
  readonly log: ConsumerLog | null;
  readonly delivery: Delivery;
  readonly pause: ConsumerPause;
  filter: SubjectFilter;
  isStopped = false;
  config: ConsumerConfig;
  /** Messages that match and were not delivered yet. */
  numPending = 0;
  /** Wall milliseconds; 0: never. */
  lastDeliveredMs = 0;
  /** Called when nobody has used the consumer for its inactive threshold. */
  onInactive: () => void = () => undefined;

  private readonly redelivery: RedeliveryQueue;
  private readonly subscriptions: Subscription[] = [];
  private readonly pump: MessagePump;
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
    this.redelivery = new RedeliveryQueue(stream.host.io, this.state.pending, (sequences) => {
      this.acknowledgements.expired(sequences);
    });
    this.acknowledgements = new Acknowledgements(this, this.redelivery);
    this.delivery = config.deliverSubject === '' ? new PullDelivery(this) : new PushDelivery(this);
    this.pause = new ConsumerPause(stream.host.io, () => this.wake());
    this.pump = new MessagePump(this, this.redelivery);
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
    this.subscribe(acks, `$JS.ACK.${stream.name}.${name}.*.*.*.*.*`);
    this.subscribe(acks, `$JS.ACK.${domain}.*.${stream.name}.${name}.*.*.*.*.*`);
    this.pause.set(this.config.pauseUntil);
    this.delivery.start();
    stream.observers.add(this);
    this.redelivery.watchAll();
    this.inactivity.watch(millisecondsOf(this.config.inactiveThresholdNs));
  }

  update(config: ConsumerConfig): void {
    this.config = config;
    this.filter = new SubjectFilter(config.filterSubject, this.stream.store.subjects);
    this.pause.set(config.pauseUntil);
    this.delivery.update(config);
    this.countPending();
    this.inactivity.watch(millisecondsOf(this.config.inactiveThresholdNs));
    this.wake();
  }

  /** Serves nobody any more; requests that wait are told `status`. */
  stop(status: string | null): void {
    if (this.isStopped) return;
    this.isStopped = true;
    this.delivery.stop(status);
    this.pause.stop();
    for (const subscription of this.subscriptions) this.stream.account.unsubscribe(subscription);
    this.stream.observers.delete(this);
    this.redelivery.stop();
    this.inactivity.stop();
  }

  subscribe(sink: Sink, subject: string): void {
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

  // ── delivering ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** There may be something to deliver, or somebody to deliver to. */
  wake(): void {
    this.pump.wake();
  }

  get isResting(): boolean {
    return this.pump.isResting;
  }

  get isPaused(): boolean {
    return this.pause.isPaused;
  }

  get available(): number {
    return this.numPending + this.redelivery.size;
  }

  get lastAckMs(): number {
    return this.acknowledgements.lastMs;
  }

  /** A message is being handed over, for the `deliveries`th time. */
  noteDelivered(sequence: number, deliveries: number): void {
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

  used(): void {
    this.inactivity.used();
  }

  redeliverPending(): void {
    const { pending } = this.state;
    const sequences: number[] = [];
    for (let row = pending.firstRow; row >= 0; row = pending.nextRow(row)) sequences.push(pending.sequence(row));
    this.acknowledgements.expired(sequences);
  }

  /** Somebody waits for messages, or works on some as far as their deadlines tell; listens, where they are pushed. */
  private get isInUse(): boolean {
    return this.delivery.isInUse || (this.delivery.isBound === null && this.state.pending.size > 0);
  }

  /** No further delivery: by acknowledgement, or because the message is gone or exhausted. */
  settle(sequence: number): boolean {
    return this.acknowledgements.settle(sequence);
  }
}
