/** What leaf links need of the server they belong to, beyond what every connection needs (`ConnectionHost`). */

import type { Account } from '../server/account/account.ts';

export interface LeafSite {
  readonly serverId: string;
  readonly serverName: string;
  /** The version of nats-server that this one stands for. */
  readonly version: string;
  /** The name of this server's cluster; outside of one, the server's own name. */
  readonly clusterName: string;
  readonly hasJetStream: boolean;
  /** The JetStream domain, or empty. */
  readonly domain: string;
  /** How many failed attempts lie between two log lines, before and after the first connection. */
  readonly connectErrorReports: number;
  readonly reconnectErrorReports: number;
  /** The next number of the series that clients and links share. */
  nextConnectionId(): number;
  isSystemAccount(account: Account): boolean;
  account(name: string): Account | null;
}
