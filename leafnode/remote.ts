/**
 * One remote: a hub that this server wants to be linked to, always.
 *
 *                   ┌──────────────────── lost, or refused by the hub ─────────────────────┐
 *                   ▼                                                                      │
 *     start ──►  waiting  ──time──►  dialling ──socket stands──► linking ──INFO, CONNECT, INFO──► open
 *                   ▲                    │                     (SolicitedLink)
 *                   └────── failed ──────┘
 *
 *     close: from any state to closed, for good
 *
 * It dials without end, each time the next address, after a delay that grows with failures in a row and is drawn at
 * random (reconnect-delay.ts); a link that opened sets the row back to nothing. What a hub said when it dropped the
 * link may prescribe a longer delay, which is waited in addition. There is never more than one dial or connection.
 */

import type { ConnectionHost } from '../server/connection/connection-host.ts';
import type { Socket, SocketHandler, Timer } from '../server/io/io.ts';
import { remoteName } from '../server/config/schema-leaf-remotes.ts';
import type { LeafRemoteOptions, LeafUrl } from '../server/config/options.ts';
import type { ClosedReason } from '../server/protocol/errors.ts';
import type { AccountInterest } from './account-interest.ts';
import { Dial, hostPort } from './dial.ts';
import { checkCredentials } from './leaf-credentials.ts';
import { LinkSocket } from './link-socket.ts';
import type { LinkSpool } from '../server/ports.ts';
import type { LinkEvents, LinkSettings, LinkTerms } from './link-terms.ts';
import { reconnectDelayMs } from './reconnect-delay.ts';
import { RemoteEncryption } from './remote-encryption.ts';
import { RemoteUrls } from './remote-urls.ts';
import { SolicitedLink } from './solicited-link.ts';
import type { MakeWebSocket, WebSocketRoom } from './websocket-room.ts';
import type { WebSocket } from './websocket/web-socket.ts';

/** What all remotes of a server share. */
export interface RemoteContext extends LinkSettings {
  readonly host: ConnectionHost;
  readonly reconnectIntervalMs: number;
  readonly dialTimeoutMs: number;
  readonly webSockets: WebSocketRoom;
}

export interface RemoteFailure {
  readonly text: string;
  readonly wallMs: number;
}

export type RemoteState = 'waiting' | 'dialling' | 'linking' | 'open' | 'closed';

export class Remote implements LinkEvents {
  options: LeafRemoteOptions;
  readonly interest: AccountInterest;
  state: RemoteState = 'waiting';
  /** Dials since a socket stood last. */
  attempts = 0;
  /** Times that the link opened. */
  opens = 0;
  /** Why the link ended or did not come about, the last time that happened; null: it never did. */
  lastFailure: RemoteFailure | null = null;
  connection: SolicitedLink | null = null;
  /** Set before the first dial where it has one. */
  spool: LinkSpool | null = null;

  private readonly context: RemoteContext;
  private readonly urls: RemoteUrls;
  private encryption: RemoteEncryption;
  private url: LeafUrl | null = null;
  private dial: Dial | null = null;
  private timer: Timer | null = null;
  private failures = 0;
  private wasReached = false;

  constructor(context: RemoteContext, options: LeafRemoteOptions, interest: AccountInterest) {
    this.context = context;
    this.options = options;
    this.interest = interest;
    const { io } = context.host;
    const { fraction } = io.random;
    this.encryption = new RemoteEncryption(io, options.tls, options.urls);
    this.urls = new RemoteUrls(options.urls, options.randomizesUrls ? fraction : null);
  }

  start(): void {
    const { io, log } = this.context.host;
    const { credentialsFile } = this.options;
    this.dialNext();
    if (credentialsFile === '') return;
    checkCredentials(io.disk, credentialsFile, (fault) => {
      if (fault !== null) log.error(fault);
    });
  }

  /** Takes on other settings of compression and TLS. What they change, a link that stands does not know: it is dialled anew. */
  reconfigure(options: LeafRemoteOptions): void {
    const { compression, tls } = this.options;
    this.options = options;
    const isEncryptedAnew = JSON.stringify(tls) !== JSON.stringify(options.tls);
    if (isEncryptedAnew) this.encryption = new RemoteEncryption(this.context.host.io, options.tls, options.urls);
    if (JSON.stringify(compression) === JSON.stringify(options.compression)) return;
    this.context.host.log.notice(
      `Reloaded: LeafNode Remote ${remoteName(options)} Compression value is: ${options.compression.mode}`,
    );
    this.connection?.close('Client Closed');
  }

