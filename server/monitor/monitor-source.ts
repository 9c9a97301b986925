/**
 * What monitoring sees of the server. It only looks: nothing here changes anything, and a list that takes long to write
 * out is written while the server goes on.
 */

import type { JetStream } from '../../jetstream/api/jetstream.ts';
import type { LeafNodes } from '../../leafnode/leaf-nodes.ts';
import type { Account } from '../account/account.ts';
import type { ServerOptions } from '../config/options.ts';
import type { ClientConnection } from '../connection/client-connection.ts';
import type { ClosedConnections } from '../connection/closed-connections.ts';
import type { Traffic } from '../connection/statistics.ts';
import type { Address, Io } from '../io/io.ts';
import type { Log } from '../io/log.ts';
import type { ServerInfo } from '../protocol/server-info.ts';

export interface MonitorSource {
  readonly io: Io;
  readonly log: Log;
  readonly options: ServerOptions;
  readonly id: string;
  readonly name: string;
  readonly startWallMs: number;
  /** When the configuration was last loaded. */
  readonly configuredWallMs: number;
  /** Monotonic milliseconds. */
  readonly startMonotonicMs: number;
  readonly info: Readonly<ServerInfo>;
  readonly authRequired: boolean;
  /** `null` until clients can connect. */
  readonly clientAddress: Address | null;
  readonly isLameDuck: boolean;

  readonly accounts: ReadonlyMap<string, Account>;
  readonly globalAccount: Account;
  readonly systemAccount: Account;
  readonly clients: ReadonlyMap<number, ClientConnection>;
  readonly leafNodes: Pick<LeafNodes, 'listener' | 'links' | 'linkSnapshots' | 'remoteSnapshots'>;
  /** `null`: nobody is accepted who speaks WebSocket. */
  readonly webSocketDoor: { readonly address: Address | null } | null;
  readonly listener: { readonly handshakesGivenUp: number };
  readonly closedConnections: ClosedConnections;
  readonly clientsAccepted: number;
  /** Of connections that are gone. */
  readonly goneTraffic: Traffic;
  /** The part of it that clients had, and how often they were stalled. */
  readonly goneClientTraffic: Traffic;
  readonly goneStalls: number;
  readonly slowConsumersPending: number;
  readonly slowConsumersDeadline: number;
  readonly staleConnections: number;
  /** How many of those were links. */
  readonly slowLeafs: number;
  readonly staleLeafs: number;

  /** `null`: off. */
  readonly jetstream: JetStream | null;
  /** `null` where JetStream is off, or has not come so far. */
  readonly jetStreamView: JetStreamView | null;
}

/** What JetStream tells of itself. */
export interface JetStreamView {
  varz(): JetStreamPart;
  /** How far the reading of stored assets is, for people. Asked only until it is done. */
  startProgress(): string;
  health(request: AssetHealthRequest): AssetHealth;
}

/** The members of `jetstream` in /varz; a bigint is written as the integer it is. */
export interface JetStreamPart {
  readonly config: object;
  readonly stats: object;
  readonly limits: object;
}

/** Which assets a health check is about; '' for all of them. */
export interface AssetHealthRequest {
  readonly account: string;
  readonly stream: string;
  readonly consumer: string;
  /** Only the meta layer, no assets. */
  readonly isMetaOnly: boolean;
}

export interface AssetHealth {
  /** 404 when the asset that was asked for is not there. */
  readonly status: 200 | 404 | 503;
  /** Empty if and only if all is well. */
  readonly problems: readonly HealthProblem[];
}

/** One thing that is wrong, as /healthz?details=1 shows it, in the order of its members. */
export interface HealthProblem {
  readonly type: 'CONNECTION' | 'BAD_REQUEST' | 'JETSTREAM' | 'ACCOUNT' | 'STREAM' | 'CONSUMER';
  readonly account?: string;
  readonly stream?: string;
  readonly consumer?: string;
  readonly error: string;
}
