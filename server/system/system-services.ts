/**
 * What this server does in `$SYS`: it answers those who ask about it, in the system account, and its own clients who ask
 * about themselves, each in its own account; and it tells what happens.
 */

import type { Account } from '../account/account.ts';
import { ClientConnection } from '../connection/client-connection.ts';
import type { Connection } from '../connection/connection.ts';
import { LeafConnection } from '../../leafnode/leaf-connection.ts';
import { SolicitedLink } from '../../leafnode/solicited-link.ts';
import type { SystemHost } from './system-host.ts';
import type { ClosedReason } from '../protocol/errors.ts';
import { KnownServers } from './known-servers.ts';
import { ServerDescription } from './server-description.ts';
import { SystemEvents } from './system-events.ts';
import { SystemImports } from './system-imports.ts';
import { SystemRequests } from './system-requests.ts';
import { answerUserInfo } from './user-info.ts';

export class SystemServices {
  readonly events: SystemEvents;
  private readonly host: SystemHost;
  private readonly description: ServerDescription;
  private readonly requests: SystemRequests;
  private readonly known: KnownServers;
  private readonly imports: SystemImports;

  constructor(host: SystemHost) {
    this.host = host;
    this.description = new ServerDescription(host);
    this.known = new KnownServers(host);
    this.requests = new SystemRequests(host, this.description, this.known);
    this.imports = new SystemImports(host.io, host.systemAccount);
    this.events = new SystemEvents(host, this.description, this.requests, this.known);
  }

  /** Serves all accounts there are from now on. */
  open(): void {
    for (const account of this.host.accounts.values()) this.serve(account);
    this.requests.open();
    this.events.open();
    this.known.open(this.host);
  }

  /** Serves an account that is new. */
  serve(account: Account): void {
    answerUserInfo(this.description, account);
    this.imports.addTo(account);
  }

  /** Those who never said who they are were of the account that is everybody's. */
  connectionClosing(connection: Connection, reason: ClosedReason): void {
    if (connection instanceof ClientConnection) {
      this.events.disconnected(connection, connection.account ?? this.host.globalAccount, reason);
    } else if (connection instanceof LeafConnection && connection.accountName !== '') {
      this.events.connectionsChanged(connection.account);
      this.events.disconnected(connection, connection.account, reason);
    }
  }

  linkOpened(link: Connection, account: Account): void {
    this.events.connectionsChanged(account);
    if (link instanceof SolicitedLink) this.events.connected(link, account);
  }

  /** JetStream has come or gone. */
  jetStreamChanged(): void {
    this.requests.followJetStream();
  }

  lameDuck(): void {
    this.events.lameDuck();
  }

  close(): void {
    this.events.close();
  }
}
