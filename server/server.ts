/**
 * One server: its accounts, listeners and connections, from start to shutdown. Several live in one process; everything
 * hangs on this object.
 *
 *     new ─start─► starting ─listening─► ready ─lame duck─► draining ─► closed
 *                     └──────────────────────────── close ───────────────┘
 */

import { announcement } from './announcement.ts';
import type { Account } from './account/account.ts';
import { Accounts } from './account/accounts.ts';
import { Authenticator } from './auth/authenticator.ts';
import { Logins } from './auth/logins.ts';
import { nodeHash, serverId } from './auth/server-identity.ts';
import type { ServerOptions } from './config/options.ts';
import { ClientConnection } from './connection/client-connection.ts';
import { ClientListener } from './connection/client-listener.ts';
import { ClosedConnections } from './connection/closed-connections.ts';
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
import { DeadlineWheel } from './connection/deadline-wheel.ts';
import { FirstLines } from './connection/first-lines.ts';
import { Outbound } from './connection/outbound.ts';
import { withoutTls } from './connection/tls-info.ts';
import { TracedClient } from './connection/traced-client.ts';
import { Traffic } from './connection/statistics.ts';
import type { Address, Io, Socket } from './io/io.ts';
import type { LeafListener } from '../leafnode/leaf-listener.ts';
import { LeafNodes } from '../leafnode/leaf-nodes.ts';
import type { JetStream } from '../jetstream/api/jetstream.ts';
import type { Log } from './io/log.ts';
import { JetStreamSlot } from './jetstream-slot.ts';
import { rememberClosed } from './monitor/open-connection.ts';
import type { Monitor } from './monitor/monitor.ts';
import type { JetStreamView, MonitorSource } from './monitor/monitor-source.ts';
import type { ConnectOptions } from './protocol/connect-options.ts';
import { type ClosedReason, PeerErrors } from './protocol/errors.ts';
import { Message } from './protocol/message.ts';
import type { ServerInfo } from './protocol/server-info.ts';
import { type ProcessFiles, reload } from './reload.ts';
import { NO_ROOMS, type Rooms } from './rooms.ts';
import { StartError } from './start-error.ts';
import { drainClients } from './lame-duck.ts';
import { leafSiteOf } from './leaf-site-of.ts';
import { logStart } from './start-lines.ts';
import { SystemServices } from './system/system-services.ts';
import type { WebSocketDoor } from './websocket-door.ts';

const UNSENT_BYTES_MAX = 256 * 1024 * 1024;
const NONCE_BYTES = 11;

export class Server implements ConnectionHost, MonitorSource {
  readonly io: Io;
  readonly log: Log;
  options: ServerOptions;
  readonly id: string;
  readonly name: string;
  readonly outbound: Outbound;
  readonly wheel: DeadlineWheel;
  readonly limits: ConnectionLimits;
  readonly firstLines: FirstLines = new FirstLines();
  readonly inbound: Message = new Message();
  readonly headersSupported: boolean;
  readonly globalAccount: Account;
  readonly systemAccount: Account;
  readonly accounts: ReadonlyMap<string, Account>;
  readonly clients: Map<number, ClientConnection> = new Map();
  readonly closedConnections: ClosedConnections;
  /** Traffic of connections that are gone. */
  readonly goneTraffic: Traffic = new Traffic();
  /** The part of it that clients had, and how often they were stalled. */
  readonly goneClientTraffic: Traffic = new Traffic();
  goneStalls = 0;
  readonly startWallMs: number;
  configuredWallMs: number;
  readonly startMonotonicMs: number;
  clientAddress: Address | null = null;
  clientsAccepted = 0;
  slowConsumersPending = 0;
  slowConsumersDeadline = 0;
  staleConnections = 0;
  /** How many of those were links. */
  slowLeafs = 0;
  staleLeafs = 0;

  readonly leafNodes: LeafNodes;
  /** `null`: links are not accepted. */
  readonly leafListener: LeafListener | null;
  /** `null`: nobody is accepted who speaks WebSocket. */
  readonly webSocketDoor: WebSocketDoor | null;
  private readonly system: SystemServices;
  /** `null`: not enabled. */
  jetstream: JetStream | null = null;
  /** `null`: not configured. */
  readonly monitor: Monitor | null;
  /** What monitoring shows of JetStream; `null` where there is nothing to show. */
  jetStreamView: JetStreamView | null = null;
  readonly jetStreamSlot: JetStreamSlot;
  readonly configuredAccounts: Accounts;
  private authenticator: Authenticator;
  readonly logins: Logins;
  info: ServerInfo;
  /** Set where the server is all that its process is for. */
  process: ProcessFiles | null = null;
  /** Loads the configuration again; why that failed, or null. Set where there is a file to load. */
  reloadConfiguration: (() => string | null) | null = null;
  private nextClientId = 1;
  readonly listener: ClientListener;
  private isDraining = false;
  isClosing = false;

