/**
 * How a server comes to accept those who speak WebSocket: what is different for clients that connect there, and who takes
 * over once they do. Such a client is a client like any other of a host that answers some questions differently: how long
 * things may take, who may log in, and what INFO says of the port.
 */

import type { LeafListener } from '../leafnode/leaf-listener.ts';
import type { Account } from './account/account.ts';
import type { Accounts } from './account/accounts.ts';
import { Authenticator } from './auth/authenticator.ts';
import type { Logins } from './auth/logins.ts';
import type { AuthorizationOptions, ServerOptions } from './config/options.ts';
import type { ClientConnection } from './connection/client-connection.ts';
import type { Connection } from './connection/connection.ts';
import type {
  ConnectionHost,
  ConnectionLimits,
  Decided,
  Greeted,
  Identity,
  Login,
} from './connection/connection-host.ts';
import { limitsOf } from './connection/connection-limits.ts';
import { withoutTls } from './connection/tls-info.ts';
import type { Address, Socket, SocketHandler } from './io/io.ts';
import type { ConnectOptions } from './protocol/connect-options.ts';
import type { ClosedReason } from './protocol/errors.ts';
import type { ServerInfo } from './protocol/server-info.ts';
import type { AcceptedWebSocket } from './websocket/accepted-web-socket.ts';
import { type MakeWebSocket, WebSocketListener, type WebSocketOpenFailure } from './websocket/websocket-listener.ts';

interface Site extends ConnectionHost {
  readonly options: ServerOptions;
  readonly configuredAccounts: Accounts;
  readonly logins: Logins;
  /** `null`: links are not accepted. */
  readonly leafListener: LeafListener | null;
  /** Makes the client of the socket, and calls `enter` for it unless it is to go at once. */
  accept(socket: Socket, enter: (client: ClientConnection) => void, host: ConnectionHost): ClientConnection;
}

export class WebSocketDoor implements ConnectionHost {
  readonly io: ConnectionHost['io'];
  readonly log: ConnectionHost['log'];
  readonly outbound: ConnectionHost['outbound'];
  readonly wheel: ConnectionHost['wheel'];
  readonly limits: ConnectionLimits;
  readonly name: string;
  readonly firstLines: ConnectionHost['firstLines'];
  readonly inbound: ConnectionHost['inbound'];
  readonly headersSupported: boolean;
  private readonly server: Site;
  private readonly listener: WebSocketListener;
  /** `null`: clients log in as at any other port. */
  private authenticator: Authenticator | null;

  constructor(server: Site) {
    this.server = server;
    this.io = server.io;
    this.log = server.log;
    this.outbound = server.outbound;
    this.wheel = server.wheel;
    this.name = server.name;
    this.firstLines = server.firstLines;
    this.inbound = server.inbound;
    this.headersSupported = server.headersSupported;
    this.limits = limitsAt(server.options);
    this.authenticator = this.makeAuthenticator();
    this.listener = new WebSocketListener({
      host: server,
      options: () => server.options.websocket,
      maxPayloadBytes: () => server.limits.maxPayloadBytes,
      acceptClient: (socket, make) => this.acceptClient(make(socket)),
      acceptLeaf: (socket, make) => this.acceptLeaf(socket, make),
    });
  }

  /** `null` until it listens. */
  /** Of the URLs by which it is reached. */
  get scheme(): 'ws' | 'wss' {
    return this.listener.scheme;
  }

  get address(): Address | null {
    return this.listener.address;
  }

  /** Listens; `done` hears whether that went well, or why not. */
  open(done: (failure: WebSocketOpenFailure | null) => void): void {
    this.listener.open(done);
  }

  /** Takes nobody any more; those who are there live on. */
  close(): void {
    this.listener.close();
  }

  /** What it returns takes these options on. Throws if that can't be done. */
  prepare(next: ServerOptions): () => void {
    const secure = this.listener.prepare(next.websocket);
    return () => {
      Object.assign(this.limits, limitsAt(next));
      secure();
    };
  }

  /** Users and accounts are others now. */
  reauthorize(): void {
    this.authenticator = this.makeAuthenticator();
  }

