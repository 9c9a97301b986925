/** How a server comes to accept leaf links: who is let in, and what leaves are told of it. */

import { LeafListener } from '../leafnode/leaf-listener.ts';
import type { LeafNodes } from '../leafnode/leaf-nodes.ts';
import type { Account } from './account/account.ts';
import { LeafAuthenticator, type LeafAuthority } from './auth/leaf-authenticator.ts';
import type { Logins } from './auth/logins.ts';
import type { LeafAuthorizationOptions } from './config/leaf-listener-options.ts';
import type { ServerOptions } from './config/options.ts';
import { defaultConnectOptions } from './protocol/connect-options.ts';
import type { ConnectionHost } from './connection/connection-host.ts';
import type { ServerInfo } from './protocol/server-info.ts';

interface Site extends ConnectionHost, LeafAuthority {
  readonly options: ServerOptions;
  readonly info: ServerInfo;
  readonly systemAccount: Account;
  readonly leafNodes: LeafNodes;
  readonly logins: Logins;
}

export function makeLeafListener(server: Site): LeafListener {
  const { leafNodes } = server;
  const authenticator = new LeafAuthenticator(server, server.logins);
  const options = (): ServerOptions['leafnodes']['listener'] => server.options.leafnodes.listener;
  return new LeafListener({
    host: server,
    settings: leafNodes.settings,
    systemAccount: server.systemAccount,
    // A server that links to others has a cluster, if only of its own name.
    clusterName: server.options.leafnodes.remotes.length > 0 ? server.name : '',
    serverInfo: () => server.info,
    options,
    authenticate: (connect, login, decided) =>
      authenticator.authenticate(options().authorization, connect, login, decided),
    accounts: () => server.accounts.values(),
    interestOf: (account) => leafNodes.interestOf(account),
    isKnown: (user, account) => {
      if (server.accounts.get(account.name) !== account) return false;
      if (user === '' || !usesClients(options().authorization)) return true;
      const connect = { ...defaultConnectOptions(), user };
      return server.hasUserOf(connect) || server.hasUserOf({ ...connect, nkey: user });
    },
  });
}

/** Leaves log in as clients do. */
function usesClients({ username, nkey, users }: LeafAuthorizationOptions): boolean {
  return username === '' && nkey === '' && users.length === 0;
}
