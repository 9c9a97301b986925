/** What an account may have, -1 for no limit, and how much of it is taken. */

import { type AccountLimitsOptions, NO_LIMITS } from '../config/account-options.ts';
import { NoticePace } from '../io/notice-pace.ts';

const NOTICE_INTERVAL_MS = 2_000;

export class AccountLimits {
  options: AccountLimitsOptions = NO_LIMITS;
  /** Clients and leaf nodes connected. */
  clients = 0;
  leafnodes = 0;
  /** How often the log hears of somebody who subscribes to too much. */
  readonly subscriptionNotices: NoticePace = new NoticePace(NOTICE_INTERVAL_MS);

  /** Whether there are more clients than there may be. */
  get hasTooManyClients(): boolean {
    const { maxConnections } = this.options;
    return maxConnections >= 0 && this.clients + this.leafnodes > maxConnections;
  }

  get hasTooManyLeafnodes(): boolean {
    const { maxLeafnodes } = this.options;
    return maxLeafnodes >= 0 && this.leafnodes > maxLeafnodes;
  }

  /** How many subscriptions one connection may have, given the server's own limit (0: none); 0 is no limit. */
  maxSubscriptions(ofServer: number): number {
    const { maxSubscriptions } = this.options;
    if (maxSubscriptions < 0) return ofServer;
    return ofServer > 0 ? Math.min(ofServer, maxSubscriptions) : maxSubscriptions;
  }

  /** Bytes of a message, given the server's own limit. */
  maxPayloadBytes(ofServer: number): number {
    const { maxPayloadBytes } = this.options;
    return maxPayloadBytes < 0 ? ofServer : Math.min(ofServer, maxPayloadBytes);
  }
}
