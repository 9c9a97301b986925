/**
 * One leaf link, whichever side dialled: the connection itself, its verbs and its deadlines. How the two sides come to
 * know each other is the other half, one for each end:
 *
 *     SolicitedLink    awaits INFO ─► awaits the second INFO ─► open ─► closing ─► closed
 *     AcceptedLink     awaits CONNECT ────────────────────────► open ─► closing ─► closed
 *
 * From the moment that the account is known there is a session (LeafSession), which does all that is about interest and
 * messages. An open link is in the account: what the peer wants to hear are its subscriptions.
 *
 * A link is never closed because its peer is slow to take messages: above max_pending they are dropped and counted, and
 * a write that hangs is given WRITE_LIMITS_MAX times its deadline. Whether the peer is there at all is asked by pings on
 * a clock that no traffic can postpone.
 */

import { Buffer } from 'node:buffer';
import { strict as assert } from 'node:assert';
import type { Account } from '../server/account/account.ts';
import type { CompressionMode } from '../server/config/compression.ts';
import type { ConnectionHost, ConnectionLimits } from '../server/connection/connection-host.ts';
import { Connection } from '../server/connection/connection.ts';
import type { Socket } from '../server/io/io.ts';
import { type PeerError, PeerErrors, subscriptionViolation } from '../server/protocol/errors.ts';
import { goQuoteBytes } from '../server/protocol/go-quote.ts';
import type { Message } from '../server/protocol/message.ts';
import type { LinkSpool, SinkKind } from '../server/ports.ts';
import type { Subscription } from '../server/subject/subscription.ts';
import { type LeafOperations, LeafParser } from './leaf-parser.ts';
import { LeafSession, type SessionLink } from './leaf-session.ts';
import type { Dropped } from './link-outbox.ts';
import type { LinkSettings } from './link-terms.ts';
import type { AccountInterest } from './account-interest.ts';
import type { LeafPermissions } from './leaf-permissions.ts';
import { consequenceOf, DELAY_AFTER_LOOP_MS, DELAY_AFTER_VIOLATION_MS, loopText } from './reconnect-delay.ts';

const PING = Buffer.from('PING\r\n');
const PONG = Buffer.from('PONG\r\n');
const FIRST_PING_MS = 1000;
const WRITE_LIMITS_MAX = 6;
/** Room above max_pending for interest, pings and the message that crossed the line. */
const PENDING_SLACK_BYTES = 16 * 1024 * 1024;
const NEVER = Number.POSITIVE_INFINITY;
const NOTHING_DROPPED: Readonly<Dropped> = { tooLarge: 0, congested: 0 };

/** Who waits for the answer to which PING. */
interface Fence {
  readonly ping: number;
  readonly done: () => void;
}

/** How the end that dialled introduced itself. */
export interface Introduction {
  readonly name: string;
  readonly version: string;
  readonly user: string;
}

export abstract class LeafConnection extends Connection implements LeafOperations, SessionLink {
  readonly sinkKind: SinkKind = 'leaf';
  /** This side plays the leaf. */
  isSpoke = false;
  isIsolated = false;
  isOpen = false;
  remoteServer = '';
  remoteCluster = '';
  remoteDomain = '';
  remoteAccount = '';
  /** `null` while nobody has, and where this side dialled. */
  introduction: Introduction | null = null;
  compression: CompressionMode = 'not supported';

  protected readonly settings: LinkSettings;
  protected session: LeafSession | null = null;
  /** Until when the handshake has to come to its next step. */
  protected stageDeadlineMs: number = NEVER;
  /** How long this side should wait before it dials again, if it is the one that does. */
  protected reconnectDelayMs = 0;
  private ownParser: LeafParser | null = null;
  /** PINGs sent and PONGs received: they come in the same order. */
  private pings = 0;
  private pongs = 0;
  private readonly fences: Fence[] = [];
  /** What waits for room goes on at the end of the turn. */
  private isProceeding = false;
  private readonly proceed = (): void => {
    this.isProceeding = false;
    if (this.state === 'open') this.session?.proceed();
  };

  protected constructor(host: ConnectionHost, socket: Socket, id: number, settings: LinkSettings) {
    super(host, socket, id);
    this.settings = settings;
  }

  get label(): string {
    const { host, port } = this.socket.remote;
    return `${host.includes(':') ? `[${host}]` : host}:${port} - ${this.isWebSocket ? 'lid_ws' : 'lid'}:${this.id}`;
  }

  /** It goes over WebSocket. */
  get isWebSocket(): boolean {
    return Boolean(this.socket.webSocket);
  }

  /** The account that the link joins; asked only when that is known. */
  get account(): Account {
    assert(this.session !== null, 'the account of the link is known');
    return this.session.account;
  }

  /** '' until it is known. */
  get accountName(): string {
    return this.session?.account.name ?? '';
  }

