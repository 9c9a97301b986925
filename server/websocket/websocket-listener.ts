/**
 * Where those connect who speak WebSocket, clients and leaves: one port, with TLS or without.
 *
 *     port ──[TLS]──► Arrival: asks for WebSocket ──┬─ /leafnode ──► a leaf, if leaves are accepted at all
 *                     at most WAITING_MAX           └─ otherwise ──► a client
 *
 * A connection is in nobody's list before it has asked. Bounds of those that have not: WAITING_MAX of them, KEPT_BYTES_MAX
 * of requests that have not come in full, and handshake_timeout for each; with one more, the one goes that waits longest.
 */

import type { TlsOptions } from '../config/transport-options.ts';
import type { WebSocketOptions } from '../config/websocket-options.ts';
import { listenOutcome } from '../connection/listen-outcome.ts';
import { hostPort, listenFailure } from '../connection/listen-failure.ts';
import { type EntranceHost, TlsEntrances } from '../connection/tls-entrance.ts';
import type { Address, IoError, Listener, ListenHandler, SecuringNetwork, Socket, SocketHandler } from '../io/io.ts';
import { AcceptedWebSocket } from './accepted-web-socket.ts';
import { Arrival, type ArrivalDesk } from './arrival.ts';
import { InflationTurns } from './inflation-turns.ts';
import type { RequestHead } from './request-head.ts';
import { decide, type Refusal, type Upgrade } from './upgrade.ts';

const WAITING_MAX = 4096;
const KEPT_BYTES_MAX = 16 * 1024 * 1024;
/** Where nothing is said of it. */
const HANDSHAKE_MS = 10_000;

/** Why nobody can connect. */
export interface WebSocketOpenFailure {
  readonly text: string;
  readonly cause: IoError;
}

/** Makes WebSocket of a socket, on the terms that were agreed on. */
export type MakeWebSocket = (socket: Socket) => AcceptedWebSocket;

/** What the listener needs of its server. */
export interface WebSocketSite {
  readonly host: EntranceHost;
  options(): WebSocketOptions;
  maxPayloadBytes(): number;
  /** Makes a client of somebody; the answer hears everything about the socket. */
  acceptClient(socket: Socket, make: MakeWebSocket): SocketHandler;
  /** The same of a leaf; null where leaves are not accepted. */
  acceptLeaf(socket: Socket, make: MakeWebSocket): SocketHandler | null;
}

export class WebSocketListener implements ArrivalDesk {
  /** Null until it listens. */
  address: Address | null = null;
  private readonly site: WebSocketSite;
  private readonly turns: InflationTurns;
  private readonly waiting = new Set<Arrival>();
  private keptBytes = 0;
  private listener: Listener | null = null;
  private entrances: TlsEntrances | null = null;

  constructor(site: WebSocketSite) {
    this.site = site;
    this.turns = new InflationTurns(site.host.io.timers);
  }

  // ── life cycle ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** Of the URLs by which it is reached; TLS does not come or go while it listens. */
  get scheme(): 'ws' | 'wss' {
    return this.site.options().tls === null ? 'ws' : 'wss';
  }

  /** Listens; `done` hears whether that went well, or why not. */
  open(done: (failure: WebSocketOpenFailure | null) => void): void {
    const { network } = this.site.host.io;
    const options = this.site.options();
    const wanted = { host: options.host, port: options.port ?? 0 };
    const outcome = this.outcome(wanted, options, done);
    if (options.tls === null) {
      this.listener = network.listen(wanted, { ...outcome, accepted: (socket) => this.accept(socket) });
    } else if (network.tls === undefined) outcome.failed(new Error('this network has no TLS'));
    else {
      const entrances = this.makeEntrances(network.tls, options.tls, handshakeMs(options));
      this.listener = network.tls.listen(wanted, {
        ...outcome,
        accepted: (socket) => {
          const arrival = this.accept(socket);
          entrances.enter(arrival, socket);
          return arrival;
        },
      });
    }
  }

