/**
 * One stream: a sink for its subjects, the store behind it, and what waits until messages are durable.
 *
 *     message ─► PublishCheck ─► store.append ─► PublishAnswers     (at once)
 *             └► AtomicBatches, FastBatches ─┘
 *     store: visible up to N ─► acknowledgements leave, consumers look, the age limit wakes up
 *
 * What a publisher is told, and what consumers see, is only what is durable.
 */

import type { Account } from '../../server/account/account.ts';
import type { Message } from '../../server/protocol/message.ts';
import { millisecondsOf } from '../../server/protocol/nanoseconds.ts';
import type { Sink, SinkKind } from '../../server/ports.ts';
import type { Subscription } from '../../server/subject/subscription.ts';
import { type ApiError, ApiErrors } from '../errors.ts';
import { FileStore } from '../store/file-store.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { REPLACES_NOTHING } from '../store/record.ts';
import type { MessageStore, StoreListener, Time } from '../store/store.ts';
import { AccountRoom, type AccountUse } from './account-room.ts';
import { AtomicBatches } from './atomic-batches.ts';
import { AwaitedCounters } from './awaited-counters.ts';
import { withoutHeader } from './batch-headers.ts';
import type { BatchingStream } from './batching-stream.ts';
import { DedupWindow } from './dedup-window.ts';
import { hasFastBatchReply } from './fast-batch-reply.ts';
import { FastBatches } from './fast-batches.ts';
import { ForeignMessages, type TakingStream } from './foreign-messages.ts';
import { withoutStatus } from './header-status.ts';
import { IdExpiry } from './id-expiry.ts';
import { InboundTransform } from './inbound-transform.ts';
import { Interest } from './interest.ts';
import { MessageLifetimes } from './message-lifetimes.ts';
import { PublishAnswers } from './publish-answers.ts';
import { PublishCheck } from './publish-check.ts';
import { REQUEST_INFO } from './publish-headers.ts';
import { Republisher } from './republisher.ts';
import { replacedBy } from './rollup.ts';
import { withImpliedRollup } from './schedule-check.ts';
import { sourceIndexNames } from './source-name.ts';
import { Schedules } from './schedules.ts';
import { ServerRoom } from './server-room.ts';
import { SourcePositions } from './source-positions.ts';
import { StreamClock, timeMs } from './stream-clock.ts';
import { type RememberingStream, StreamMemory } from './stream-memory.ts';
import { StreamSubscriptions } from './stream-subscriptions.ts';
import { UnwantedMessages } from './unwanted-messages.ts';
import { VisibleWaits } from './visible-waits.ts';
import { WindowClock } from './window-clock.ts';
import type { StreamConfig } from './stream-config.ts';
import type { StreamHost } from './stream-host.ts';

export class Stream implements Sink, StoreListener, BatchingStream, TakingStream, RememberingStream {
  readonly sinkKind: SinkKind = 'internal';
  readonly number: number;
  readonly account: Account;
  readonly host: StreamHost;
  readonly created: string;
  readonly store: MessageStore;
  /** Of what is being told to be purged: whether it went because it was too old. */
  isAging = false;
  /** Consumers: they hear what becomes visible and what goes. */
  readonly observers: Set<StoreListener> = new Set();
  config: StreamConfig;
  readonly check: PublishCheck;
  readonly answers: PublishAnswers;
  /** Which messages somebody waits for, where that decides what is kept. */
  readonly interest: Interest;
  readonly clock: StreamClock;
  readonly dedup: DedupWindow = new DedupWindow();
  readonly windowClock: WindowClock;
  readonly lifetimes: MessageLifetimes;
  /** `null` where there can be none. */
  schedules: Schedules | null = null;
  /** Up to where the streams are read that this one draws from. */
  readonly positions: SourcePositions = new SourcePositions();
  readonly foreign: ForeignMessages = new ForeignMessages(this);

  private readonly idExpiry: IdExpiry;
  private readonly atomicBatches: AtomicBatches;
  private readonly fastBatches: FastBatches;
  private readonly awaitedCounters: AwaitedCounters;
  private readonly visibleWaits: VisibleWaits;
  private transform: InboundTransform | null = null;
  private republisher: Republisher | null = null;
  private readonly serverRoom: ServerRoom;
  private readonly accountRoom: AccountRoom;
  private readonly subscriptions: StreamSubscriptions;
  private isStarted = false;
  private isStopped = false;
  private readonly unwanted: UnwantedMessages;

