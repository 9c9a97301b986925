/**
 * A link that a leaf has dialled: how it and this hub come to know each other.
 *
 *     accepted ─INFO─► awaits CONNECT ──CONNECT──► deciding ──identity──► INFO {connect_info}, interest ─► open
 *                      authorization.timeout       (only where a hash has to be compared)
 *                       │          ▲
 *                       └──INFO────┘ answered by INFO; from there on both compress (link-compression.ts)
 *
 * Whoever has not said CONNECT has next to nothing here: the beginning of the line is kept where those of clients are
 * (FirstLines), and parser, session and queue are made when it is known who it is. Nothing else than CONNECT, and
 * one INFO before it where links are compressed, is taken, and nothing is read while somebody is being decided upon.
 *
 * Why a leaf is refused, and in which order that is looked at, is nats-server's: first the login, then the rest.
 */

import { Buffer } from 'node:buffer';
import type { Account } from '../server/account/account.ts';
import type { CompressionMode, CompressionOptions } from '../server/config/compression.ts';
import type { ConnectionHost, Decided, Identity, Login } from '../server/connection/connection-host.ts';
import { FIRST_LINE_BYTES_MAX, type FirstLineOwner, NOWHERE } from '../server/connection/first-lines.ts';
import type { Entrant } from '../server/connection/tls-entrance.ts';
import type { Socket } from '../server/io/io.ts';
import type { ConnectOptions } from '../server/protocol/connect-options.ts';
import { type PeerError, PeerErrors } from '../server/protocol/errors.ts';
import { goQuote } from '../server/protocol/go-quote.ts';
import { ResponsePermits } from '../server/account/response-permits.ts';
import type { AccountInterest } from './account-interest.ts';
import { wantsCompression } from './compression.ts';
import { readHubInfo } from './hub-info.ts';
import { type LeafConnect, readLeafConnect } from './leaf-connect.ts';
import { LeafConnection } from './leaf-connection.ts';
import type { LeafPermissions } from './leaf-permissions.ts';
import type { LeafSession } from './leaf-session.ts';
import { LinkCompression } from './link-compression.ts';
import type { LinkSocket } from './link-socket.ts';
import type { LinkSettings } from './link-terms.ts';

const CONNECT = 'CONNECT';
const INFO = 'INFO';
/** Of a piece of a compressed stream, beyond its content. */
const PIECE_SLACK_BYTES = 64;
const LF = 10;
const CR = 13;
const SPACE = 32;
const TAB = 9;
const CASE = 0x20;
const NEVER = Number.POSITIVE_INFINITY;

/** What an accepted link needs of its listener. */
export interface LinkLobby {
  readonly settings: LinkSettings;
  readonly authTimeoutMs: number;
  /** Leaves are who their certificates say. */
  readonly mapsCertificates: boolean;
  /** The INFO by which the link is greeted, and its own is answered. */
  greeting(link: AcceptedLink, compression: CompressionMode): Uint8Array;
  /** The INFO by which its CONNECT is answered. */
  answer(link: AcceptedLink, identity: Identity): Uint8Array;
  authenticate(options: ConnectOptions, login: Login, decided: Decided): Identity | null | 'later';
  /** Why a leaf that may log in is refused all the same; `null`: it is not. */
  refusalOf(connect: LeafConnect): LeafRefusal | null;
  permissionsOf(link: AcceptedLink, identity: Identity, connect: LeafConnect): LeafPermissions;
  interestOf(identity: Identity): AccountInterest;
  /** Takes the link in, in the place of an older one of the same leaf; why not, or `null`. */
  admit(link: AcceptedLink, identity: Identity, connect: LeafConnect): PeerError | null;
  gone(link: AcceptedLink): void;
}

/** What carries a link. */
export interface LinkTransport {
  /** Where the protocol is spoken. */
  readonly socket: Socket;
  /** Where both ends may begin to compress; the same, unless WebSocket lies between them. */
  readonly linkSocket: LinkSocket;
  readonly compression: CompressionOptions;
}

export interface LeafRefusal extends PeerError {
  /** The leaf is told about itself before, so that it understands. */
  readonly isAnswered: boolean;
}

export class AcceptedLink extends LeafConnection implements FirstLineOwner, Login, Entrant {
  firstLineAt: number = NOWHERE;
  readonly nonce: string;
  /** The account in whose limits it is counted. */
  countedIn: Account | null = null;
  user = '';
  isTlsFirst = false;
  private readonly lobby: LinkLobby;
  private readonly linkSocket: LinkSocket;
  private readonly agreement: LinkCompression;
  /** The leaf may ask for compression, once. */
  private mayAgree: boolean;
  private isDeciding = false;
  /** What came behind a CONNECT that is being decided upon. */
  private unread: Buffer | null = null;