  private makeAuthenticator(): Authenticator | null {
    const { options, configuredAccounts, logins } = this.server;
    const authorization = authorizationAt(options);
    if (authorization === null) return null;
    return new Authenticator({ ...options, authorization }, configuredAccounts, logins);
  }

  private acceptClient(socket: AcceptedWebSocket): SocketHandler {
    const client = this.server.accept(socket, (entering) => entering.connected(), this);
    socket.belongTo(client, this.log);
    socket.attach(client);
    return socket;
  }

  private acceptLeaf(socket: Socket, make: MakeWebSocket): SocketHandler | null {
    const accepted = this.server.leafListener?.acceptWebSocket(socket, make);
    accepted?.webSocket.belongTo(accepted.link, this.log);
    return accepted?.handler ?? null;
  }

  // ── what clients ask that connect here ───────────────────────────────────────────────────────────────────────────

  get authRequired(): boolean {
    return this.authenticator?.isRequired ?? this.server.authRequired;
  }

  clientInfo(client: Greeted, connectInfo: Account | null): ServerInfo {
    const info = this.infoAtPort(this.server.clientInfo(client, connectInfo));
    // Here it is also told to clients that become some user without credentials.
    return connectInfo === null && this.authRequired ? { ...info, auth_required: true } : info;
  }

  infoAtPort(info: ServerInfo): ServerInfo {
    const { host, port, tls } = this.server.options.websocket;
    const address = this.address ?? { host, port: port ?? 0 };
    return { ...withoutTls(info), ...address, ...(tls === null ? {} : { tls_required: true, tls_available: true }) };
  }

  makeNonce(): string {
    return this.server.makeNonce();
  }

  authenticate(options: ConnectOptions, login: Login, decided: Decided): Identity | null | 'later' {
    const { nonce, connectionType, certificate = null } = login;
    const mapsCertificate = this.server.options.websocket.tls?.mapsUsers ?? false;
    const authority = this.authenticator ?? this.server;
    return authority.authenticate(options, { nonce, connectionType, certificate, mapsCertificate }, decided);
  }

  hasUserOf(options: ConnectOptions): boolean {
    return (this.authenticator ?? this.server).hasUserOf(options);
  }

  identityWithoutConnect(login: Pick<Login, 'connectionType'>): Identity | null {
    const { authenticator, server } = this;
    return authenticator === null ? server.identityWithoutConnect(login) : authenticator.withoutCredentials(login);
  }

  connectionIdentified(connection: Connection, account: Account): void {
    this.server.connectionIdentified(connection, account);
  }

  connectionRefused(connection: Connection, hasSaid: boolean): void {
    this.server.connectionRefused(connection, hasSaid);
  }

  linkOpened(link: Connection, account: Account): void {
    this.server.linkOpened(link, account);
  }

  clientsChanged(account: Account): void {
    this.server.clientsChanged(account);
  }

  slowConsumer(connection: Connection, detail: string): void {
    this.server.slowConsumer(connection, detail);
  }

  connectionClosing(connection: Connection, reason: ClosedReason): void {
    this.server.connectionClosing(connection, reason);
  }

  connectionGone(connection: Connection): void {
    this.server.connectionGone(connection);
  }
}

export function makeWebSocketDoor(server: Site): WebSocketDoor {
  return new WebSocketDoor(server);
}

function limitsAt(options: ServerOptions): ConnectionLimits {
  const limits = limitsOf(options);
  const { pingIntervalMs, authorization } = options.websocket;
  return {
    ...limits,
    pingIntervalMs: pingIntervalMs || limits.pingIntervalMs,
    authTimeoutMs: authorization.timeoutMs || limits.authTimeoutMs,
  };
}

/** Who may connect here, if the block says anything of it. */
function authorizationAt({ authorization, websocket }: ServerOptions): AuthorizationOptions | null {
  const { noAuthUser } = websocket;
  const { username, password, token } = websocket.authorization;
  if (username === '' && token === '' && noAuthUser === '') return null;
  return { ...authorization, username, password, token, noAuthUser };
}
