/**
 * Notices that somebody listens to the API of an origin anew: a link came back, or a server began to serve. Whatever was
 * under way before may be gone, so this is the moment to ask. It looks at every subscription that is added to the account;
 * most of them begin with another letter than the API's subjects.
 */

import type { Account } from '../../server/account/account.ts';
import type { InterestListener } from '../../server/ports.ts';
import { subjectMatches } from '../../server/subject/subject.ts';
import type { Subscription } from '../../server/subject/subscription.ts';

const STAR = 0x2a;
const GREATER = 0x3e;

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
    // Most that come and go are inboxes, which the first byte tells.
    const first = subject.charCodeAt(0);
    const mayMatch = first === this.subject.charCodeAt(0) || first === STAR || first === GREATER;
    if (mayMatch && subjectMatches(subject, this.subject)) this.onInterest();
  }

  subscriptionRemoved(): void {
    // A call that is not answered ends by itself.
  }
}