  constructor(host: ConnectionHost, id: number, lobby: LinkLobby, nonce: string, transport: LinkTransport) {
    const { socket, linkSocket, compression } = transport;
    super(host, socket, id, lobby.settings);
    this.lobby = lobby;
    this.linkSocket = linkSocket;
    this.agreement = new LinkCompression(linkSocket, compression);
    this.mayAgree = wantsCompression(compression.mode);
    this.nonce = nonce;
  }

  get connectionType(): string {
    return this.isWebSocket ? 'LEAFNODE_WS' : 'LEAFNODE';
  }

  get certificate(): Uint8Array | null {
    return this.socket.tls?.certificate ?? null;
  }

  get mapsCertificate(): boolean {
    return this.lobby.mapsCertificates;
  }

  connected(): void {
    this.arrived();
    this.greetClient();
    this.entered();
  }

  /** It was accepted; nothing has been said. */
  arrived(): void {
    this.host.log.notice(`${this.label} - Leafnode connection created `);
  }

  greetClient(): void {
    this.greet(this.lobby.greeting(this, this.agreement.own));
  }

  /** What it sends is the protocol from now on. */
  entered(): void {
    this.stageDeadlineMs = this.monotonicMs() + this.lobby.authTimeoutMs;
    this.armDeadline();
  }

  // ── the first line ───────────────────────────────────────────────────────────────────────────────────────────────

  protected override received(buffer: Buffer, start: number, end: number): void {
    if (this.session !== null) this.parse(buffer, start, end);
    else if (this.isDeciding) this.keepUnread(buffer, start, end);
    else this.receivedFirst(buffer, start, end);
  }

  protected override continuesReading(): boolean {
    return super.continuesReading() && !this.isDeciding;
  }

  private receivedFirst(buffer: Buffer, start: number, end: number): void {
    const { firstLines } = this.host;
    const from = firstLines.putInFront(this, buffer, start);
    const verb = this.firstVerb(buffer, from, end);
    if (verb === null) return;
    const found = buffer.indexOf(LF, start);
    const lf = found < end ? found : -1;
    if ((lf < 0 ? end : lf) - from > FIRST_LINE_BYTES_MAX) {
      this.violation(PeerErrors.maximumControlLine, `max_control_line ${FIRST_LINE_BYTES_MAX} of ${verb}`);
      return;
    }
    if (lf < 0) {
      firstLines.keep(this, buffer, from, end);
      return;
    }
    firstLines.drop(this);
    const json = buffer.toString('utf8', from + verb.length, buffer[lf - 1] === CR ? lf - 1 : lf);
    if (verb === INFO) this.agree(json);
    else this.connect(json);
    if (this.isClosed || lf + 1 === end) return;
    if (this.session !== null) this.parse(buffer, lf + 1, end);
    else if (this.isDeciding) this.keepUnread(buffer, lf + 1, end);
    else if (this.linkSocket.level === null) this.receivedFirst(buffer, lf + 1, end);
    else this.violation(null, 'Leafnode sent something in clear behind its INFO');
  }

  /** What the line begins with, if that can still be CONNECT or, once, INFO; whoever says something else is told off. */
  private firstVerb(buffer: Buffer, from: number, end: number): string | null {
    const isInfo = this.mayAgree && ((buffer[from] as number) | CASE) === (INFO.charCodeAt(0) | CASE);
    const verb = isInfo ? INFO : CONNECT;
    for (let i = 0; i < verb.length && from + i < end; i++) {
      const letter = verb.charCodeAt(i);
      const byte = buffer[from + i] as number;
      if (byte === letter || byte === (letter | CASE)) continue;
      if (i === 0) this.refuseLogin('');
      else this.violation(PeerErrors.unknownOperation, 'Leafnode parser ERROR, before CONNECT');
      return null;
    }
    const behind = from + verb.length;
    if (behind >= end || buffer[behind] === SPACE || buffer[behind] === TAB) return verb;
    this.violation(PeerErrors.unknownOperation, 'Leafnode parser ERROR, before CONNECT');
    return null;
  }

