/**
 * What the hub has withdrawn a moment ago, while the link stands, and the messages that were published for it since then.
 * A hub that is stopped withdraws what it wants bit by bit before it closes the link, so nobody knows yet whether somebody
 * went or the hub goes.
 *
 *     withdrawn ─► own subscription, messages are held ──the link is lost──► they are spooled
 *                       ├──the hub wants it again──► they are forgotten: nobody was there
 *                       └──it no longer counts──► they are forgotten: somebody went (HubInterest)
 *
 * Held messages are copies, and nobody is told that they were taken: a member of a queue group behind another link gets
 * its message, and a requester hears that nobody listens.
 *
 * Bounds: as many entries as interest counts; HELD_MESSAGES and HELD_BYTES, beyond which the oldest are forgotten: a hub
 * that goes does so within milliseconds.
 */

import type { Account } from '../../server/account/account.ts';
import type { Sink } from '../../server/ports.ts';
import type { Message } from '../../server/protocol/message.ts';
import { subjectMatches } from '../../server/subject/subject.ts';
import { Subscription } from '../../server/subject/subscription.ts';
import type { WantedSubject } from './hub-interest.ts';

const HELD_MESSAGES = 1024;
const HELD_BYTES = 1024 * 1024;

interface Held {
  readonly message: Message;
  readonly subject: string;
  readonly queueGroups: readonly string[];
}

export class WithdrawnInterest {
  private readonly account: Account;
  private readonly sink: Sink;
  private subscriptions: Subscription[] = [];
  private held: Held[] = [];
  private heldBytes = 0;

  /** `sink` takes the messages, and gives them to `hold`. */
  constructor(account: Account, sink: Sink) {
    this.account = account;
    this.sink = sink;
  }

  /** The hub has withdrawn this. */
  add({ subject, queueGroup }: WantedSubject): void {
    if (this.subscriptions.some((each) => each.subject === subject && each.queueGroup === queueGroup)) return;
    const subscription = new Subscription(this.sink, subject, queueGroup, subject);
    this.subscriptions.push(subscription);
    this.account.subscribe(subscription);
  }

  /** What no longer passes `isInDoubt` is wanted again, or is not for certain; what was held for nothing else is forgotten. */
  restrict(isInDoubt: (each: WantedSubject) => boolean): void {
    const before = this.subscriptions;
    if (before.length === 0) return;
    this.subscriptions = before.filter(isInDoubt);
    if (this.subscriptions.length === before.length) return;
    for (const each of before) if (!isInDoubt(each)) this.account.unsubscribe(each);
    this.held = this.held.filter(({ subject }) =>
      this.subscriptions.some((each) => subjectMatches(each.subject, subject)),
    );
    this.heldBytes = this.held.reduce((bytes, { message }) => bytes + message.bodyBytes, 0);
  }

  /** Keeps the message, whose bytes are its own, in memory. */
  hold(message: Message, queueGroups: readonly string[]): void {
    this.held.push({ message, subject: message.subjectText(), queueGroups });
    this.heldBytes += message.bodyBytes;
    while (this.held.length > 1 && (this.held.length > HELD_MESSAGES || this.heldBytes > HELD_BYTES)) {
      this.heldBytes -= (this.held.shift() as Held).message.bodyBytes;
    }
  }

  /** The link is lost: what was held is the caller's, in order, and nothing is in doubt. */
  end(): readonly Held[] {
    const { held } = this;
    this.restrict(() => false);
    this.held = [];
    this.heldBytes = 0;
    return held;
  }
}
