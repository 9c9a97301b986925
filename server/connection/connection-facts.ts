/**
 * What monitoring shows of one connection, as it stands at one moment: of an open one when somebody asks, of a closed
 * one when it began to close. A closed connection is remembered as these facts alone, so that socket, queue and parser
 * can go.
 */

import type { Clock, TlsPeer } from '../io/io.ts';
import type { ClosedReason } from '../protocol/errors.ts';
import type { ClientConnection } from './client-connection.ts';
import type { Connection } from './connection.ts';
import type { Traffic } from './statistics.ts';

export interface ConnectionFacts {
  readonly id: number;
  readonly kind: 'Client' | 'Leafnode';
  readonly host: string;
  readonly port: number;
  readonly startWallMs: number;
  /** 0 while it is open. */
  readonly stopWallMs: number;
  /** The same moments, and that of the last message or change of interest, on the clock that never jumps. */
  readonly startMs: number;
  readonly stopMs: number;
  readonly lastActivityMs: number;
  readonly closedReason: ClosedReason | null;
  /** 0 if it was never measured. */
  readonly rttMs: number;
  readonly pendingBytes: number;
  /** The connection's own: it grows while the connection lives. */
  readonly traffic: Traffic;
  readonly stalls: number;
  readonly subscriptions: number;
  readonly name: string;
  readonly lang: string;
  readonly version: string;
  /** null: not encrypted. */
  readonly tls: TlsPeer | null;
  readonly isTlsFirst: boolean;
  readonly isWebSocket: boolean;
  /** Who it says it is, and '' if it says nothing; a token is not shown. */
  readonly user: string;
  readonly account: string;
}

/** What every kind of connection has. */
export function baseFacts(connection: Connection, clock: Clock): Omit<ConnectionFacts, 'kind' | 'account'> {
  const { host, port } = connection.socket.remote;
  return {
    id: connection.id,
    host,
    port,
    startWallMs: connection.startWallMs,
    stopWallMs: connection.stopWallMs,
    startMs: connection.connectedMs,
    stopMs: connection.isClosed ? clock.monotonicMs() : 0,
    lastActivityMs: connection.lastActivityMs,
    closedReason: connection.closedReason,
    rttMs: connection.rttMs,
    pendingBytes: connection.pendingBytes,
    traffic: connection.trafficSoFar,
    stalls: 0,
    subscriptions: 0,
    name: '',
    lang: '',
    version: '',
    tls: connection.socket.tls ?? null,
    isTlsFirst: false,
    isWebSocket: Boolean(connection.socket.webSocket),
    user: '',
  };
}

/** `defaultAccount` is the one of clients that have not said who they are. */
export function clientFacts(client: ClientConnection, clock: Clock, defaultAccount: string): ConnectionFacts {
  const { name, lang, version } = client.options;
  return {
    ...baseFacts(client, clock),
    kind: 'Client',
    stalls: client.stalls,
    isTlsFirst: client.isTlsFirst,
    subscriptions: client.subscriptions.size,
    name,
    lang,
    version,
    user: shownUser(client),
    account: client.account?.name ?? defaultAccount,
  };
}

/** By which name `user=` finds a client: what it gave as its name, whether or not anybody checked it. */
export function shownUser({ options, user }: ClientConnection): string {
  if (options.nkey !== '') return options.nkey;
  if (options.user !== '') return options.user;
  if (user !== '') return user;
  return options.authToken === '' ? '' : '[REDACTED]';
}
