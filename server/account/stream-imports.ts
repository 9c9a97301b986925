/**
 * The streams of other accounts that one account imports. A subscription that meets an import has a shadow in the
 * exporting account: what is published there reaches the subscriber at once, under the subject it has here.
 *
 *     importer   SUB in.*  ──►  import `in.>` of `orders.>`  ──►  exporter   shadow of `orders.*`, same queue group
 *                   ▲                                                │
 *                   └──────────── in.new ◄────────── orders.new ◄────┘
 *
 * An account without imports pays one comparison per subscription, and nothing per message. So interest in the exporting
 * account is that of real subscribers, and members of one queue group compete across accounts, as with nats-server.
 *
 * Bounds: one shadow per subscription and import that it meets.
 */

import type { Sink, SinkKind } from '../ports.ts';
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
  private readonly imports: readonly StreamImport[];
  private readonly random: FractionSource;
  private readonly shadows = new Map<Subscription, readonly Shadow[]>();

  constructor(imports: readonly StreamImport[], random: FractionSource) {
    this.imports = imports;
    this.random = random;
  }

  subscriptionAdded(subscription: Subscription): void {
    if (subscription.sink.sinkKind === 'internal' && isOwnService(subscription)) return;
    const shadows: Shadow[] = [];
    for (const each of this.imports) {
      const subject = this.shadowSubject(each, subscription.subject);
      if (subject !== null) shadows.push(new Shadow(subscription, subject, each, this.random));
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

/** A subscription's other half in the exporting account. */
class Shadow implements Sink {
  private readonly original: Subscription;
  private readonly stream: StreamImport;
  private readonly random: FractionSource;
  private readonly subscription: Subscription;
  private readonly copy = new Message();
  private isBusy = false;

  constructor(original: Subscription, subject: string, stream: StreamImport, random: FractionSource) {
    this.original = original;
    this.stream = stream;
    this.random = random;
    this.subscription = new Subscription(this, subject, original.queueGroup, original.sid);
    this.subscription.weight = original.weight;
  }

  get sinkKind(): SinkKind {
    return this.original.sink.sinkKind;
  }

  get isCongested(): boolean {
    return this.original.sink.isCongested === true;
  }

  open(): void {
    this.stream.exporter.subscribe(this.subscription);
  }

  close(): void {
    this.stream.exporter.unsubscribe(this.subscription);
  }

  deliver(_shadow: Subscription, message: Message): boolean {
    const { sink } = this.original;
    const copy = this.isBusy ? new Message() : this.copy;
    const wasBusy = this.isBusy;
    this.isBusy = true;
    copyMessage(message, copy);
    this.rename(message, copy);
    const taken = sink.deliver(this.original, copy);
    copy.sendCollected();
    this.isBusy = wasBusy;
    return taken;
  }

  /** A message whose receivers go by another subject than the one it shows keeps that one. */
  private rename(message: Message, copy: Message): void {
    const { inward } = this.stream;
    if (inward === null || message.destination !== null) return;
    const subject = inward.constant ?? inward.applyTokens(message.subjectText().split('.'), this.random);
    const bytes = Buffer.from(subject, 'latin1');
    copy.setSubject(bytes, 0, bytes.length);
  }
}
