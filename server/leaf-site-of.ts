/** What leaf links are told of the server they belong to. */

import type { LeafSite } from '../leafnode/leaf-site.ts';
import type { Account } from './account/account.ts';
import type { ServerOptions } from './config/options.ts';
import { NATS_VERSION } from './protocol/version.ts';

interface Site {
  readonly id: string;
  readonly name: string;
  readonly options: ServerOptions;
  readonly systemAccount: Account;
  readonly accounts: ReadonlyMap<string, Account>;
  nextConnectionId(): number;
}

export function leafSiteOf(server: Site): LeafSite {
  const { options } = server;
  return {
    serverId: server.id,
    serverName: server.name,
    version: NATS_VERSION,
    clusterName: server.name,
    domain: options.jetstream.domain,
    // These change by a reload.
    get hasJetStream() {
      return server.options.jetstream.isEnabled;
    },
    get connectErrorReports() {
      return server.options.connectErrorReports;
    },
    get reconnectErrorReports() {
      return server.options.reconnectErrorReports;
    },
    isSystemAccount: (account) => account === server.systemAccount,
    nextConnectionId: () => server.nextConnectionId(),
    account: (name) => server.accounts.get(name) ?? null,
  };
}