  /** `accountUse`: what the streams of the account hold, of which this is one. */
  constructor(
    number: number,
    account: Account,
    host: StreamHost,
    config: StreamConfig,
    created: string,
    accountUse: AccountUse,
  ) {
    this.number = number;
    this.account = account;
    this.host = host;
    this.config = config;
    this.created = created;
    this.clock = new StreamClock(host.io.clock, host.io.timers);
    this.windowClock = new WindowClock(host.io.clock);
    const windowMs = (): number => millisecondsOf(this.config.duplicateWindowNs);
    this.idExpiry = new IdExpiry(host.io.timers, this.dedup, this.windowClock, windowMs);
    this.store = this.makeStore(Math.max(1, config.firstSeq));
    this.serverRoom = new ServerRoom(host, config.storage, this.store);
    this.accountRoom = new AccountRoom(host, account, accountUse, config.storage, this.store);
    this.check = new PublishCheck(this.store, this.dedup, this.accountRoom, () => this.windowClock.nowMs);
    this.lifetimes = new MessageLifetimes(host.io, this.store, (marker) => this.storeMarker(marker));
    this.interest = new Interest(this.store, host.io.timers, config.retention);
    this.unwanted = new UnwantedMessages(this.store, config.name);
    this.answers = new PublishAnswers(account, config.name, host.domain);
    this.subscriptions = new StreamSubscriptions(account, this);
    this.atomicBatches = new AtomicBatches(this);
    this.fastBatches = new FastBatches(this);
    this.visibleWaits = new VisibleWaits(host.io.timers, this.store);
    this.awaitedCounters = new AwaitedCounters(this, (message) => this.take(message));
    this.applyLimits();
  }

  private makeStore(firstSequence: number): MessageStore {
    const { storage, io } = this.host;
    if (this.config.storage === 'memory') return new MemoryStore(io.timers, this, firstSequence);
    const directory = storage.assetDirectory('stream', this.number);
    const store = new FileStore(storage, this.number, directory, this, new StreamMemory(this), firstSequence);
    store.onReadError = (sequence, error) => this.readFailed(sequence, error);
    return store;
  }

  get name(): string {
    return this.config.name;
  }

  /** Hears which messages a consumer needs no more; `null` when that does not matter. */
  get settlements(): Interest | null {
    return this.config.retention === 'limits' ? null : this.interest;
  }

  // ── life cycle ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** Begins to take messages. */
  start(): void {
    this.countUse();
    this.check.restore();
    const { lastTime } = this.store;
    if (lastTime !== null) {
      this.clock.notBefore(lastTime);
      this.windowClock.notBefore(timeMs(lastTime));
    }
    this.isStarted = true;
    this.positions.keepOnly(sourceIndexNames(this.config));
    this.subscriptions.follow(this.config.subjects);
    this.interest.start();
    this.lifetimes.start();
    this.schedules?.start();
    this.idExpiry.start();
  }

  /** While everything is brought back there may be updates too: then it takes no messages yet. */
  update(config: StreamConfig): void {
    this.config = config;
    if (!config.allowAtomic) this.atomicBatches.clear();
    if (!config.allowBatched) this.fastBatches.clear();
    if (this.isStarted) this.subscriptions.follow(config.subjects);
    this.positions.keepOnly(sourceIndexNames(config));
    this.applyLimits();
    this.interest.setPolicy(config.retention);
  }

  /** Takes no more messages; what is stored stays. */
  stop(): void {
    this.isStopped = true;
    this.interest.stop();
    this.subscriptions.stop();
    this.awaitedCounters.clear();
    this.atomicBatches.clear();
    this.fastBatches.clear();
    this.lifetimes.stop();
    this.schedules?.stop();
    this.visibleWaits.stop();
    this.idExpiry.stop();
  }

  /** Removes the stream and everything in it. */
  destroy(done: () => void): void {
    this.stop();
    this.serverRoom.leave();
    this.accountRoom.leave();
    this.store.destroy(done);
  }

