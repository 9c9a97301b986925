/**
 * What this server does in `$SYS`: it answers those who ask about it, in the system account, and its own clients who ask
 * about themselves, each in its own account.
 */

import type { Account } from '../account/account.ts';
import { ServerDescription } from './server-description.ts';
import type { MonitorSource } from '../monitor/monitor-source.ts';
import { SystemRequests } from './system-requests.ts';
import { answerUserInfo } from './user-info.ts';

export class SystemServices {
  private readonly host: MonitorSource;
  private readonly description: ServerDescription;
  private readonly requests: SystemRequests;

  constructor(host: MonitorSource) {
    this.host = host;
    this.description = new ServerDescription(host);
    this.requests = new SystemRequests(host, this.description);
  }

  /** Serves all accounts there are from now on. */
  open(): void {
    for (const account of this.host.accounts.values()) this.serve(account);
    this.requests.open();
  }

  /** Serves an account that is new. */
  serve(account: Account): void {
    answerUserInfo(this.description, account);
  }
}
