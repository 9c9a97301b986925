/**
 * The streams of other accounts that one account imports. A subscription that meets an import has a shadow in the
 * exporting account: what is published there reaches the subscriber at once, under the subject it has here.
 *
 *     importer   SUB in.*  ──►  import `in.>` of `orders.>`  ──►  exporter   shadow of `orders.*`, same queue group
 *                   ▲                                                │
 *                   └──────────── in.new ◄────────── orders.new ◄────┘
 *
 * An account without imports pays one comparison per subscription, and nothing per message. So interest in the exporting
 * account is that of real subscribers, and members of one queue group compete across accounts, as with nats-server. A shadow
 * has no shadow: what an account imports it does not hand on to those who import from it.
 *
 * Bounds: one shadow per subscription and import that it meets.
 */

import type { LinkSink, Sink, SinkKind } from '../ports.ts';
import { Message } from '../protocol/message.ts';
import { isSubsetMatch } from '../subject/subject.ts';
import { Subscription } from '../subject/subscription.ts';
import type { FractionSource } from '../subject/transform-token.ts';
import type { Transform } from '../subject/transform.ts';
import type { Account } from './account.ts';
import { copyMessage } from './message-copy.ts';
import { ServiceImport } from './service-import.ts';

export interface StreamImport {
  readonly exporter: Account;
  /** The exporter's subject, and the one here with wildcards. */
  readonly from: string;
  readonly to: string;
  /** From the exporter's subjects to those here; `null` where they are the same. */
  readonly inward: Transform | null;
  readonly outward: Transform | null;
}

export class StreamImports {
  private readonly imports: readonly LinkedImport[];
  private readonly random: FractionSource;
  private readonly shadows = new Map<Subscription, readonly Shadow[]>();

  constructor(imports: readonly StreamImport[], random: FractionSource) {
    this.imports = imports.map((each) => new LinkedImport(each, random, this));
    this.random = random;
  }

  subscriptionAdded(subscription: Subscription): void {
    if (subscription.sink instanceof Shadow) return;
    if (subscription.sink.sinkKind === 'internal' && isOwnService(subscription)) return;
    const shadows: Shadow[] = [];
    for (const each of this.imports) {
      const subject = this.shadowSubject(each.stream, subscription.subject);
      if (subject !== null) shadows.push(new Shadow(subscription, subject, each));
    }
    if (shadows.length === 0) return;
    this.shadows.set(subscription, shadows);
    for (const shadow of shadows) shadow.open();
  }

  subscriptionRemoved(subscription: Subscription): void {
    const shadows = this.shadows.get(subscription);
    if (shadows === undefined) return;
    this.shadows.delete(subscription);
    for (const shadow of shadows) shadow.close();
  }

  /** Sends what has been collected for links of this message: it comes by another import, too. */
  sendCollected(message: Message): void {
    for (const each of this.imports) each.sendCollected(message);
  }

  /** Nothing is imported any more. */
  close(): void {
    for (const shadows of this.shadows.values()) for (const shadow of shadows) shadow.close();
    this.shadows.clear();
  }

  /** What a subscription to `subject` asks of the exporter; `null` for nothing. */
  private shadowSubject({ from, to, outward }: StreamImport, subject: string): string | null {
    if (isSubsetMatch(to, subject)) return from;
    const asked = isSubsetMatch(subject, to) ? subject : overlap(subject, to);
    if (asked === null) return null;
    if (outward === null) return asked;
    return outward.constant ?? outward.applyTokens(asked.split('.'), this.random);
  }
}

/** What this server answers, or asks other accounts for, is no stream that it waits for. */
function isOwnService({ sink, subject }: Subscription): boolean {
  return sink instanceof ServiceImport || /^(\$JS\.|\$SYS\.|_R_\.)/.test(subject);
}

