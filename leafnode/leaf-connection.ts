/**
 * One connection to a hub, from the moment the socket stands.
 *
 *     connected ──► awaits INFO ──INFO──► awaits the second INFO ──INFO {connect_info}──► open ─► closing ─► closed
 *                   first_info_timeout    (CONNECT was sent)  CONNECT_INFO_MS               (Connection)
 *
 * When the link opens, this side tells all its interest (InterestAnnouncer); messages go out when all has been told, so
 * that no request overtakes the interest in its reply. Interest and messages of the hub are taken as they come.
 *
 * A message crosses once, however many subscriptions of the hub match: `deliver` collects, `sendCollected` sends
 * (LinkOutbox). Nothing goes back where it came from, nor from one link to another into the same cluster.
 *
 * A link is never closed because the hub is slow to take messages: above max_pending they are dropped and counted, and
 * a write that hangs is given WRITE_LIMITS_MAX times its deadline. Whether the hub is there at all is asked by pings on
 * a clock that no traffic can postpone.
 */

import { Buffer } from 'node:buffer';
import type { Account } from '../server/account/account.ts';
import type { ConnectionHost, ConnectionLimits } from '../server/connection/connection-host.ts';
import { Connection } from '../server/connection/connection.ts';
import type { Socket } from '../server/io/io.ts';
import { type PeerError, PeerErrors, subscriptionViolation } from '../server/protocol/errors.ts';
import type { Message } from '../server/protocol/message.ts';
import type { LinkSink, SinkKind } from '../server/ports.ts';
import { isLiteral, isSubscribableSubject } from '../server/subject/subject.ts';
import type { Subscription } from '../server/subject/subscription.ts';
import { isLoopSubject } from './account-interest.ts';
import { showDeliverSubject } from './deliver-subject.ts';
import { type HubInfo, readHubInfo } from './hub-info.ts';
import { type AnnouncingLink, InterestAnnouncer } from './interest-announcer.ts';
import { type CompressionMode, connectLine, refusalOf } from './leaf-handshake.ts';
import { type LeafOperations, LeafParser } from './leaf-parser.ts';
import { LeafPermissions, type LinkDenies } from './leaf-permissions.ts';
import { type Dropped, LinkOutbox, type OutboxLink } from './link-outbox.ts';
import type { LinkTerms } from './link-terms.ts';
import { PeerInterest } from './peer-interest.ts';
import { consequenceOf, DELAY_AFTER_LOOP_MS, DELAY_AFTER_VIOLATION_MS, loopText } from './reconnect-delay.ts';

const PING = Buffer.from('PING\r\n');
const PONG = Buffer.from('PONG\r\n');
const CONNECT_INFO_MS = 2000;
const FIRST_PING_MS = 1000;
const WRITE_LIMITS_MAX = 6;
/** Room above max_pending for interest, pings and the message that crossed the line. */
const PENDING_SLACK_BYTES = 16 * 1024 * 1024;
const NEVER = Number.POSITIVE_INFINITY;

type Stage = 'awaits-info' | 'awaits-connect-info' | 'open';

export class LeafConnection extends Connection implements LeafOperations, LinkSink, AnnouncingLink, OutboxLink {
  readonly sinkKind: SinkKind = 'leaf';
  readonly account: Account;
  /** What the hub wants to hear. */
  readonly peerInterest: PeerInterest;
  readonly isSpoke: boolean;
  stage: Stage = 'awaits-info';
  remoteServer = '';
  remoteCluster = '';
  remoteDomain = '';
  remoteAccount = '';
  compression: CompressionMode = 'not supported';

  private readonly terms: LinkTerms;
  private readonly denies: LinkDenies;
  private readonly parser: LeafParser;
  private readonly outbox: LinkOutbox;
  private permissions: LeafPermissions;
  private announcer: InterestAnnouncer | null = null;
  /** All interest has been told: messages may go out. */
  private isTold = false;
  private stageDeadlineMs: number = NEVER;
  private reconnectDelayMs = 0;

