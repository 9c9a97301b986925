/**
 * Notices that somebody listens to the API of an origin again: a link came back, or a server began to serve. It looks at
 * every subscription that is added to the account, and is there only while somebody waits.
 */

import type { Account } from '../../server/account/account.ts';
import type { InterestListener } from '../../server/ports.ts';
import { subjectMatches } from '../../server/subject/subject.ts';
import type { Subscription } from '../../server/subject/subscription.ts';

export class OriginInterest implements InterestListener {
  private readonly account: Account;
  private readonly onInterest: () => void;
  private subject = '';

  constructor(account: Account, onInterest: () => void) {
    this.account = account;
    this.onInterest = onInterest;
  }

  /** Watches for listeners to this literal subject. */
  watch(subject: string): void {
    if (this.subject === '') this.account.listen(this);
    this.subject = subject;
  }

  stop(): void {
    if (this.subject !== '') this.account.unlisten(this);
    this.subject = '';
  }

  subscriptionAdded({ subject }: Subscription): void {
    if (subjectMatches(subject, this.subject)) this.onInterest();
  }

  subscriptionRemoved(): void {
    // A call that is not answered ends by itself.
  }
}
