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

import { isDeepStrictEqual } from 'node:util';
import { millisecondsOf } from '../../server/protocol/nanoseconds.ts';
import type { Sink } from '../../server/ports.ts';
import { Subscription } from '../../server/subject/subscription.ts';
import type { StoreListener } from '../store/store.ts';
import { Acknowledgements } from './acknowledgements.ts';
import type { ConsumedStream } from './consumed-stream.ts';
import { ConsumerAdvisories } from './consumer-advisories.ts';
import type { ConsumerConfig } from './consumer-config.ts';
import type { ConsumerEvents, DeadLetterGate } from './consumer-events.ts';
import { ConsumerLog } from './consumer-log.ts';
import { ConsumerPause } from './consumer-pause.ts';
import { CallbackSink } from './consumer-sinks.ts';
import { ConsumerState } from './consumer-state.ts';
import type { Delivery } from './delivery.ts';
import { DeliveryWaits } from './delivery-waits.ts';
import { Inactivity } from './inactivity.ts';
import { MessagePump } from './message-pump.ts';
import { PullDelivery } from './pull-delivery.ts';
import { PushDelivery, type PushHost } from './push-delivery.ts';
import { RedeliveryQueue } from './redelivery-queue.ts';
import type { ConsumerOrigin } from './starting-sequence.ts';
import { DeadLetters } from './dead-letters.ts';
import { deadLetterSubject } from './dead-letter-subject.ts';
import { filtersOf, SubjectFilter } from './subject-filter.ts';
import { UndeliveredMessages } from './undelivered-messages.ts';

export class Consumer implements StoreListener, PushHost {
  readonly number: number;
  readonly stream: ConsumedStream;
  readonly created: string;
  readonly state: ConsumerState;
  /** `null` for a consumer that lives in memory. */
  readonly log: ConsumerLog | null;
  delivery: Delivery;
  readonly pause: ConsumerPause;
  readonly advisories: ConsumerAdvisories;
  isStopped = false;
  config: ConsumerConfig;
  /** Wall milliseconds; 0: never. */
  lastDeliveredMs = 0;
  /** Called when nobody has used the consumer for its inactive threshold. */
  onInactive: () => void = () => undefined;

  /** Who hears of what becomes of messages, and who has to have them before they leave unhandled. */
  events: ConsumerEvents | null = null;
  deadLetters: DeadLetterGate | null = null;
  waits: DeliveryWaits;
  /** Acknowledgements mean nothing: messages are done when they were delivered. */
  settlesOnDelivery: boolean;
  readonly origin: ConsumerOrigin;

  readonly undelivered: UndeliveredMessages;
  private readonly redelivery: RedeliveryQueue;
  private readonly subscriptions: Subscription[] = [];
  private readonly pump: MessagePump;
  private readonly acknowledgements: Acknowledgements;
  private readonly inactivity: Inactivity;
  /** From monotonic time to the time that deadlines are in. */
  private timeOffsetMs = 0;

  constructor(
    number: number,
    stream: ConsumedStream,
    config: ConsumerConfig,
    created: string,
    origin: ConsumerOrigin,
    isLogged: boolean,
  ) {
    this.number = number;
    this.stream = stream;
    this.config = config;
    this.created = created;
    this.origin = origin;
    this.waits = new DeliveryWaits(config);
    this.settlesOnDelivery = config.ackPolicy === 'none';
    this.state = new ConsumerState(origin.start, config.ackPolicy);
    const filter = new SubjectFilter(filtersOf(config), stream.store.subjects);
    this.undelivered = new UndeliveredMessages(stream.host.io, stream.store, this.state, filter, origin.listUpTo);
    this.log = isLogged ? new ConsumerLog(stream.host.storage, number, this.state) : null;
    const { pending } = this.state;
    const now = (): number => this.nowMs();
    this.redelivery = new RedeliveryQueue(stream.host.io, now, pending, (sequences) => {
      this.acknowledgements.expired(sequences);
    });
    this.acknowledgements = new Acknowledgements(this, this.redelivery);
    this.advisories = new ConsumerAdvisories(this);
    this.events = this.advisories;
    this.pause = new ConsumerPause(stream.host.io, () => {
      this.advisories.paused();
      this.wake();
    });
    this.delivery = this.newDelivery();
    this.pump = new MessagePump(this, this.redelivery);
    this.inactivity = new Inactivity(
      stream.host.io,
      () => this.delivery.isInUse,
      () => this.busyUntilMs(),
      () => this.onInactive(),
    );
  }

  get name(): string {
    return this.config.name;
  }

