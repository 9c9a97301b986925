/**
 * Where clients connect: a port, with TLS or without, and a socket of the file system if there is to be one. Both are
 * open, or one has failed, once `open` has said which; what goes wrong with single connections after that is logged, and
 * stops nothing.
 *
 *     port ──┬─ without TLS ──► client.connected()
 *            └─ with TLS ─────► TlsEntrances ─► client.entered()              a reload changes which of them
 *     path ────────────────────► client.connected(), never encrypted: who may open the file is the host's matter
 */

import type { ServerOptions } from '../config/options.ts';
import type { TlsOptions } from '../config/transport-options.ts';
import type { IoError, Listener, Socket, SocketHandler, UndecidedSocket } from '../io/io.ts';
import { listenOutcome } from './listen-outcome.ts';
import type { ClientConnection } from './client-connection.ts';
import { hostPort, listenFailure } from './listen-failure.ts';
import { isPinned } from './pinned-keys.ts';
import { type EntranceHost, TlsEntrances } from './tls-entrance.ts';

/** Why clients can't connect. */
export interface OpenFailure {
  readonly text: string;
  readonly cause: Error;
}

type Enter = (client: ClientConnection) => void;
type OpenDone = (port: number, failure: OpenFailure | null) => void;

export class ClientListener {
  private readonly host: EntranceHost;
  private readonly accept: (socket: Socket, enter: Enter) => SocketHandler;
  private readonly listeners: Listener[] = [];
  /** `null`: nothing is encrypted. */
  private entrances: TlsEntrances | null = null;

  /** `accept` makes the owner of each connection, and calls `enter` for it unless it is to go at once. */
  constructor(host: EntranceHost, accept: (socket: Socket, enter: Enter) => SocketHandler) {
    this.host = host;
    this.accept = accept;
  }

  /** Handshakes of clients that made room for others before their time was over. */
  get handshakesGivenUp(): number {
    return this.entrances?.queue.givenUp ?? 0;
  }

  /** Listens; `done` gets the port, or why there is none. */
  open(options: ServerOptions, done: OpenDone): void {
    this.openPort(options, (port, failure) => {
      if (failure !== null || options.unixPath === '') done(port, failure);
      else this.openPath(options, (problem) => done(port, problem));
    });
  }

  /** Takes no new connections; those that are there live on. */
  close(): void {
    for (const listener of this.listeners) listener.close(() => undefined);
    this.listeners.length = 0;
  }

  /**
   * What it returns encrypts connections, or does not, or shows other certificates, or has other rules, from the next
   * connection on. Throws if the certificates are bad.
   */
  prepare({ tls, allowsNonTls }: ServerOptions): () => void {
    const { network } = this.host.io;
    const plan =
      tls === null || network.tls === undefined
        ? null
        : { options: tls, context: network.tls.context(tls), allowsNonTls };
    return () => {
      if (plan === null) this.entrances = null;
      else if (this.entrances === null) this.entrances = new TlsEntrances(this.host, plan);
      else this.entrances.plan = plan;
    };
  }

  /** Closes those whose certificates are none of the pinned ones, now that there are others. */
  closeUnpinned(clients: Iterable<ClientConnection>): void {
    const { entrances } = this;
    if (entrances === null) return;
    const { pinnedKeys } = entrances.plan.options;
    const unpinned = [...clients].filter(({ socket: { tls } }) => !(tls && isPinned(tls, pinnedKeys)));
    if (unpinned.length === 0) return;
    this.host.log.notice(`Disconnect ${unpinned.length} clients due to pinned certs reload`);
    for (const client of unpinned) client.abort('TLS Handshake Failure');
  }

  private openPort(options: ServerOptions, done: OpenDone): void {
    const { io, log } = this.host;
    const { host, port, tls } = options;
    const finish = (bound: number, error: IoError | null): void => {
      if (error === null) {
        log.notice(`Listening for client connections on ${hostPort({ host, port: bound })}`);
        if (tls !== null) this.tellOfTls(tls, options.allowsNonTls);
        done(bound, null);
        return;
      }
      const reason = JSON.stringify(listenFailure({ host, port }, error));
      done(port, { text: `Error listening on port: ${hostPort({ host, port })}, ${reason}`, cause: error });
    };
    const accepted = (socket: Socket): SocketHandler => this.accept(socket, (client) => client.connected());
    const outcome = listenOutcome(this.host, finish);
    const { network } = io;
    if (network.tls !== undefined) {
      this.prepare(options)();
      const inClear = { isOn: () => this.entrances === null, accepted };
      const undecided = { ...outcome, inClear, accepted: (socket: UndecidedSocket) => this.acceptUndecided(socket) };
      this.listeners.push(network.tls.listen({ host, port }, undecided));
    } else if (tls === null) this.listeners.push(network.listen({ host, port }, { ...outcome, accepted }));
    else finish(port, new Error('this network has no TLS'));
  }

  private acceptUndecided(socket: UndecidedSocket): SocketHandler {
    return this.accept(socket, (client) => {
      client.arrived();
      this.entrances?.enter(client, socket);
    });
  }

  private openPath({ unixPath, unixMode }: ServerOptions, done: (failure: OpenFailure | null) => void): void {
    const { io, log } = this.host;
    const finish = (_port: number, error: IoError | null): void => {
      if (error === null) log.notice(`Listening for client connections on unix:${unixPath}`);
      done(error === null ? null : { text: `Error listening on unix:${unixPath}: ${error.message}`, cause: error });
    };
    const accepted = (socket: Socket): SocketHandler => this.accept(socket, (client) => client.connected());
    const listener = io.network.listenOnPath?.(unixPath, unixMode, { ...listenOutcome(this.host, finish), accepted });
    if (listener === undefined) finish(0, new Error('this network has no sockets of the file system'));
    else this.listeners.push(listener);
  }

  private tellOfTls({ isHandshakeFirst, fallbackDelayMs }: TlsOptions, allowsNonTls: boolean): void {
    const { log } = this.host;
    const isFirstOnly = isHandshakeFirst && fallbackDelayMs === 0;
    log.notice(`TLS ${allowsNonTls && !isFirstOnly ? 'available' : 'required'} for client connections`);
    if (isFirstOnly) log.warn('Clients that are not using "TLS Handshake First" option will fail to connect');
  }
}
