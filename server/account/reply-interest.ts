/**
 * Whether anybody in an account still waits for answers: for replies whose loss is to be told, it hears of every
 * subscription that goes, and looks whether another one is left. It listens only as long as there are such replies.
 *
 * Bound: as many replies as requests are awaited (`service-export.ts`).
 */

import { Buffer } from 'node:buffer';
import type { InterestListener } from '../ports.ts';
import { subjectMatches } from '../subject/subject.ts';
import type { Subscription } from '../subject/subscription.ts';
import type { Account } from './account.ts';

/** A reply that is watched. */
export interface WatchedReply {
  readonly subject: string;
  /** Nobody listens to it any more. It is watched no longer then. */
  lost(): void;
}

export class ReplyInterest implements InterestListener {
  private readonly account: Account;
  private readonly replies = new Map<string, Set<WatchedReply>>();

  constructor(account: Account) {
    this.account = account;
  }

  watch(reply: WatchedReply): void {
    if (this.replies.size === 0) this.account.listen(this);
    const same = this.replies.get(reply.subject) ?? new Set<WatchedReply>();
    this.replies.set(reply.subject, same.add(reply));
  }

  unwatch(reply: WatchedReply): void {
    const same = this.replies.get(reply.subject);
    if (same?.delete(reply) !== true || same.size > 0) return;
    this.replies.delete(reply.subject);
    if (this.replies.size === 0) this.account.unlisten(this);
  }

  subscriptionAdded(): void {
    // Only what goes matters.
  }

  subscriptionRemoved({ key }: Subscription): void {
    if (this.replies.has(key)) this.review(key);
    else if (/(^|\.)[*>](\.|$)/.test(key)) {
      for (const subject of this.replies.keys()) if (subjectMatches(key, subject)) this.review(subject);
    }
  }

  private review(subject: string): void {
    if (this.account.hasInterest(Buffer.from(subject, 'latin1'))) return;
    for (const reply of this.replies.get(subject) ?? []) {
      this.unwatch(reply);
      reply.lost();
    }
  }
}