  /** `rooms`: what `loadRooms` gives for these options. */
  constructor(io: Io, log: Log, options: ServerOptions, rooms: Rooms = NO_ROOMS) {
    this.io = io;
    this.log = log;
    this.options = options;
    this.id = serverId(io.random.bytes(32));
    this.name = options.serverName === '' ? this.id : options.serverName;
    this.startWallMs = io.clock.wallMs();
    this.configuredWallMs = this.startWallMs;
    this.startMonotonicMs = io.clock.monotonicMs();
    this.headersSupported = options.supportsHeaders;
    this.outbound = new Outbound(io, Math.min(UNSENT_BYTES_MAX, io.host.memoryLimitBytes() / 4));
    this.outbound.onBudgetExceeded = () => this.closeSlowest();
    this.wheel = new DeadlineWheel(io);
    this.listener = new ClientListener(this, (socket, enter) => this.accept(socket, enter));
    this.limits = limitsOf(options);
    this.closedConnections = new ClosedConnections(options.maxClosedClients);
    const accounts = new Accounts(io, options);
    this.configuredAccounts = accounts;
    this.globalAccount = accounts.global;
    this.systemAccount = accounts.system;
    this.accounts = accounts.byName;
    this.logins = new Logins(io, this.log);
    this.authenticator = new Authenticator(options, accounts, this.logins);
    this.info = announcement(this, options);
    this.leafNodes = new LeafNodes(this, leafSiteOf(this), options.leafnodes);
    this.leafListener = rooms.leafDoor?.makeLeafListener(this) ?? null;
    this.leafNodes.listener = this.leafListener;
    this.webSocketDoor = rooms.webSocketDoor?.makeWebSocketDoor(this) ?? null;
    this.jetStreamSlot = new JetStreamSlot(this, rooms.jetstream);
    this.monitor = rooms.monitor === null ? null : new rooms.monitor.Monitor(this);
    this.system = new SystemServices(this);
  }

  get authRequired(): boolean {
    return this.authenticator.isRequired;
  }

  get nodeHash(): string {
    return nodeHash(this.name);
  }

  // ── life cycle ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** Opens the listeners; `done` hears when clients can connect, or why not. */
  start(done: (error: StartError | null) => void): void {
    logStart(this);
    this.system.open();
    const finish = (error: StartError | null): void => {
      if (error === null) {
        this.log.notice('Server is ready');
        this.leafNodes.start();
      } else this.monitor?.close();
      done(error);
    };
    this.startMonitor((error) => {
      if (error === null) this.jetStreamSlot.start(() => this.listen(finish));
      else finish(error);
    });
  }

  /** The first to listen, so that a start can be watched. */
  private startMonitor(done: (error: StartError | null) => void): void {
    if (this.monitor === null) done(null);
    else {
      this.monitor.start((problem) => {
        done(problem === null ? null : new StartError(`Can't start monitoring: ${problem.text}`, problem.cause));
      });
    }
  }

  /** Stops listening and ends every connection after what is queued has gone out; `done` when all is closed. */
  close(done: () => void): void {
    if (this.isClosing) return;
    this.isClosing = true;
    this.log.notice('Initiating Shutdown...');
    this.listener.close();
    this.webSocketDoor?.close();
    this.monitor?.close();
    this.system.close();
    this.leafNodes.close();
    this.jetstream?.stopConsumers();
    for (const client of this.clients.values()) client.close('Server Shutdown');
    const finish = (): void => {
      this.log.notice('Server Exiting..');
      done();
    };
    this.whenClientsGone(() => {
      this.wheel.close();
      this.jetStreamSlot.close(finish);
    });
  }

  /** Lame duck: no new clients, the present ones are told and then closed bit by bit; `done` at the end of it. */
  drain(done: () => void): void {
    if (this.isDraining || this.isClosing) return;
    this.isDraining = true;
    this.log.notice('Entering lame duck mode, stop accepting new clients');
    this.system.lameDuck();
    this.listener.close();
    this.webSocketDoor?.close();
    this.leafNodes.close();
    drainClients(this, () => this.close(done));
  }

  nextConnectionId(): number {
    return this.nextClientId++;
  }

  get isLameDuck(): boolean {
    return this.isDraining;
  }

  private whenClientsGone(done: () => void): void {
    if (this.clients.size === 0) done();
    else this.io.timers.after(1, () => this.whenClientsGone(done));
  }

  private listen(done: (error: StartError | null) => void): void {
    const ports = [this.webSocketDoor, this.leafListener];
    const openNext = (): void => {
      const port = ports.shift();
      if (port === undefined) this.listenForClients(done);
      else if (port === null) openNext();
      else {
        port.open((failure) => {
          if (failure === null) openNext();
          else done(new StartError(failure.text, failure.cause));
        });
      }
    };
    openNext();
  }

  private listenForClients(done: (error: StartError | null) => void): void {
    const { options } = this;
    this.listener.open(options, (port, failure) => {
      if (failure !== null) {
        done(new StartError(failure.text, failure.cause));
        return;
      }
      this.clientAddress = { host: options.host, port };
      if (options.clientAdvertise === '' || this.info.port === 0) this.info.port = port;
      done(null);
    });
  }

  /** Takes another configuration on as a whole; or says why not, and stays as it is. */
  reload(options: ServerOptions): string | null {
    const refusal = reload(this, options);
    if (refusal === null) this.configuredWallMs = this.io.clock.wallMs();
    return refusal;
  }

