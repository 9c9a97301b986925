/** What connections need of the server they belong to. */

import type { Account } from '../account/account.ts';
import type { Address, Io, TlsPeer } from '../io/io.ts';
import type { Log } from '../io/log.ts';
import type { ParserLimits } from '../protocol/client-parser.ts';
import type { ConnectOptions } from '../protocol/connect-options.ts';
import type { ClosedReason } from '../protocol/errors.ts';
import type { Message } from '../protocol/message.ts';
import type { ServerInfo } from '../protocol/server-info.ts';
import type { Permissions } from '../account/permissions.ts';
import type { Connection } from './connection.ts';
import type { DeadlineWheel } from './deadline-wheel.ts';
import type { FirstLines } from './first-lines.ts';
import type { Outbound } from './outbound.ts';

/** Limits of connections; changed in place when the configuration is reloaded. */
export interface ConnectionLimits extends ParserLimits {
  maxPendingBytes: number;
  /** 0: no limit. */
  maxSubscriptions: number;
  /** 0: no limit. */
  maxSubscriptionTokens: number;
  writeDeadlineMs: number;
  pingIntervalMs: number;
  pingsOutMax: number;
  authTimeoutMs: number;
  stallFastProducers: boolean;
  /** Bytes of a payload that a trace shows; 0: all. */
  tracedBytesMax: number;
  tracesHeadersOnly: boolean;
}

/** Who a connection turned out to be. */
export interface Identity {
  /** Empty when nobody had to say who they are. */
  readonly user: string;
  readonly account: Account;
  /** `null`: everything is allowed. */
  readonly permissions: Permissions | null;
}

/** What is asked about a login besides what CONNECT says. */
export interface Login {
  readonly nonce: string;
  /** `STANDARD`, as nats-server calls a plain connection of a client. */
  readonly connectionType: string;
  /** DER of the certificate that the client showed and that was verified. */
  readonly certificate?: Uint8Array | null;
  /** Users are who their certificates say at this port; absent: as at that of clients. */
  readonly mapsCertificate?: boolean;
}

export type Decided = (identity: Identity | null) => void;

/** Whoever gets an INFO. */
export interface Greeted {
  readonly id: number;
  readonly nonce: string;
  readonly socket: { readonly remote: Address; readonly tls?: TlsPeer | null };
}

export interface ConnectionHost {
  readonly io: Io;
  readonly log: Log;
  readonly outbound: Outbound;
  readonly wheel: DeadlineWheel;
  readonly limits: ConnectionLimits;
  /** The server's own name and when it started, for services that are told who asks. */
  readonly name: string;
  readonly firstLines: FirstLines;
  /** The message that client parsers fill, one at a time. */
  readonly inbound: Message;
  readonly headersSupported: boolean;
  /** Whether a CONNECT with credentials has to come first. */
  readonly authRequired: boolean;

  /** INFO for one client; `connectInfo` is for the second one, after its first PING. */
  clientInfo(client: Greeted, connectInfo: Account | null): ServerInfo;
  /** An INFO for everybody, with what is different for those who connect here. */
  infoAtPort(info: ServerInfo): ServerInfo;
  /** What a client has to sign that logs in with a key; '' where nobody does. */
  makeNonce(): string;
  /** Checks credentials; `null` refuses. `later`: the answer takes a while, and comes to `decided`. */
  authenticate(options: ConnectOptions, login: Login, decided: Decided): Identity | null | 'later';
  /** Whether one of several users has the name that the client gave; true for those who gave none. */
  hasUserOf(options: ConnectOptions): boolean;
  /** The identity of a client whose first operation is not CONNECT; `null` refuses. */
  identityWithoutConnect(login: Pick<Login, 'connectionType'>): Identity | null;
  /** It is settled who is at the other end, which happens again with a second CONNECT. */
  connectionIdentified(connection: Connection, account: Account): void;
  /** It may not be who it says, or has not said so (`hasSaid`) where it has to; what follows is its end. */
  connectionRefused(connection: Connection, hasSaid: boolean): void;
  /** A link to another server is of this account from now on. */
  linkOpened(link: Connection, account: Account): void;
  /** A client has come into the account, or left it. */
  clientsChanged(account: Account): void;
  slowConsumer(connection: Connection, detail: string): void;
  connectionClosing(connection: Connection, reason: ClosedReason): void;
  connectionGone(connection: Connection): void;
}