  private applyLimits(): void {
    const { maxMsgs, maxBytes, maxMsgsPerSubject, discard } = this.config;
    const evicts = discard === 'old';
    this.store.setLimits({
      maxMessages: evicts ? Math.max(0, maxMsgs) : 0,
      maxBytes: evicts ? Math.max(0, maxBytes) : 0,
      maxMessagesPerSubject: Math.max(0, maxMsgsPerSubject),
    });
    this.lifetimes.configure(this.config);
    if (this.config.allowMsgSchedules) this.allowSchedules();
    const { random } = this.host.io;
    this.transform = InboundTransform.of(this.config.subjectTransform, random);
    this.republisher = Republisher.of(this.account, this.name, this.config.republish, random);
  }

  /** They can't be forbidden again. */
  private allowSchedules(): void {
    if (this.schedules !== null) return;
    const schedules = new Schedules(this.host.io, this.store, (message) => this.publishScheduled(message));
    this.schedules = schedules;
    this.check.isSchedule = (subject) => schedules.isSchedule(subject);
    if (this.isStarted) schedules.start();
  }

  // ── publishing ───────────────────────────────────────────────────────────────────────────────────────────────────

  deliver(_subscription: Subscription, published: Message): boolean {
    if (this.isStopped) return false;
    const message = this.transformed(withoutStatus(published));
    if (!this.config.allowMsgCounter || !this.awaitedCounters.holds(message)) this.take(message);
    return true;
  }

  transformed(message: Message): Message {
    return this.transform === null ? message : this.transform.apply(message);
  }

  private take(received: Message): void {
    const { headers } = this.check;
    const hasHeaders = received.payloadStart > received.bodyStart;
    if (hasHeaders) headers.read(received.body, received.bodyStart, received.payloadStart);
    const message = hasHeaders && headers.requestInfo !== null ? withoutHeader(received, REQUEST_INFO) : received;
    const intakeError = this.intakeError();
    if (intakeError !== null) this.refuse(message, intakeError);
    else if (hasFastBatchReply(message)) this.fastBatches.take(message);
    else if (hasHeaders && headers.batchId !== null) this.atomicBatches.take(message);
    else this.publish(message);
  }

  private publish(message: Message): void {
    const wantsAck = !this.config.noAck && message.replyEnd > message.replyStart;
    const error = this.check.check(message, this.config, this.isKept(message));
    if (error !== null) {
      // It may speak of messages that are not durable yet.
      if (wantsAck) this.answer(message, this.answers.errorText(error));
      return;
    }
    const { duplicateOf } = this.check;
    const sequence = duplicateOf > 0 ? duplicateOf : this.appendAlone(message);
    if (!wantsAck) return;
    if (this.config.allowMsgCounter && duplicateOf === 0) {
      this.answer(message, this.answers.counterText(sequence, this.check.counters.total));
      return;
    }
    const { gate } = this;
    this.answers.acknowledge(message, gate, sequence, duplicateOf > 0);
    if (gate <= this.store.lastSequence) this.answers.release(gate);
  }

  /** What publishers are told waits until everything up to this sequence is visible; in the async mode for nothing. */
  private get gate(): number {
    return this.config.persistMode === 'async' ? 0 : this.store.appendedSequence;
  }

  /** `time`: what the message has had elsewhere. */
  append(message: Message, time: Time = this.clock.next()): number {
    const sequence = this.isKept(message) ? this.appendKept(message, time) : this.unwanted.append(message, time);
    this.accountRoom.count();
    this.check.stored(message, sequence, this.config);
    this.schedules?.appended(message, this.isKept(message), sequence, time, this.check.headers);
    if (this.dedup.size > 0) this.idExpiry.start();
    return sequence;
  }

  /** The same outside an atomic batch, within which nothing else may be asked of the store. */
  appendAlone(message: Message): number {
    const sequence = this.append(message);
    const hasHeaders = message.payloadStart > message.bodyStart;
    if (hasHeaders && !this.isKept(message)) this.unwanted.rollUp(sequence, this.check.headers);
    return sequence;
  }