  jetStreamChanged(): void {
    this.system.jetStreamChanged();
  }

  reauthorize(): void {
    for (const added of this.configuredAccounts.reconfigure(this.options)) this.system.serve(added);
    this.jetstream?.switch.follow(this.accounts.values());
    this.authenticator = new Authenticator(this.options, this.configuredAccounts, this.logins);
    this.webSocketDoor?.reauthorize();
    delete this.info.auth_required;
    if (this.authRequired) this.info.auth_required = true;
    for (const client of this.clients.values()) client.reconsider();
    this.leafListener?.reconsider();
    this.leafNodes.accountsChanged();
  }

  // ── connections ──────────────────────────────────────────────────────────────────────────────────────────────────

  /** `host` answers what the client asks, which is not the same at every port. */
  accept(socket: Socket, enter: (client: ClientConnection) => void, host: ConnectionHost = this): ClientConnection {
    const Kind = this.log.traceEnabled ? TracedClient : ClientConnection;
    const connection = new Kind(host, socket, this.nextConnectionId());
    this.clientsAccepted++;
    const { maxConnections } = this.options;
    const isFull = maxConnections < 0 || (maxConnections > 0 && this.clients.size >= maxConnections);
    this.clients.set(connection.id, connection);
    if (isFull) {
      connection.connected();
      connection.complain(PeerErrors.maximumConnections);
    } else enter(connection);
    return connection;
  }

  clientInfo({ id, nonce, socket }: Greeted, connectInfo: Account | null): ServerInfo {
    const { host: clientIp } = socket.remote;
    const base = clientIp === '' ? withoutTls(this.info) : this.info;
    const info: ServerInfo = { ...base, client_id: id, client_ip: clientIp };
    if (connectInfo === null) {
      if (!this.authenticator.isAnnounced) delete info.auth_required;
      if (nonce !== '') info.nonce = nonce;
      // Who has shaken hands already is told that it had to, also where others need not.
      if (socket.tls) info.tls_required = true;
    } else {
      info.connect_info = true;
      info.remote_account = connectInfo.name;
      info.max_payload = connectInfo.limits.maxPayloadBytes(info.max_payload);
      if (connectInfo === this.systemAccount) info.acc_is_sys = true;
    }
    return info;
  }

  infoAtPort(info: ServerInfo): ServerInfo {
    return info;
  }

  makeNonce(): string {
    return this.authenticator.asksForSignatures ? this.io.random.bytes(NONCE_BYTES).toString('base64url') : '';
  }

  authenticate(options: ConnectOptions, login: Login, decided: Decided): Identity | null | 'later' {
    return this.authenticator.authenticate(options, login, decided);
  }

  hasUserOf(options: ConnectOptions): boolean {
    return this.authenticator.hasUserOf(options);
  }

  identityWithoutConnect(login: Pick<Login, 'connectionType'>): Identity | null {
    return this.authenticator.withoutCredentials(login);
  }

  connectionIdentified(connection: Connection, account: Account): void {
    this.system.events.connected(connection, account);
  }

  connectionRefused(connection: Connection, hasSaid: boolean): void {
    this.system.events.refused(connection, hasSaid ? this.globalAccount : null);
  }

  linkOpened(link: Connection, account: Account): void {
    this.system.linkOpened(link, account);
  }

  clientsChanged(account: Account): void {
    this.system.events.connectionsChanged(account);
  }

  slowConsumer(connection: Connection, detail: string): void {
    if (detail.startsWith('WriteDeadline')) this.slowConsumersDeadline++;
    else this.slowConsumersPending++;
    if (connection.sinkKind === 'leaf') this.slowLeafs++;
    this.log.notice(`${connection.label} - Slow Consumer Detected: ${detail}`);
  }

  connectionClosing(connection: Connection, reason: ClosedReason): void {
    if (reason === 'Stale Connection') {
      this.staleConnections++;
      if (connection.sinkKind === 'leaf') this.staleLeafs++;
    }
    rememberClosed(this, connection);
    this.system.connectionClosing(connection, reason);
    // Links have lines of their own.
    if (connection.sinkKind !== 'client') return;
    this.log.debug(`${connection.label} - Client connection closed: ${reason}`);
  }

  connectionGone(connection: Connection): void {
    this.goneTraffic.add(connection.trafficSoFar);
    const client = this.clients.get(connection.id);
    if (client !== connection) return;
    this.clients.delete(connection.id);
    this.goneClientTraffic.add(connection.trafficSoFar);
    this.goneStalls += client.stalls;
  }

  /** All unsent bytes together are too many: the connection with most of them that does not drain goes first. */
  private closeSlowest(): void {
    let slowest: Connection | null = null;
    for (const connection of [...this.clients.values(), ...this.leafNodes.links()]) {
      if (connection.isClosed || connection.pendingBytes === 0 || connection.queue.drains) continue;
      if (slowest === null || connection.pendingBytes > slowest.pendingBytes) slowest = connection;
    }
    slowest?.pendingExceeded();
  }
}