  /** By which the account's own interest is known when it comes back. */
  get loopSubject(): string {
    return this.session?.interest.loopSubject ?? '';
  }

  get limits(): ConnectionLimits {
    return this.host.limits;
  }

  get dropped(): Readonly<Dropped> {
    return this.session?.outbox.dropped ?? NOTHING_DROPPED;
  }

  get toldInterest(): number {
    return this.session?.toldInterest ?? 0;
  }

  /** How many entries of interest the peer has, and what they are. */
  get peerInterestSize(): number {
    return this.session?.peerInterest.size ?? 0;
  }

  peerSubscriptions(): Iterable<Subscription> {
    return this.session?.peerInterest.all() ?? [];
  }

  override get maxPendingBytes(): number {
    return this.host.limits.maxPendingBytes + PENDING_SLACK_BYTES;
  }

  monotonicMs(): number {
    return this.host.io.clock.monotonicMs();
  }

  /** What can't be sent is kept there from now on. */
  useSpool(spool: LinkSpool): void {
    this.session?.useSpool(spool);
  }

  warn(text: string): void {
    this.host.log.warn(`${this.label} - ${text}`);
  }

  // ── coming in ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Knows the account from here on: interest and messages of the peer can be taken. */
  protected join(interest: AccountInterest, permissions: LeafPermissions): LeafSession {
    this.session = new LeafSession(this, interest, permissions);
    return this.session;
  }

  /** The handshake is over: pings begin, and this side tells its interest. */
  protected open(session: LeafSession): void {
    const { host, keepalive } = this;
    this.isOpen = true;
    this.stageDeadlineMs = NEVER;
    const interval = Math.min(FIRST_PING_MS, host.limits.pingIntervalMs);
    keepalive.scheduleFirst(this.lastReadMs, interval, host.io.random.fraction());
    this.armDeadline();
    this.opened(session);
    host.linkOpened(this, session.account);
    session.begin(host.io.timers);
  }

  /** Called when the link opens, before any interest is told. */
  protected abstract opened(session: LeafSession): void;

  protected sayDomains(): void {
    const { host, settings } = this;
    const { site } = settings;
    const { domain, hasJetStream } = site;
    if (site.isSystemAccount(this.account)) {
      const cluster = this.remoteCluster === '' ? '' : `/${this.remoteCluster}`;
      host.log.notice(`${this.label} - System account connected from ${this.remoteServer}${cluster}`);
      host.log.notice(`${this.label} - JetStream not extended, domains differ`);
      return;
    }
    if (domain !== this.remoteDomain || !hasJetStream) {
      const domains = `local ${JSON.stringify(domain)}, remote ${JSON.stringify(this.remoteDomain)}`;
      host.log.notice(`${this.label} - JetStream using domains: ${domains}`);
    } else host.log.debug(`${this.label} - Adding deny [$JS.API.> $KV.> $OBJ.>] for account "${this.accountName}"`);
  }

  // ── verbs ────────────────────────────────────────────────────────────────────────────────────────────────────────

  abstract info(json: string): void;

  /** The session, if the peer may speak of interest and messages now; otherwise it is told off. */
  protected abstract sessionOfSpeaker(): LeafSession | null;

  protected override received(buffer: Buffer, start: number, end: number): void {
    this.parse(buffer, start, end);
  }

  protected parse(buffer: Buffer, start: number, end: number): void {
    const { settings } = this;
    settings.inbound.source = this;
    const parser = (this.ownParser ??= new LeafParser(this, this.host.limits, settings.inbound));
    parser.read(buffer, start, end);
    if (parser.messagesIn === 0) return;
    const { traffic } = this;
    traffic.inMessages += parser.messagesIn;
    traffic.inBytes += parser.bytesIn;
    parser.messagesIn = 0;
    parser.bytesIn = 0;
  }

  /** What has been read and was not understood yet is nobody's: from here on other terms hold. */
  protected forgetUnread(): void {
    this.ownParser = null;
  }

  message(message: Message): void {
    const session = this.sessionOfSpeaker();
    if (session === null || session.take(message) || this.isSpoke) return;
    this.refuse('Publish', message.subjectText());
  }

  subscribe(subject: string, queueGroup: string, weight: number): void {
    const session = this.sessionOfSpeaker();
    if (session === null) return;
    switch (session.subscribe(subject, queueGroup, weight)) {
      case 'known':
        return;
      case 'loop':
        this.endLoop();
        return;
      case 'unwanted':
        this.host.log.debug(`${this.label} - ${subscriptionViolation(subject, '').text}`);
        return;
      case 'forbidden':
        this.host.log.debug(`${this.label} - ${subscriptionViolation(subject, '').text}`);
        this.refuse('Subscription', subject);
        return;
      case 'too many':
        this.fail(PeerErrors.maximumSubscriptions);
        return;
      case 'invalid':
        this.host.log.error(`${this.label} - Could not insert subscription: sublist: invalid subject`);
        this.fail({ text: 'Invalid Subscription', closes: null });
    }
  }

