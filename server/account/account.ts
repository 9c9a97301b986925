/**
 * An account: a closed world of subjects. Whoever publishes calls `route`; whoever receives is a subscription with a
 * sink. There is no second path.
 *
 * Routing may nest (a sink that publishes while it takes a message): each depth has a scratch answer of its own.
 * Interest listeners (links that carry interest) hear of every subscription that comes and goes.
 */

import { Buffer } from 'node:buffer';
import type { AccountJetStreamOptions } from '../config/account-options.ts';
import type { InterestListener, Sink } from '../ports.ts';
import type { Message } from '../protocol/message.ts';
import { type QueueGroup, Receivers } from '../subject/receivers.ts';
import type { Sublist } from '../subject/sublist.ts';
import type { Subscription } from '../subject/subscription.ts';
import { AccountLimits } from './account-limits.ts';
import type { Mappings } from './mappings.ts';
import { deliverToOne } from './queue-choice.ts';
import type { StreamImports } from './stream-imports.ts';
import { SubjectWatches } from './subject-watches.ts';

export class Account {
  readonly name: string;
  readonly sublist: Sublist;
  mappings: Mappings | null = null;
  readonly limits: AccountLimits = new AccountLimits();
  /** What it may have of JetStream; `null` for nothing. */
  jetstream: AccountJetStreamOptions | null = null;
  private streamImports: StreamImports | null = null;
  private readonly fraction: () => number;
  private readonly listeners = new Set<InterestListener>();
  private readonly watches = new SubjectWatches();
  private readonly scratches: Receivers[] = [];
  /** Answers to questions that are not routing. */
  private readonly probe = new Receivers();
  private depth = 0;

  /** `fraction` gives random numbers in [0, 1) for the choice of queue members. */
  constructor(name: string, sublist: Sublist, fraction: () => number) {
    this.name = name;
    this.sublist = sublist;
    this.fraction = fraction;
  }

  subscribe(subscription: Subscription): void {
    this.sublist.insert(subscription);
    if (this.streamImports !== null) this.streamImports.subscriptionAdded(subscription);
    for (const listener of this.listeners) listener.subscriptionAdded(subscription);
  }

  unsubscribe(subscription: Subscription): void {
    this.sublist.remove(subscription);
    if (this.streamImports !== null) this.streamImports.subscriptionRemoved(subscription);
    for (const listener of this.listeners) listener.subscriptionRemoved(subscription);
  }

  /** What this account takes from others, from now on; `null` for nothing. */
  importStreams(imports: StreamImports | null): void {
    this.streamImports?.close();
    this.streamImports = imports;
    if (imports === null) return;
    for (const subscription of this.sublist.subscriptions()) imports.subscriptionAdded(subscription);
  }

  listen(listener: InterestListener): void {
    this.listeners.add(listener);
  }

  unlisten(listener: InterestListener): void {
    this.listeners.delete(listener);
  }

  /** Calls back when a subscription to exactly this literal subject came or went. */
  watch(subject: string, callback: () => void): void {
    if (this.watches.isEmpty) this.listen(this.watches);
    this.watches.add(subject, callback);
  }

  unwatch(subject: string, callback: () => void): void {
    this.watches.remove(subject, callback);
    if (this.watches.isEmpty) this.unlisten(this.watches);
  }

  /** Puts the mapped subject in the place of the published one. A message to be dropped gets an empty subject. */
  applyMappings(message: Message): void {
    if (this.mappings === null) return;
    const mapped = this.mappings.select(message.subject, message.subjectStart, message.subjectEnd);
    if (mapped === null) return;
    const bytes = Buffer.from(mapped, 'latin1');
    message.setSubject(bytes, 0, bytes.length);
  }

  /** Whether anybody listens to the literal subject. */
  hasInterest(subject: Buffer): boolean {
    const { plain, groups } = this.sublist.match(subject, 0, subject.length, this.probe);
    return plain.length > 0 || groups.length > 0;
  }

  /** Whether there is a subscription to exactly this literal subject: of the queue group, a plain one for ''. */
  hasExactInterest(subject: Buffer, queueGroup: string): boolean {
    const text = subject.toString('latin1');
    const { plain, groups } = this.sublist.match(subject, 0, subject.length, this.probe);
    const found = queueGroup === '' ? plain : (groups.find(({ name }) => name === queueGroup)?.members ?? []);
    return found.some((subscription) => subscription.key === text);
  }

  /** Whether a listener to the literal subject has so much unsent that it should get no more for now. */
  isCongested(subject: Buffer): boolean {
    const { plain, groups } = this.sublist.match(subject, 0, subject.length, this.probe);
    if (isAnyCongested(plain)) return true;
    for (let i = 0; i < groups.length; i++) if (isAnyCongested((groups[i] as QueueGroup).members)) return true;
    return false;
  }

  /** What would become of messages to the literal subject: nobody listens, or one who does has much unsent, or neither. */
  reception(subject: Buffer): 'nobody' | 'congested' | 'ready' {
    const { plain, groups } = this.sublist.match(subject, 0, subject.length, this.probe);
    if (plain.length === 0 && groups.length === 0) return 'nobody';
    if (isAnyCongested(plain)) return 'congested';
    for (let i = 0; i < groups.length; i++) if (isAnyCongested((groups[i] as QueueGroup).members)) return 'congested';
    return 'ready';
  }

  /** A plain subscription of `sink` that matches the literal subject, if there is one. */
  plainSubscriptionOf(sink: Sink, subject: Buffer, start: number, end: number): Subscription | null {
    const { plain } = this.sublist.match(subject, start, end, new Receivers());
    return plain.find((subscription) => subscription.sink === sink) ?? null;
  }

  /** Gives the message to everybody who is to have it; false when nobody took it. */
  route(message: Message): boolean {
    const scratch = (this.scratches[this.depth] ??= new Receivers());
    this.depth++;
    const { destination, queueGroups } = message;
    const { plain, groups } =
      destination === null
        ? this.sublist.match(message.subject, message.subjectStart, message.subjectEnd, scratch)
        : this.sublist.match(destination, message.destinationStart, message.destinationEnd, scratch);
    let delivered = false;
    for (let i = 0; i < plain.length; i++) {
      const subscription = plain[i] as Subscription;
      if (subscription.sink.deliver(subscription, message)) delivered = true;
    }
    for (let i = 0; i < groups.length; i++) {
      const group = groups[i] as (typeof groups)[number];
      if (queueGroups !== null && !queueGroups.includes(group.name)) continue;
      if (deliverToOne(group, message, this.fraction())) delivered = true;
    }
    message.sendCollected();
    this.depth--;
    return delivered;
  }
}

function isAnyCongested(subscriptions: readonly Subscription[]): boolean {
  for (let i = 0; i < subscriptions.length; i++) {
    if ((subscriptions[i] as Subscription).sink.isCongested === true) return true;
  }
  return false;
}
