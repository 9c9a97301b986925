/**
 * What a user may publish and subscribe to: an allow list (absent: everything) and then a deny list, of subjects with
 * wildcards.
 *
 * Publishing asks for one literal subject; the answer comes from a sublist with its match cache. Subscribing asks
 * whether a pattern lies within an allowed one and not within a denied one. A subscription wider than a denied subject
 * is accepted, and what it must not get is filtered at delivery; but `a.>` is refused where `a.*` is denied, as
 * nats-server does. It also takes `a.>` for allowed where only `a.*` is; that would hand out `a.b.c`, and is refused.
 *
 * A subscribe entry `subject queue` is about queue subscriptions with this name alone (which may hold wildcards). When
 * a queue subscription meets entries with queue names, these decide, and not the plain ones (nats-server's rule).
 */

import type { Message } from '../protocol/message.ts';
import { Receivers } from '../subject/receivers.ts';
import { isSubsetMatch, subjectsCollide } from '../subject/subject.ts';
import { Sublist } from '../subject/sublist.ts';
import { Subscription } from '../subject/subscription.ts';
import type { Sink } from '../ports.ts';

const EMPTY_TOKEN = /^\.|\.\.|\.$/;
const LAST_GREATER = /(?<![^.])>$/;

export interface SubjectRules {
  /** `null`: everything. */
  readonly allow: readonly string[] | null;
  readonly deny: readonly string[];
}

export interface PermissionRules {
  readonly publish: SubjectRules;
  readonly subscribe: SubjectRules;
  /** Lets answers through that may not be published otherwise. */
  readonly responses?: ResponseRules | null;
}

/** A negative number is no limit. */
export interface ResponseRules {
  readonly max: number;
  readonly expiresMs: number;
}

const NOBODY: Sink = { sinkKind: 'internal', deliver: () => false };

/** Subjects with wildcards, asked about literal ones. */
class SubjectSet {
  private readonly sublist = new Sublist(0);
  private readonly scratch = new Receivers();

  constructor(patterns: readonly QueueRule[]) {
    for (const { subject, queueGroup } of patterns) {
      this.sublist.insert(new Subscription(NOBODY, subject, queueGroup, ''));
    }
  }

  match(buffer: Buffer, start: number, end: number): Receivers {
    return this.sublist.match(buffer, start, end, this.scratch);
  }
}

interface QueueRule {
  readonly subject: string;
  /** Empty: a plain entry. */
  readonly queueGroup: string;
}

export class Permissions {
  readonly rules: PermissionRules;
  private readonly publishAllow: SubjectSet | null;
  private readonly publishDeny: SubjectSet | null;
  private readonly subscribeAllow: readonly QueueRule[] | null;
  private readonly subscribeDeny: readonly QueueRule[];
  private readonly deliveryDeny: SubjectSet | null;

  constructor(rules: PermissionRules) {
    this.rules = rules;
    const { publish, subscribe } = rules;
    this.publishAllow = publish.allow === null ? null : new SubjectSet(publish.allow.map(plainRule));
    this.publishDeny = publish.deny.length === 0 ? null : new SubjectSet(publish.deny.map(plainRule));
    this.subscribeAllow = subscribe.allow?.map(queueRule) ?? null;
    this.subscribeDeny = subscribe.deny.map(queueRule);
    this.deliveryDeny = this.subscribeDeny.length === 0 ? null : new SubjectSet(this.subscribeDeny);
  }

  /** Whether anything may be published without being asked about. */
  get restrictsPublishing(): boolean {
    return this.publishAllow !== null || this.publishDeny !== null;
  }

  mayPublish(subject: Buffer, start: number, end: number): boolean {
    const { publishAllow, publishDeny } = this;
    if (publishAllow !== null && publishAllow.match(subject, start, end).plain.length === 0) return false;
    return publishDeny === null || publishDeny.match(subject, start, end).plain.length === 0;
  }

  maySubscribe(subject: string, queueGroup: string): boolean {
    const { subscribeAllow, subscribeDeny } = this;
    if (subscribeAllow !== null && !isCovered(subscribeAllow, subject, queueGroup)) return false;
    return !isCovered(subscribeDeny, subject.replace(LAST_GREATER, '*'), queueGroup);
  }

  /** Whether a subscription that is allowed can still match something that is denied. */
  needsDeliveryCheck(subject: string): boolean {
    return this.subscribeDeny.some((rule) => subjectsCollide(rule.subject, subject));
  }

  deniesDelivery(subscription: Subscription, message: Message): boolean {
    if (this.deliveryDeny === null) return false;
    const denied = this.deliveryDeny.match(message.subject, message.subjectStart, message.subjectEnd);
    if (denied.plain.length > 0) return true;
    return denied.groups.some((group) => queueMatches(group.name, subscription.queueGroup));
  }
}

function plainRule(subject: string): QueueRule {
  return { subject, queueGroup: '' };
}

/** `subject` or `subject queue`. */
function queueRule(text: string): QueueRule {
  const [subject = '', queueGroup = ''] = text.split(' ');
  return { subject, queueGroup };
}

/** What has an empty token is covered by nothing, not even by `>`. */
function isCovered(rules: readonly QueueRule[], subject: string, queueGroup: string): boolean {
  if (EMPTY_TOKEN.test(subject)) return false;
  let plain = false;
  let namesQueue = false;
  let queue = false;
  for (const rule of rules) {
    if (!isSubsetMatch(subject, rule.subject)) continue;
    if (rule.queueGroup === '') plain = true;
    else {
      namesQueue = true;
      queue ||= queueMatches(rule.queueGroup, queueGroup);
    }
  }
  return queueGroup !== '' && namesQueue ? queue : plain;
}

function queueMatches(pattern: string, queueGroup: string): boolean {
  return queueGroup !== '' && (pattern === queueGroup || isSubsetMatch(queueGroup, pattern));
}