  // ── life cycle ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** Begins to serve. */
  start(): void {
    this.setClock();
    const { pending, exhausted } = this.state;
    this.findUndelivered([...pending.sequencesBelow(Infinity), ...exhausted.sequencesBelow(Infinity)]);
    const { stream, name } = this;
    const domain = stream.host.domain === '' ? '_' : stream.host.domain;
    if (!this.settlesOnDelivery) {
      const acks = new CallbackSink((message) => this.acknowledgements.take(message));
      this.subscribe(acks, `$JS.ACK.${stream.name}.${name}.*.*.*.*.*`);
      this.subscribe(acks, `$JS.ACK.${domain}.*.${stream.name}.${name}.*.*.*.*.>`);
    }
    this.pause.set(this.config.pauseUntil);
    this.pump.start();
    this.delivery.start();
    this.leaveDeadLetters();
    stream.observers.add(this);
    this.redelivery.watchAll();
    this.inactivity.watch(millisecondsOf(this.config.inactiveThresholdNs));
  }

  /** While everything is brought back: what it is from here on. What followed from the change is in the log. */
  restore(config: ConsumerConfig): void {
    this.config = config;
    this.waits = new DeliveryWaits(config);
    this.undelivered.filter = new SubjectFilter(filtersOf(config), this.stream.store.subjects);
    this.delivery = this.newDelivery();
    this.pump.update();
  }

  update(config: ConsumerConfig): void {
    const before = filtersOf(this.config);
    const isPauseChanged = !isDeepStrictEqual(config.pauseUntil, this.config.pauseUntil);
    this.config = config;
    this.pump.update();
    this.pause.set(config.pauseUntil);
    if (isPauseChanged) this.advisories.paused();
    this.delivery.update(config);
    this.leaveDeadLetters();
    this.changeWaits(new DeliveryWaits(config));
    const filters = filtersOf(config);
    if (filters.join(' ') !== before.join(' ')) {
      this.undelivered.filter = new SubjectFilter(filters, this.stream.store.subjects);
      this.findUndelivered([]);
    }
    this.inactivity.watch(millisecondsOf(this.config.inactiveThresholdNs));
    this.wake();
  }

  /** Begins anew at this stream sequence; `done` when that is durable. */
  reset(sequence: number, done: () => void): void {
    this.state.reset(sequence);
    this.log?.reset(sequence);
    this.lastDeliveredMs = 0;
    this.acknowledgements.lastMs = 0;
    this.findUndelivered([]);
    if (this.log === null) done();
    else this.log.whenDurable(done);
  }

  /** Serves nobody any more; requests that wait are told `status`. */
  stop(status: string | null): void {
    if (this.isStopped) return;
    this.isStopped = true;
    this.delivery.stop(status);
    this.deadLetters?.stop();
    this.pause.stop();
    for (const subscription of this.subscriptions) this.stream.account.unsubscribe(subscription);
    this.stream.observers.delete(this);
    this.undelivered.stop();
    this.redelivery.stop();
    this.inactivity.stop();
  }

  private newDelivery(): Delivery {
    return this.config.deliverSubject === '' ? new PullDelivery(this) : new PushDelivery(this);
  }

  private leaveDeadLetters(): void {
    if (deadLetterSubject(this.config) !== null) this.deadLetters ??= new DeadLetters(this);
  }

  subscribe(sink: Sink, subject: string): void {
    const subscription = new Subscription(sink, subject, '', '');
    this.subscriptions.push(subscription);
    this.stream.account.subscribe(subscription);
  }

  // ── what the stream says ─────────────────────────────────────────────────────────────────────────────────────────

  stored(fromSequence: number, toSequence: number): void {
    this.undelivered.stored(fromSequence, toSequence);
    if (this.numPending > 0) this.wake();
  }

  removed(sequence: number, subject: number): void {
    if (sequence >= this.state.nextStream) this.undelivered.removed(sequence, subject);
    else if (this.acknowledgements.gone(sequence)) this.wake();
  }

  purged(belowSequence: number): void {
    if (this.stream.isAging) {
      this.aged(belowSequence);
      return;
    }
    const { state } = this;
    const { pending, exhausted, ackFloor, nextStream } = state;
    if (belowSequence <= ackFloor.stream + 1 && exhausted.size === 0) return;
    const isPending = pending.firstRow >= 0 && pending.sequence(pending.firstRow) < belowSequence;
    if (isPending) this.acknowledgements.lastMs = this.stream.host.io.clock.wallMs();
    state.purgedBelow(belowSequence);
    this.log?.purgedBelow(belowSequence);
    if (belowSequence > nextStream) this.findUndelivered([]);
    else this.wake();
  }

  /** Messages were too old, one by one: the consumer does not go on behind them, as it does behind a purge. */
  private aged(belowSequence: number): void {
    const { pending, exhausted, nextStream } = this.state;
    for (const table of [pending, exhausted]) {
      for (const sequence of table.sequencesBelow(belowSequence)) this.acknowledgements.gone(sequence);
    }
    if (belowSequence > nextStream) this.findUndelivered([]);
    else this.wake();
  }