  private makeEntrances(network: SecuringNetwork, tls: TlsOptions, timeoutMs: number): TlsEntrances {
    this.entrances = new TlsEntrances(this.site.host, planOf(network, tls, timeoutMs));
    return this.entrances;
  }

  private outcome(
    wanted: Address,
    { host, tls }: WebSocketOptions,
    done: (failure: WebSocketOpenFailure | null) => void,
  ): Omit<ListenHandler, 'accepted'> {
    const { log } = this.site.host;
    return listenOutcome(this.site.host, (port, error) => {
      if (error !== null) {
        done({ text: `Unable to listen for websocket connections: ${listenFailure(wanted, error)}`, cause: error });
        return;
      }
      this.address = { host, port };
      log.notice(`Listening for websocket clients on ${this.scheme}://${hostPort(this.address)}`);
      if (tls === null) log.warn('Websocket not configured with TLS. DO NOT USE IN PRODUCTION!');
      done(null);
    });
  }

  /** What it returns shows other certificates, or has other rules, from the next connection on. Throws if they are bad. */
  prepare(next: WebSocketOptions): () => void {
    const { tls } = next;
    const { entrances } = this;
    const { network } = this.site.host.io;
    if (entrances === null || tls === null || network.tls === undefined) return () => undefined;
    const plan = planOf(network.tls, tls, handshakeMs(next));
    return () => {
      entrances.plan = plan;
    };
  }

  /** Takes nobody any more; those who have been taken on live on. */
  close(): void {
    this.listener?.close(() => undefined);
    this.listener = null;
    for (const arrival of this.waiting) arrival.abort();
  }

  // ── those who arrive ─────────────────────────────────────────────────────────────────────────────────────────────

  private accept(socket: Socket): Arrival {
    const { io, wheel } = this.site.host;
    const arrival = new Arrival(socket, this);
    if (this.waiting.size >= WAITING_MAX) this.dropLongest();
    this.waiting.add(arrival);
    wheel.set(arrival, io.clock.monotonicMs() + handshakeMs(this.site.options()));
    return arrival;
  }

  private dropLongest(): void {
    const [longest] = this.waiting;
    longest?.abort();
  }

  decide(head: RequestHead, { socket }: Arrival): Upgrade | Refusal {
    const options = this.site.options();
    const compresses = options.compresses && this.site.host.io.inflater !== undefined;
    return decide(head, { ...options, compresses }, (socket.tls ?? null) !== null);
  }

  keeps(_arrival: Arrival, bytes: number): void {
    this.keptBytes += bytes;
    while (this.keptBytes > KEPT_BYTES_MAX && this.waiting.size > 0) this.dropLongest();
  }

  refused({ label }: Arrival, fault: string): void {
    this.site.host.log.error(`${label} - websocket handshake error: ${fault}`);
  }

  serve(socket: Socket, upgrade: Upgrade): SocketHandler | null {
    const { site } = this;
    const terms = { maxPayloadBytes: site.maxPayloadBytes(), turns: this.turns };
    const make: MakeWebSocket = (below) => new AcceptedWebSocket(below, site.host.io, upgrade, terms);
    if (upgrade.kind === 'client') return site.acceptClient(socket, make);
    const handler = site.acceptLeaf(socket, make);
    if (handler === null) site.host.log.error('Not configured to accept leaf node connections');
    return handler;
  }

  left(arrival: Arrival): void {
    this.keptBytes -= arrival.keptBytes;
    this.waiting.delete(arrival);
    this.site.host.wheel.remove(arrival);
  }
}

/** How long everything may take before WebSocket is spoken. */
function handshakeMs({ handshakeTimeoutMs }: WebSocketOptions): number {
  return handshakeTimeoutMs || HANDSHAKE_MS;
}

/** Here TLS always comes first, and has no time of its own. */
function planOf(network: SecuringNetwork, tls: TlsOptions, timeoutMs: number): TlsEntrances['plan'] {
  const options = { ...tls, timeoutMs, isHandshakeFirst: true, fallbackDelayMs: 0, connectionRateLimit: 0 };
  return { options, context: network.context(tls), allowsNonTls: false };
}