  /** Ends the link and dials no more. */
  close(reason: ClosedReason): void {
    if (this.state === 'closed') return;
    this.state = 'closed';
    this.timer?.cancel();
    this.dial?.cancel();
    this.connection?.close(reason);
  }

  urlsTold(urls: readonly string[]): void {
    this.urls.told(urls);
  }

  opened(): void {
    this.state = 'open';
    this.failures = 0;
    this.opens++;
  }

  lost(delayMs: number, reason: string): void {
    this.connection = null;
    if (this.state === 'closed') return;
    const wasOpen = this.state === 'open';
    this.failed(reason);
    const waitMs = this.waitAndDial(delayMs);
    if (!wasOpen) this.failures++;
    const what = wasOpen ? 'lost' : 'not established';
    const seconds = (waitMs / 1000).toFixed(1);
    this.context.host.log.notice(
      `Leafnode link to remote server ${JSON.stringify(this.addressText)} ${what} (${reason}), next attempt in ${seconds}s`,
    );
  }

  /** Where the last dial went. */
  private get addressText(): string {
    return this.url === null ? '' : hostPort(this.url);
  }

  private dialNext(): void {
    const { context } = this;
    const url = this.urls.next();
    this.url = url;
    this.timer = null;
    this.state = 'dialling';
    const address = JSON.stringify(hostPort(url));
    context.host.log.debug(`Trying to connect as leafnode to remote server on ${address}`);
    if (url.webSocketPath === null) this.dialTo(url, null);
    else {
      context.webSockets.enter(
        (make) => this.dialTo(url, make),
        (text) => this.dialFailed(url, text),
      );
    }
  }

  /** `webSocket` makes the socket of a hub that speaks it. */
  private dialTo(url: LeafUrl, webSocket: MakeWebSocket | null): void {
    const { context, options } = this;
    if (this.state === 'closed') return;
    const timeoutMs = options.dialTimeoutMs > 0 ? options.dialTimeoutMs : context.dialTimeoutMs;
    const route = { hub: { host: url.host, port: url.port }, proxy: options.proxy };
    this.dial = new Dial(context.host.io, route, timeoutMs, {
      reached: (socket) => {
        this.dial = null;
        this.attempts = 0;
        this.wasReached = true;
        return this.link(url, socket, webSocket);
      },
      failed: (text) => {
        this.dial = null;
        this.dialFailed(url, text);
      },
    });
  }

  private link(url: LeafUrl, socket: Socket, make: MakeWebSocket | null): SocketHandler {
    const { host, site } = this.context;
    this.state = 'linking';
    const linkSocket = new LinkSocket(socket, host.io.timers);
    const webSocket = make === null ? null : make(linkSocket, host.io);
    const connection = new SolicitedLink(host, linkSocket, site.nextConnectionId(), this.termsFor(url, webSocket));
    this.connection = connection;
    webSocket?.attach(connection);
    linkSocket.attach(webSocket ?? connection);
    connection.connected();
    return linkSocket;
  }

  private termsFor(url: LeafUrl, webSocket: WebSocket | null): LinkTerms {
    const { context, options, interest, encryption, spool } = this;
    const login = this.urls.loginFor(url);
    return { ...context, options, interest, url, login, encryption, webSocket, spool, events: this };
  }

  private dialFailed(url: LeafUrl, text: string): void {
    const { log } = this.context.host;
    this.attempts++;
    this.failed(text);
    const where = `remote server ${JSON.stringify(hostPort(url))} (attempt ${this.attempts})`;
    const seconds = (this.waitAndDial(0) / 1000).toFixed(1);
    // Of a hub that is dialled directly it says what nats-server says, and no more.
    const pause = this.options.proxy === null ? '' : `, next attempt in ${seconds}s`;
    const line = `Error trying to connect as leafnode to ${where}: ${text}${pause}`;
    if (this.isReported()) log.error(line);
    else log.debug(line);
    this.failures++;
  }

  private failed(text: string): void {
    this.lastFailure = { text, wallMs: this.context.host.io.clock.wallMs() };
  }

  private isReported(): boolean {
    const { connectErrorReports, reconnectErrorReports } = this.context.site;
    const every = this.wasReached ? reconnectErrorReports : connectErrorReports;
    return this.attempts === 1 || this.attempts % Math.max(1, every) === 0;
  }

  /** Milliseconds until the next dial. */
  private waitAndDial(extraMs: number): number {
    const { host, reconnectIntervalMs } = this.context;
    this.state = 'waiting';
    const delayMs = reconnectDelayMs(reconnectIntervalMs, this.failures, this.urls.count, host.io.random.fraction());
    this.timer = host.io.timers.after(extraMs + delayMs, () => this.dialNext());
    return extraMs + delayMs;
  }
}