  unsubscribe(subject: string, queueGroup: string): void {
    this.sessionOfSpeaker()?.unsubscribe(subject, queueGroup);
  }

  ping(): void {
    this.send(PONG);
  }

  fence(done: () => void): void {
    this.sendPing();
    this.fences.push({ ping: this.pings, done });
  }

  private sendPing(): void {
    this.pings++;
    this.send(PING);
  }

  pong(): void {
    this.pongs++;
    this.keepalive.answered(this.lastReadMs);
    while (this.fences.length > 0 && (this.fences[0] as Fence).ping <= this.pongs) this.fences.shift()?.done();
  }

  peerError(text: string): void {
    const { log } = this.host;
    log.error(`${this.label} - Leafnode Error ${text}`);
    const consequence = consequenceOf(text, this.accountName);
    if (consequence === null) return;
    this.reconnectDelayMs = consequence.delayMs;
    if (consequence.log !== '') log.error(`${this.label} - ${consequence.log}`);
    if (consequence.closes) this.close('Protocol Violation');
  }

  violation(error: PeerError | null, detail: string): void {
    this.host.log.error(`${this.label} - ${detail}`);
    if (error !== null) this.fail(error.closes === 'Parse Error' ? { ...error, closes: 'Protocol Violation' } : error);
    else this.close('Protocol Violation');
  }

  private endLoop(): void {
    const text = loopText(this.accountName);
    this.reconnectDelayMs = DELAY_AFTER_LOOP_MS;
    this.host.log.error(`${this.label} - ${text}`);
    this.fail({ text, closes: 'Protocol Violation' });
  }

  /** The peer was told what it may do, and did something else. */
  private refuse(action: 'Publish' | 'Subscription', subject: string): void {
    const text = `Permissions Violation for ${action} to ${goQuoteBytes(subject)}`;
    this.reconnectDelayMs = DELAY_AFTER_VIOLATION_MS;
    this.host.log.error(
      `${this.label} - ${action} Violation on ${goQuoteBytes(subject)} - Check other side configuration`,
    );
    this.fail({ text, closes: 'Protocol Violation' });
  }

  mayAdvertise(subject: string): boolean {
    return this.session !== null && this.session.permissions.mayAdvertise(subject);
  }

  interestTold(): void {
    this.session?.told();
  }

  // ── messages for the peer ────────────────────────────────────────────────────────────────────────────────────────

  override deliver(subscription: Subscription, message: Message): boolean {
    if (this.session === null || this.state !== 'open') return false;
    return this.session.collect(subscription, message);
  }

  sendCollected(message: Message): void {
    this.session?.send(message);
  }

  /** The socket may say so in the middle of a message, into which nothing else may be written. */
  override written(): void {
    super.written();
    if (this.isProceeding || this.session?.isWaiting !== true) return;
    this.isProceeding = true;
    this.host.io.timers.afterTurn(this.proceed);
  }

  // ── deadlines and the end ────────────────────────────────────────────────────────────────────────────────────────

  protected override get writeLimitMs(): number {
    const { writeDeadlineMs } = this.settings;
    return writeDeadlineMs > 0 ? writeDeadlineMs : super.writeLimitMs;
  }

  protected override waitsFurther(nowMs: number): boolean {
    return this.settings.waitsForWrites && nowMs - this.lastWriteMs < this.writeLimitMs * WRITE_LIMITS_MAX;
  }

  protected override nextOwnDeadlineMs(): number {
    return Math.min(this.stageDeadlineMs, this.pingDueMs ?? NEVER);
  }

  protected override ownDeadlinePassed(nowMs: number): void {
    if (this.stageDeadlineMs <= nowMs) {
      this.handshakeTimedOut();
      return;
    }
    const { host, keepalive } = this;
    if (keepalive.dueMs > nowMs) return;
    const { pingIntervalMs, pingsOutMax } = host.limits;
    const decision = keepalive.decide(nowMs, pingIntervalMs, pingsOutMax, null);
    if (decision === 'ping') this.sendPing();
    else if (decision === 'stale') {
      host.log.debug(`${this.label} - Stale Client Connection - Closing`);
      this.fail(PeerErrors.staleConnection);
    }
  }

  /** The handshake did not come to its next step in time. */
  protected abstract handshakeTimedOut(): void;

  protected override released(): void {
    const { host, closedReason } = this;
    const remote = this.remoteServer === '' ? '' : ` - Remote: ${this.remoteServer}`;
    host.log.notice(`${this.label} - Leafnode connection closed: ${closedReason}${remote}`);
    this.session?.end(host.io.timers);
  }
}
