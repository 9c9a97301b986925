/** Subscriptions of a spool in the place of its hub's: one for each subject and queue group that the hub wants to hear. */

import type { Account } from '../../server/account/account.ts';
import type { Sink } from '../../server/ports.ts';
import { Subscription } from '../../server/subject/subscription.ts';
import type { WantedSubject } from './hub-interest.ts';

export class OwnSubscriptions {
  private readonly account: Account;
  private readonly sink: Sink;
  private all: readonly Subscription[] = [];

  constructor(account: Account, sink: Sink) {
    this.account = account;
    this.sink = sink;
  }

  get isEmpty(): boolean {
    return this.all.length === 0;
  }

  /** Subscribes to these, and to nothing else. */
  replace(wanted: readonly WantedSubject[]): void {
    for (const each of this.all) this.account.unsubscribe(each);
    this.all = wanted.map(({ subject, queueGroup }) => new Subscription(this.sink, subject, queueGroup, subject));
    for (const each of this.all) this.account.subscribe(each);
  }
}