  constructor(host: ConnectionHost, socket: Socket, id: number, terms: LinkTerms) {
    super(host, socket, id);
    const { options, site, interest } = terms;
    this.terms = terms;
    this.account = interest.account;
    this.peerInterest = new PeerInterest(this, this.account);
    this.isSpoke = !options.isHub;
    this.denies = { ...options, ownDomain: site.hasJetStream ? site.domain : '' };
    this.permissions = new LeafPermissions(this.denies, null, null);
    this.parser = new LeafParser(this, host.limits, terms.inbound);
    this.outbox = new LinkOutbox(this, this.permissions);
  }

  get label(): string {
    const { host, port } = this.socket.remote;
    return `${host.includes(':') ? `[${host}]` : host}:${port} - lid:${this.id}`;
  }

  /** By which the account's own interest is known when it comes back. */
  get loopSubject(): string {
    return this.terms.interest.loopSubject;
  }

  get limits(): ConnectionLimits {
    return this.host.limits;
  }

  get dropped(): Readonly<Dropped> {
    return this.outbox.dropped;
  }

  /** Entries of interest that the hub has been told of. */
  get toldInterest(): number {
    return this.announcer?.told ?? 0;
  }

  override get maxPendingBytes(): number {
    return this.host.limits.maxPendingBytes + PENDING_SLACK_BYTES;
  }

  monotonicMs(): number {
    return this.host.io.clock.monotonicMs();
  }

  warn(text: string): void {
    this.host.log.warn(`${this.label} - ${text}`);
  }

  connected(): void {
    this.host.log.notice(`${this.label} - Leafnode connection created for account: ${this.account.name} `);
    this.stageDeadlineMs = this.connectedMs + this.terms.options.firstInfoTimeoutMs;
    this.armDeadline();
  }

  // ── handshake ────────────────────────────────────────────────────────────────────────────────────────────────────

  info(json: string): void {
    const info = readHubInfo(json);
    if (typeof info === 'string') {
      this.violation(null, info);
      return;
    }
    if (this.stage === 'awaits-info' && !this.accepts(info)) return;
    const { options, events } = this.terms;
    const urls = info.leafnodeUrls ?? [];
    if (options.followsDiscoveredServers && urls.length > 0) events.urlsTold(urls);
    if (info.exports !== null || info.imports !== null) {
      this.permissions = new LeafPermissions(this.denies, info.exports, info.imports);
      this.outbox.permissions = this.permissions;
    }
    if (info.remoteAccount !== '') this.remoteAccount = info.remoteAccount;
    if (info.maxPayloadBytes > 0) this.outbox.payloadBytesMax = info.maxPayloadBytes;
    if (this.stage === 'awaits-info') this.answer(info);
    if (this.stage === 'awaits-connect-info' && (info.connectInfo || !info.infoOnConnect)) this.open();
  }

  private accepts(info: HubInfo): boolean {
    const refusal = refusalOf(info);
    if (refusal === null) return true;
    const { text, reason, isTold } = refusal;
    this.host.log.error(`${this.label} - ${text}`);
    if (isTold) this.fail({ text, closes: reason });
    else this.close(reason);
    return false;
  }

  private answer(info: HubInfo): void {
    const { host, outbox, terms, account } = this;
    const { site, options, login } = terms;
    const headers = host.headersSupported && info.headers;
    this.remoteServer = info.serverName === '' ? info.serverId : info.serverName;
    this.remoteCluster = info.cluster;
    this.remoteDomain = info.domain;
    this.compression = info.compression === '' ? 'not supported' : 'off';
    outbox.withHeaders = headers;
    const { isHub, denyImports } = options;
    const facts = { site, account: account.name, login, isHub, headers, compression: this.compression, denyImports };
    this.send(Buffer.from(connectLine(facts), 'utf8'));
    host.log.debug(`${this.label} - Remote leafnode connect msg sent`);
    this.stage = 'awaits-connect-info';
    this.stageDeadlineMs = this.lastReadMs + CONNECT_INFO_MS;
    this.armDeadline();
  }