/** The subject that stands for what both patterns match; `null` if that is nothing. */
export function overlap(one: string, other: string): string | null {
  const a = one.split('.');
  const b = other.split('.');
  const both: string[] = [];
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    if (a[i] === '>' && b[i] !== undefined) return [...both, ...b.slice(i)].join('.');
    if (b[i] === '>' && a[i] !== undefined) return [...both, ...a.slice(i)].join('.');
    const [left, right] = [a[i], b[i]];
    if (left === undefined || right === undefined) return null;
    if (left !== '*' && right !== '*' && left !== right) return null;
    both.push(left === '*' ? right : left);
  }
  return both.join('.');
}

/**
 * One import, and what it brings to links: they share one copy of a message and send it when all receivers are known. With
 * a copy for each of its subscriptions a link would send the message as often, to plain subscribers behind it each time
 * (nats-server#5473).
 *
 *     message ──► shadows of the link's subscriptions ──collect──► copy ──► once over each link
 *
 * Copies form a stack: a receiver may publish to the exporter while others are still being found.
 */
class LinkedImport implements LinkSink {
  readonly sinkKind: SinkKind = 'leaf';
  readonly stream: StreamImport;
  private readonly random: FractionSource;
  private readonly all: StreamImports;
  private readonly stack: { message: Message | null; readonly copy: Message }[] = [];
  private depth = 0;

  constructor(stream: StreamImport, random: FractionSource, all: StreamImports) {
    this.stream = stream;
    this.random = random;
    this.all = all;
  }

  /** Collects the exporter's message for a subscription of a link. */
  deliver(original: Subscription, message: Message): boolean {
    return original.sink.deliver(original, this.collectedCopy(message));
  }

  sendCollected(message: Message): void {
    const top = this.stack[this.depth - 1];
    if (top?.message !== message) return;
    this.depth--;
    top.message = null;
    top.copy.sendCollected();
  }

  private collectedCopy(message: Message): Message {
    const top = this.stack[this.depth - 1];
    if (top?.message === message) return top.copy;
    // A link collects one message at a time, and to it the copy of each import is one.
    this.all.sendCollected(message);
    const next = (this.stack[this.depth++] ??= { message: null, copy: new Message() });
    next.message = message;
    this.show(message, next.copy);
    message.collectFor(this);
    return next.copy;
  }

  /** Makes `copy` show the exporter's message as it is seen here. */
  show(message: Message, copy: Message): void {
    copyMessage(message, copy);
    const { inward } = this.stream;
    // A message whose receivers go by another subject than the one it shows keeps that one.
    if (inward === null || message.destination !== null) return;
    const subject = inward.constant ?? inward.applyTokens(message.subjectText().split('.'), this.random);
    const bytes = Buffer.from(subject, 'latin1');
    copy.setSubject(bytes, 0, bytes.length);
  }
}

/** A subscription's other half in the exporting account. */
class Shadow implements Sink {
  private readonly original: Subscription;
  private readonly source: LinkedImport;
  private readonly subscription: Subscription;
  private readonly copy = new Message();
  private isBusy = false;

  constructor(original: Subscription, subject: string, source: LinkedImport) {
    this.original = original;
    this.source = source;
    this.subscription = new Subscription(this, subject, original.queueGroup, original.sid);
    this.subscription.weight = original.weight;
  }

  get sinkKind(): SinkKind {
    return this.original.sink.sinkKind;
  }

  get isCongested(): boolean {
    return this.original.sink.isCongested === true;
  }

  get standsFor(): Sink {
    const { sink } = this.original;
    return sink.standsFor ?? sink;
  }

  open(): void {
    this.source.stream.exporter.subscribe(this.subscription);
  }

  close(): void {
    this.source.stream.exporter.unsubscribe(this.subscription);
  }

  deliver(_shadow: Subscription, message: Message): boolean {
    const { original, source } = this;
    if (original.sink.sinkKind === 'leaf') return source.deliver(original, message);
    const copy = this.isBusy ? new Message() : this.copy;
    const wasBusy = this.isBusy;
    this.isBusy = true;
    source.show(message, copy);
    const taken = original.sink.deliver(original, copy);
    copy.sendCollected();
    this.isBusy = wasBusy;
    return taken;
  }
}