  /** The leaf asks for compression: from its INFO on, and from the answer on here, both do it. */
  private agree(json: string): void {
    const { agreement, linkSocket, lobby } = this;
    this.mayAgree = false;
    const info = readHubInfo(json);
    if (typeof info === 'string') {
      this.violation(null, info);
      return;
    }
    const compresses = agreement.agree(info.compression, this.monotonicMs() - this.connectedMs);
    this.compression = agreement.mode;
    if (compresses === null) {
      const text = `unsupported route compression mode ${goQuote(info.compression)}`;
      this.refuseLeaf({ text, closes: 'Protocol Violation' });
    } else if (compresses) {
      agreement.begin((detail) => this.violation(null, detail));
      linkSocket.limitPieces(FIRST_LINE_BYTES_MAX + PIECE_SLACK_BYTES);
      this.send(lobby.greeting(this, agreement.told));
    }
  }

  firstLineGivenUp(): void {
    this.handshakeTimedOut();
  }

  private keepUnread(buffer: Buffer, start: number, end: number): void {
    const more = buffer.subarray(start, end);
    this.unread = this.unread === null ? Buffer.from(more) : Buffer.concat([this.unread, more]);
  }

  // ── who it is ────────────────────────────────────────────────────────────────────────────────────────────────────

  private connect(json: string): void {
    const connect = readLeafConnect(json);
    if (typeof connect === 'string') {
      this.violation(null, connect);
      return;
    }
    const { login } = connect;
    const identity = this.lobby.authenticate(login, this, (decided) => this.decided(decided, connect));
    if (identity !== 'later') this.identified(identity, connect);
    else {
      this.isDeciding = true;
      this.stageDeadlineMs = NEVER;
    }
  }

  private decided(identity: Identity | null, connect: LeafConnect): void {
    if (this.isClosed) return;
    this.isDeciding = false;
    this.identified(identity, connect);
    const { unread } = this;
    this.unread = null;
    if (this.isClosed) return;
    if (unread !== null) this.parse(unread, 0, unread.length);
    if (!this.isClosed) this.socket.resume();
  }

  private identified(identity: Identity | null, connect: LeafConnect): void {
    const { lobby } = this;
    if (identity === null) {
      this.refuseLogin(connect.login.nkey === '' ? connect.login.user : connect.login.nkey);
      return;
    }
    const refusal = lobby.refusalOf(connect);
    if (refusal !== null) {
      if (refusal.isAnswered) this.send(lobby.answer(this, identity));
      this.refuseLeaf(refusal);
      return;
    }
    this.user = identity.user;
    this.introduction = { name: connect.name, version: connect.version, user: identity.user };
    this.remoteServer = connect.name;
    this.remoteCluster = connect.cluster;
    this.remoteDomain = connect.domain;
    this.remoteAccount = connect.remoteAccount;
    if (this.linkSocket.level === null) this.compression = connect.compression === '' ? 'not supported' : 'off';
    this.isSpoke = connect.isHub;
    this.isIsolated ||= connect.wantsIsolation;
    const fault = lobby.admit(this, identity, connect);
    if (fault === null) this.enter(identity, connect);
    else this.refuseLeaf(fault);
  }

  private enter(identity: Identity, connect: LeafConnect): void {
    const { lobby, host } = this;
    const session = this.join(lobby.interestOf(identity), lobby.permissionsOf(this, identity, connect));
    const responses = identity.permissions?.rules.responses ?? null;
    if (responses !== null) session.permits = new ResponsePermits(responses, () => this.monotonicMs());
    session.outbox.withHeaders = host.headersSupported && connect.headers;
    this.linkSocket.limitPieces(null);
    this.send(lobby.answer(this, identity));
    this.open(session);
  }

  protected override opened(): void {
    this.sayDomains();
  }

  private refuseLogin(name: string): void {
    const who = name === '' ? '' : ` - User ${goQuote(name)}`;
    this.host.log.error(`${this.label} - authentication error${who}`);
    this.fail(PeerErrors.authorizationViolation);
  }

  private refuseLeaf(error: PeerError): void {
    this.host.log.error(`${this.label} - ${error.text}`);
    this.fail(error);
  }

  // ── the rest ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /** A leaf has nothing to tell by INFO that is not in its CONNECT. */
  info(): void {
    this.host.log.debug(`${this.label} - INFO of a leaf is not looked at`);
  }

  override pong(): void {
    super.pong();
    this.agreement.adjust(this.rttMs);
    if (this.linkSocket.level !== null) this.compression = this.agreement.mode;
  }

  protected override sessionOfSpeaker(): LeafSession | null {
    return this.session;
  }

  protected override handshakeTimedOut(): void {
    this.host.log.debug(`${this.label} - Authentication Timeout`);
    this.fail(PeerErrors.authenticationTimeout);
  }

  protected override released(): void {
    this.host.firstLines.drop(this);
    super.released();
    this.lobby.gone(this);
  }
}