  /** Whether somebody wants the message, as far as that matters. */
  isKept(message: Message): boolean {
    return !this.interest.isSelective || this.interest.isWanted(message);
  }

  private appendKept(message: Message, time: Time): number {
    const { headers, counters } = this.check;
    const hasHeaders = message.payloadStart > message.bodyStart;
    const own = this.config.allowMsgCounter ? counters.counted(message, headers) : message;
    const stored = hasHeaders ? this.lifetimes.adjusted(withImpliedRollup(own, headers), headers) : own;
    const last = this.republisher === null ? 0 : this.check.lastUnderSubject(stored);
    const sequence = this.store.append(stored, time, hasHeaders ? replacedBy(headers) : REPLACES_NOTHING);
    if (hasHeaders) this.lifetimes.stored(sequence, time, headers);
    this.republisher?.appended(stored, sequence, time, last);
    return sequence;
  }

  /** Stores what a schedule publishes; false when that is not possible now. */
  private publishScheduled(published: Message): boolean {
    // What can't be stored is left alone until the next start.
    if (this.isStopped || this.config.sealed) return true;
    const message = this.transformed(published);
    if (this.intakeError() !== null || this.accountRoom.check(message) !== null) return false;
    this.check.headers.read(message.body, message.bodyStart, message.payloadStart);
    const isFit = this.check.checkSize(message, this.config) === null && this.check.checkHeaderSize(message) === null;
    if (isFit) this.append(message);
    return true;
  }

  /** Stores a delete marker; false when nobody wants it. In a sealed stream what it would replace stays. */
  private storeMarker(marker: Message): boolean {
    if (!this.isKept(marker)) return false;
    if (this.isStopped || this.config.sealed) return true;
    this.check.headers.read(marker.body, marker.bodyStart, marker.payloadStart);
    this.append(marker);
    return true;
  }

  answer(message: Message, text: string): void {
    if (!message.hasReply) return;
    const { gate } = this;
    this.answers.answer(message, gate, text);
    if (gate <= this.store.lastSequence) this.answers.release(gate);
  }

  private refuse(message: Message, error: ApiError): void {
    if (!this.config.noAck && message.hasReply) this.answers.refuse(message, error);
  }

  /** Why no message at all can be taken now. */
  intakeError(): ApiError | null {
    return this.config.sealed ? ApiErrors.streamSealed : this.serverRoom.check();
  }

  /** Calls back when what no consumer waits for any more is gone. */
  whenReviewed(done: () => void): void {
    this.interest.whenReviewed(() => this.whenDurable(done));
  }

  /** Calls back when what was published and acknowledged so far is to be seen, unless the disk takes its time. */
  whenVisible(done: () => void): void {
    this.visibleWaits.wait(done);
  }

  /** Calls back when everything that was asked of the store so far is durable. */
  whenDurable(done: () => void): void {
    if (this.store instanceof FileStore) this.store.whenDurable(done);
    else done();
  }

  // ── what the store says ──────────────────────────────────────────────────────────────────────────────────────────

  stored(fromSequence: number, toSequence: number): void {
    this.countUse();
    this.republisher?.release(toSequence);
    this.answers.release(toSequence);
    this.positions.stored(toSequence);
    this.schedules?.visible(toSequence);
    this.visibleWaits.visible(toSequence);
    for (const observer of this.observers) observer.stored(fromSequence, toSequence);
    this.lifetimes.messagesChanged();
  }

  removed(sequence: number, subject: number): void {
    this.countUse();
    for (const observer of this.observers) observer.removed(sequence, subject);
    this.lifetimes.removed(sequence);
    this.schedules?.removed(sequence, subject);
  }

  purged(belowSequence: number): void {
    this.countUse();
    this.isAging = this.lifetimes.areAged(belowSequence);
    for (const observer of this.observers) observer.purged(belowSequence);
    this.isAging = false;
    this.lifetimes.purged(belowSequence);
  }

  private countUse(): void {
    this.serverRoom.count();
    this.accountRoom.count();
  }

  private readFailed(sequence: number, error: Error): void {
    const name = `${this.account.name} > ${this.name}`;
    this.host.log.error(`Error reading message ${sequence} of stream '${name}': ${error.message}`);
  }
}
