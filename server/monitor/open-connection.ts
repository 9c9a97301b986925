/**
 * The two kinds of connections that /connz lists, clients and leaf links, seen as one: their facts, their user, and what
 * they want to hear. A link's subscriptions are the interest of its other end.
 */

import { LeafConnection } from '../../leafnode/leaf-connection.ts';
import { ClientConnection } from '../connection/client-connection.ts';
import { baseFacts, clientFacts, type ConnectionFacts, shownUser } from '../connection/connection-facts.ts';
import type { Connection } from '../connection/connection.ts';
import type { Subscription } from '../subject/subscription.ts';
import type { MonitorSource } from './monitor-source.ts';

export type ListedConnection = ClientConnection | LeafConnection;

/** What is known of the connection now. */
export function factsOf(
  connection: ListedConnection,
  source: Pick<MonitorSource, 'io' | 'globalAccount'>,
): ConnectionFacts {
  const { clock } = source.io;
  if (connection instanceof ClientConnection) return clientFacts(connection, clock, source.globalAccount.name);
  return {
    ...baseFacts(connection, clock),
    kind: 'Leafnode',
    subscriptions: connection.peerInterestSize,
    account: connection.accountName,
    ...connection.introduction,
  };
}

export function userOf(connection: ListedConnection): string {
  return connection instanceof ClientConnection ? shownUser(connection) : (connection.introduction?.user ?? '');
}

export function subscriptionsOf(connection: ListedConnection): Iterable<Subscription> {
  return connection instanceof ClientConnection ? connection.subscriptions.all() : connection.peerSubscriptions();
}

/** Puts a connection that begins to close among the closed ones, while it still has its subscriptions. */
export function rememberClosed(
  source: Pick<MonitorSource, 'io' | 'globalAccount' | 'closedConnections'>,
  connection: Connection,
): void {
  const isListed = connection instanceof ClientConnection || connection instanceof LeafConnection;
  if (isListed) source.closedConnections.add(factsOf(connection, source), subscriptionsOf(connection));
}