  private open(): void {
    const { host, terms, keepalive } = this;
    this.stage = 'open';
    this.stageDeadlineMs = NEVER;
    const interval = Math.min(FIRST_PING_MS, host.limits.pingIntervalMs);
    keepalive.scheduleFirst(this.lastReadMs, interval, host.io.random.fraction());
    this.armDeadline();
    const { domain } = terms.site;
    if (domain !== this.remoteDomain || !terms.site.hasJetStream) {
      const domains = `local ${JSON.stringify(domain)}, remote ${JSON.stringify(this.remoteDomain)}`;
      host.log.notice(`${this.label} - JetStream using domains: ${domains}`);
    } else host.log.debug(`${this.label} - Adding deny [$JS.API.> $KV.> $OBJ.>] for account "${this.account.name}"`);
    terms.events.opened();
    this.announcer = new InterestAnnouncer(this, terms.interest, host.io.timers);
  }

  // ── verbs ────────────────────────────────────────────────────────────────────────────────────────────────────────

  protected override received(buffer: Buffer, start: number, end: number): void {
    const { parser, traffic, terms } = this;
    terms.inbound.source = this;
    parser.read(buffer, start, end);
    traffic.inMessages += parser.messagesIn;
    traffic.inBytes += parser.bytesIn;
    parser.messagesIn = 0;
    parser.bytesIn = 0;
  }

  message(message: Message): void {
    if (!this.hasGreeting()) return;
    const { account } = this;
    const { subject, subjectStart, subjectEnd } = message;
    // A hub says itself what it takes; a leaf is told, and what it should not have sent is dropped.
    if (this.isSpoke && !this.permissions.mayReceive(subject, subjectStart, subjectEnd)) return;
    if (account.mappings !== null) {
      account.applyMappings(message);
      // The peer knows nothing of the groups that subscribe to what the subject is mapped to.
      if (message.subject !== subject && message.queueGroups?.length === 0) message.queueGroups = null;
    }
    showDeliverSubject(message);
    account.route(message);
  }

  subscribe(subject: string, queueGroup: string, weight: number): void {
    if (!this.hasGreeting()) return;
    const { peerInterest, host } = this;
    if (subject === this.loopSubject) {
      this.endLoop();
      return;
    }
    if (!isFreeInterest(subject) && isLiteral(subject) && !this.permissions.maySendText(subject)) {
      this.refuseInterest(subject);
      return;
    }
    if (host.limits.maxSubscriptions > 0 && peerInterest.size >= host.limits.maxSubscriptions) {
      this.fail(PeerErrors.maximumSubscriptions);
      return;
    }
    if (!isSubscribableSubject(subject)) {
      host.log.error(`${this.label} - Could not insert subscription: sublist: invalid subject`);
      this.fail({ text: 'Invalid Subscription', closes: null });
      return;
    }
    peerInterest.set(subject, queueGroup, weight);
  }

  unsubscribe(subject: string, queueGroup: string): void {
    this.peerInterest.remove(subject, queueGroup);
  }

  ping(): void {
    this.send(PONG);
  }

  pong(): void {
    this.keepalive.answered(this.lastReadMs);
  }

