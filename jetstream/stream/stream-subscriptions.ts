/** The subscriptions by which a stream takes the messages that are published under its subjects. */

import type { Account } from '../../server/account/account.ts';
import type { Sink } from '../../server/ports.ts';
import { Subscription } from '../../server/subject/subscription.ts';

export class StreamSubscriptions {
  private readonly account: Account;
  private readonly sink: Sink;
  private subscriptions: Subscription[] = [];

  constructor(account: Account, sink: Sink) {
    this.account = account;
    this.sink = sink;
  }

  /** Listens to these subjects from now on. What stays is left alone, so that links hear of no gap. */
  follow(subjects: readonly string[]): void {
    const before = this.subscriptions;
    const wanted = new Set(subjects);
    this.subscriptions = before.filter(({ subject }) => wanted.has(subject));
    const kept = new Set(this.subscriptions.map(({ subject }) => subject));
    for (const subject of subjects.filter((each) => !kept.has(each))) {
      const subscription = new Subscription(this.sink, subject, '', '');
      this.subscriptions.push(subscription);
      this.account.subscribe(subscription);
    }
    for (const each of before) if (!kept.has(each.subject)) this.account.unsubscribe(each);
  }

  stop(): void {
    for (const subscription of this.subscriptions) this.account.unsubscribe(subscription);
    this.subscriptions = [];
  }
}
