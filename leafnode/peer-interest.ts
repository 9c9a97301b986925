/**
 * What the peer of a link wants to hear: its LS+ and LS- as subscriptions of the local account, one per subject and
 * queue group, the latter with the number of members it stands for.
 */

import type { Account } from '../server/account/account.ts';
import { SidTable } from '../server/connection/sid-table.ts';
import type { Timers } from '../server/io/io.ts';
import type { LinkSink } from '../server/ports.ts';
import { Subscription } from '../server/subject/subscription.ts';

const ENTRIES_PER_TURN = 1000;

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

  /** Gives everything up, in slices where there is much: other links have to be told of each entry. */
  clear(timers: Timers): void {
    const given = [...this.table.all()];
    this.table.clear();
    let at = 0;
    const giveUp = (): void => {
      const end = Math.min(at + ENTRIES_PER_TURN, given.length);
      while (at < end) this.account.unsubscribe(given[at++] as Subscription);
      if (at < given.length) timers.afterTurn(giveUp);
    };
    giveUp();
  }
}

function sidOf(subject: string, queueGroup: string): string {
  return queueGroup === '' ? subject : `${subject} ${queueGroup}`;
}