  peerError(text: string): void {
    const { log } = this.host;
    log.error(`${this.label} - Leafnode Error ${text}`);
    const consequence = consequenceOf(text, this.account.name);
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

  /** Whether the hub has said INFO, without which nothing else is taken. */
  private hasGreeting(): boolean {
    if (this.stage !== 'awaits-info') return true;
    this.violation(null, 'Leafnode sent something before INFO');
    return false;
  }

  private endLoop(): void {
    const text = loopText(this.account.name);
    this.reconnectDelayMs = DELAY_AFTER_LOOP_MS;
    this.host.log.error(`${this.label} - ${text}`);
    this.fail({ text, closes: 'Protocol Violation' });
  }

  /** A hub was not told our permissions and means no harm; a leaf was. */
  private refuseInterest(subject: string): void {
    const { text } = subscriptionViolation(subject, '');
    this.host.log.debug(`${this.label} - ${text}`);
    if (this.isSpoke) return;
    this.reconnectDelayMs = DELAY_AFTER_VIOLATION_MS;
    this.host.log.error(
      `${this.label} - Subscription Violation on ${JSON.stringify(subject)} - Check other side configuration`,
    );
    this.fail({ text, closes: 'Protocol Violation' });
  }

  // ── interest and messages for the hub ────────────────────────────────────────────────────────────────────────────

  mayAdvertise(subject: string): boolean {
    return this.permissions.mayAdvertise(subject);
  }

  interestTold(): void {
    this.isTold = true;
  }

  override deliver(subscription: Subscription, message: Message): boolean {
    if (!this.isTold || this.state !== 'open') return false;
    const { outbox } = this;
    if (!outbox.holds(message)) {
      if (this.cameFrom(message) || !outbox.begin(message)) return false;
      message.links.push(this);
    }
    if (subscription.queueGroup !== '') outbox.addQueueGroup(subscription.queueGroup);
    return true;
  }

  sendCollected(message: Message): void {
    this.outbox.send(message);
  }

  override written(): void {
    super.written();
    this.announcer?.proceed();
  }

  private cameFrom(message: Message): boolean {
    const { source } = message;
    if (source === null || source.sinkKind !== 'leaf') return false;
    return (
      source === this || (this.remoteCluster !== '' && (source as LeafConnection).remoteCluster === this.remoteCluster)
    );
  }

  // ── deadlines and the end ────────────────────────────────────────────────────────────────────────────────────────

  protected override get writeLimitMs(): number {
    return this.terms.writeDeadlineMs > 0 ? this.terms.writeDeadlineMs : super.writeLimitMs;
  }

  protected override waitsFurther(nowMs: number): boolean {
    return this.terms.waitsForWrites && nowMs - this.lastWriteMs < this.writeLimitMs * WRITE_LIMITS_MAX;
  }

  protected override nextOwnDeadlineMs(): number {
    return Math.min(this.stageDeadlineMs, this.keepalive.dueMs);
  }

  protected override ownDeadlinePassed(nowMs: number): void {
    const { host, keepalive } = this;
    if (this.stageDeadlineMs <= nowMs) {
      this.handshakeTimedOut();
      return;
    }
    if (keepalive.dueMs > nowMs) return;
    const { pingIntervalMs, pingsOutMax } = host.limits;
    const decision = keepalive.decide(nowMs, pingIntervalMs, pingsOutMax, null);
    if (decision === 'ping') this.send(PING);
    else if (decision === 'stale') {
      host.log.debug(`${this.label} - Stale Client Connection - Closing`);
      this.fail(PeerErrors.staleConnection);
    }
  }

  private handshakeTimedOut(): void {
    if (this.stage === 'awaits-info') {
      this.close('Read Error');
      return;
    }
    const text = 'Stale Leaf Node Connection - Closing';
    this.host.log.debug(`${this.label} - ${text}`);
    this.fail({ text, closes: 'Stale Connection' });
  }

  protected override released(): void {
    const { host, closedReason } = this;
    const remote = this.remoteServer === '' ? '' : ` - Remote: ${this.remoteServer}`;
    host.log.notice(`${this.label} - Leafnode connection closed: ${closedReason}${remote}`);
    this.announcer?.stop();
    this.peerInterest.clear();
    this.terms.events.lost(this.reconnectDelayMs);
  }
}

/** Interest that permissions say nothing about: detection of loops, and replies routed between clusters. */
function isFreeInterest(subject: string): boolean {
  return isLoopSubject(subject) || subject.startsWith('_GR_.') || subject.startsWith('$GR.');
}
