/**
 * What the peer of a link wants to hear: its LS+ and LS- as subscriptions of the local account, one per subject and
 * queue group, the latter with the number of members it stands for.
 */

import type { Account } from '../server/account/account.ts';
import { SidTable } from '../server/connection/sid-table.ts';
import type { LinkSink } from '../server/ports.ts';
import { Subscription } from '../server/subject/subscription.ts';

export class PeerInterest {
  private readonly link: LinkSink;
  private readonly account: Account;
  private readonly table = new SidTable();

  constructor(link: LinkSink, account: Account) {
    this.link = link;
    this.account = account;
  }

  get size(): number {
    return this.table.size;
  }

  all(): Iterable<Subscription> {
    return this.table.all();
  }

  /** Adds the subscription, or gives it another weight. */
  set(subject: string, queueGroup: string, weight: number): void {
    const sid = sidOf(subject, queueGroup);
    const known = this.table.get(sid);
    if (known !== undefined && known.weight === weight) return;
    const subscription = new Subscription(this.link, subject, queueGroup, sid);
    subscription.weight = weight;
    // The new weight first, so that nobody sees the interest gone in between.
    this.account.subscribe(subscription);
    if (known !== undefined) {
      this.table.delete(sid);
      this.account.unsubscribe(known);
    }
    this.table.add(subscription);
  }

  /** Removes the subscription, if there is one. */
  remove(subject: string, queueGroup: string): void {
    const sid = sidOf(subject, queueGroup);
    const known = this.table.get(sid);
    if (known === undefined) return;
    this.table.delete(sid);
    this.account.unsubscribe(known);
  }

  clear(): void {
    for (const each of this.table.all()) this.account.unsubscribe(each);
    this.table.clear();
  }
}

function sidOf(subject: string, queueGroup: string): string {
  return queueGroup === '' ? subject : `${subject} ${queueGroup}`;
}