  /** Some of the doubtful sequences may be gone: their removal was durable when the power went, and no more than that. */
  private findUndelivered(doubtful: readonly number[]): void {
    const onGone = (sequence: number): void => {
      this.acknowledgements.settle(sequence);
    };
    this.undelivered.find(doubtful, onGone, () => this.wake());
  }

  // ── what the stream asks ─────────────────────────────────────────────────────────────────────────────────────────

  get wantsAll(): boolean {
    return this.undelivered.filter.accepts === null;
  }

  /** Whether the consumer wants messages of the subject with this number. */
  wants(subject: number): boolean {
    return this.undelivered.filter.matches(subject);
  }

  wantsText(subject: string): boolean {
    return this.undelivered.filter.matchesText(subject);
  }

  get nextSequence(): number {
    return this.state.nextStream;
  }

  /** Whether the consumer, which wants this message, has yet to have it, or has not had it and never will. */
  awaits(sequence: number): boolean {
    return this.state.needs(sequence);
  }

  // ── delivering ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** There may be something to deliver, or somebody to deliver to. */
  wake(): void {
    this.pump.wake();
  }

  get isResting(): boolean {
    return this.pump.isResting;
  }

  /** Messages that match and were not delivered yet. */
  get numPending(): number {
    return this.undelivered.count;
  }

  get available(): number {
    return this.numPending + this.redelivery.size;
  }

  /** Too much is unacknowledged for new messages. */
  get isFull(): boolean {
    const { maxAckPending } = this.config;
    return maxAckPending > 0 && this.state.pending.size >= maxAckPending;
  }

  get lastAckMs(): number {
    return this.acknowledgements.lastMs;
  }

  /** A message is being handed over, for the `deliveries`th time. */
  noteDelivered(sequence: number, deliveries: number): void {
    const { state } = this;
    const now = this.nowMs();
    const deadline = now + this.waits.afterDelivery(deliveries);
    const consumerSequence = state.delivered(sequence, deliveries, deadline);
    this.lastDeliveredMs = now;
    if (this.settlesOnDelivery) this.log?.passed(sequence, consumerSequence);
    else {
      this.log?.delivered(sequence, deliveries, deadline);
      this.redelivery.watch(deadline);
    }
    if (deliveries === 1) this.undelivered.delivered();
    else this.redelivery.shift();
  }

  used(): void {
    this.inactivity.used();
  }

  acknowledgeUpTo(consumerSequence: number, streamSequence: number): void {
    this.acknowledgements.acknowledgeUpTo(consumerSequence, streamSequence);
  }

  redeliverPending(): void {
    this.redelivery.expireAll();
  }

  /** The pending message is gone from the stream. */
  gone(sequence: number): void {
    this.acknowledgements.gone(sequence);
  }

  /** The pending message was delivered as often as allowed. */
  exhaust(sequence: number): void {
    this.acknowledgements.exhaust(sequence);
  }

  // ── time ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Milliseconds since 1970 as deadlines have them: from the start on it passes evenly, whatever is done to the clock. */
  nowMs(): number {
    return this.stream.host.io.clock.monotonicMs() + this.timeOffsetMs;
  }

  /** Time goes on behind the last message, also if the clock was set back while nobody looked. */
  private setClock(): void {
    const { clock } = this.stream.host.io;
    const { lastTime } = this.stream.store;
    const wall = Math.max(clock.wallMs(), lastTime === null ? 0 : lastTime.seconds * 1000);
    this.timeOffsetMs = wall - clock.monotonicMs();
  }

  /** The monotonic time of the last delivery, or of the last deadline of those that somebody may be at work on. */
  private busyUntilMs(): number {
    const { pending } = this.state;
    if (this.delivery.isBound !== null) return 0;
    let last = this.lastDeliveredMs;
    for (let row = pending.firstRow; row >= 0; row = pending.nextRow(row)) {
      if (!pending.isQueued(row)) last = Math.max(last, pending.deadlineMs(row));
    }
    return last - this.timeOffsetMs;
  }

  /** What is pending is waited for as long as `waits` say, from its delivery on. */
  private changeWaits(waits: DeliveryWaits): void {
    const before = this.waits;
    if (waits.equals(before)) return;
    this.waits = waits;
    const { pending } = this.state;
    for (let row = pending.firstRow; row >= 0; row = pending.nextRow(row)) {
      const deliveries = pending.deliveryCount(row);
      const longer = waits.afterDelivery(deliveries) - before.afterDelivery(deliveries);
      const deadline = Math.max(0, pending.deadlineMs(row) + longer);
      pending.setDeadline(row, deadline);
      this.log?.deadline(pending.sequence(row), deadline);
      this.redelivery.watch(deadline);
    }
  }
}
