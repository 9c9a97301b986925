/**
 * A client's connection: what each verb of the client protocol does. How messages reach the client is the other half
 * (`client-receiver.ts`).
 *
 *     accepted ─INFO─► awaits CONNECT ─identity─► open ─► closing ─► closed     (Connection)
 *
 * Where nobody has to say who they are, operations before CONNECT are accepted, as nats-server does. All that a message
 * has to be checked for is worked out beforehand into a few fields, so that the usual message pays for nothing.
 *
 * A client that has not said who it is gets as little as possible: the parser and all the rest are made when its first
 * line is whole. Until then what it sent is kept elsewhere (`first-lines.ts`), and looked at by a parser that is dropped
 * again.
 */

import { Buffer } from 'node:buffer';
import type { Account } from '../account/account.ts';
import { type ClientOperations, ClientParser } from '../protocol/client-parser.ts';
import type { Socket } from '../io/io.ts';
import { type ConnectOptions, readConnect } from '../protocol/connect-options.ts';
import {
  type PeerError,
  PeerErrors,
  publishViolation,
  replyViolation,
  subscriptionViolation,
  tooManyTokens,
} from '../protocol/errors.ts';
import type { Message } from '../protocol/message.ts';
import { encodeInfo, type ServerInfo } from '../protocol/server-info.ts';
import type { Producer } from '../ports.ts';
import { isSubscribableSubject, isValidLiteralSubjectBytes, tokenCount } from '../subject/subject.ts';
import { Subscription } from '../subject/subscription.ts';
import { ClientIdentity } from './client-identity.ts';
import type { Identity } from './connection-host.ts';
import { FIRST_LINE_BYTES_MAX, type FirstLineOwner, FirstLineProbe, NOWHERE } from './first-lines.ts';
import { Keepalive } from './keepalive.ts';
import { isReservedAsReply, isReservedToPublish } from './reserved-subjects.ts';

const PONG = Buffer.from('PONG\r\n');
const PING = Buffer.from('PING\r\n');
const OK = Buffer.from('+OK\r\n');
const NOTHING = Buffer.alloc(0);
const LF = 10;
const SYSTEM_QUEUE = '_sys_';
const NEVER = Number.POSITIVE_INFINITY;

/** How long this client is stalled at most after one read, by the receivers it feeds. */
const STALL_PER_READ_MS_MAX = 10;

export class ClientConnection extends ClientIdentity implements ClientOperations, Producer, FirstLineOwner {
  holdCount = 0;
  isDeciding = false;
  firstLineAt: number = NOWHERE;
  /** It shook hands before anything was said. */
  isTlsFirst = false;

  protected parser: ClientParser | null = null;
  private verbose = true;
  private pedantic = true;
  private noResponders = false;
  private firstPongSent = false;
  private stallMs = 0;

  override arrived(): void {
    const { host } = this;
    if (!host.authRequired) this.assume(host.identityWithoutConnect(this));
    if (host.log.debugEnabled) host.log.debug(`${this.label} - Client connection created`);
  }

  // ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────

  protected override received(buffer: Buffer, start: number, end: number): void {
    const { parser } = this;
    if (parser !== null) this.parse(parser, buffer, start, end);
    else if (this.awaitsConnect) this.receivedFirst(buffer, start, end);
    else this.parse(this.makeParser(), buffer, start, end);
  }

  private parse(parser: ClientParser, buffer: Buffer, start: number, end: number): void {
    const { inbound } = this.host;
    inbound.source = this;
    inbound.producer = this;
    this.stallMs = 0;
    parser.read(buffer, start, end);
    if (parser.messagesIn > 0) this.count(parser);
    if (this.stallMs > 0) this.beginStall();
  }

  private count(parser: ClientParser): void {
    const { traffic } = this;
    this.heard();
    traffic.inMessages += parser.messagesIn;
    traffic.inBytes += parser.bytesIn;
    parser.messagesIn = 0;
    parser.bytesIn = 0;
  }

  /** Puts what is kept of the first line in front of these bytes, and keeps it while it is not whole. */
  private receivedFirst(buffer: Buffer, start: number, end: number): void {
    const { firstLines, limits, inbound } = this.host;
    const from = firstLines.putInFront(this, buffer, start);
    const lf = buffer.indexOf(LF, start);
    const isWhole = (lf >= 0 && lf < end) || end - from > FIRST_LINE_BYTES_MAX;
    if (!isWhole) {
      new FirstLineProbe(this, limits, inbound).look(buffer, from, end);
      if (this.isClosed) return;
      if (this.awaitsConnect) {
        firstLines.keep(this, buffer, from, end);
        return;
      }
    }
    firstLines.drop(this);
    this.parse(this.makeParser(), buffer, from, end);
  }

  private makeParser(): ClientParser {
    this.parser = this.newParser();
    return this.parser;
  }

  protected newParser(): ClientParser {
    return new ClientParser(this, this.parserLimits, this.host.inbound);
  }

  firstLineGivenUp(): void {
    this.host.log.debug(`${this.label} - Authentication Timeout`);
    this.fail(PeerErrors.authenticationTimeout);
  }

  protected override limitsChanged(): void {
    if (this.parser !== null) this.parser.limits = this.parserLimits;
  }

  protected override continuesReading(): boolean {
    return this.state === 'open' && this.holdCount === 0;
  }

  resumeReading(): void {
    if (this.state === 'open') this.socket.resume();
  }

  stall(ms: number): void {
    this.stallMs = Math.min(this.stallMs + ms, STALL_PER_READ_MS_MAX);
  }

  private beginStall(): void {
    this.holdCount++;
    this.host.io.timers.after(this.stallMs, () => {
      this.holdCount--;
      if (this.holdCount === 0) this.resumeReading();
    });
  }

  // ── verbs ────────────────────────────────────────────────────────────────────────────────────────────────────────

  beginWithoutConnect(): boolean {
    const identity = this.host.identityWithoutConnect(this);
    if (identity === null) {
      this.refuse(null);
      return false;
    }
    // As if it had said CONNECT, with nothing in it.
    this.connectReceived = true;
    return this.assume(identity);
  }

  connect(json: string): void {
    const { host } = this;
    this.lastActivityMs = this.lastReadMs;
    this.keepalive.estimate(this.lastReadMs - this.connectedMs);
    this.keepalive.scheduleFirst(this.lastReadMs, host.limits.pingIntervalMs, host.io.random.fraction());
    this.armDeadline();
    this.description = this.descriptionNow;
    const options = { ...this.options };
    this.options = options;
    const problem = readConnect(json, options);
    if (problem !== null) {
      this.violation(null, problem);
      return;
    }
    addCookies(options, this.socket);
    if (this.connectReceived) this.dropSubscriptions();
    const isFirst = !this.connectReceived;
    this.connectReceived = true;
    const identity = host.authenticate(options, this, (decided) => this.decided(decided, isFirst));
    if (identity === 'later') this.beginDeciding();
    else this.identified(identity, isFirst);
  }

  /** The client is not read before it is known who it is. */
  private beginDeciding(): void {
    this.awaitsConnect = true;
    this.isDeciding = true;
    this.holdCount++;
  }

  private decided(identity: Identity | null, isFirst: boolean): void {
    if (this.isClosed) return;
    this.isDeciding = false;
    this.holdCount--;
    this.identified(identity, isFirst);
    if (this.isClosed || this.parser === null) return;
    this.parse(this.parser, NOTHING, 0, 0);
    if (this.holdCount === 0) this.resumeReading();
  }

  private identified(identity: Identity | null, isFirst: boolean): void {
    const { host, options } = this;
    if (identity === null || options.account !== '' || options.newAccount) {
      this.refuse(options);
      return;
    }
    if (!this.assume(identity)) return;
    host.connectionIdentified(this, identity.account);
    if (isFirst) this.description = null;
    this.acceptsHeaders = host.headersSupported && options.headers;
    this.echo = options.echo;
    this.verbose = options.verbose;
    this.pedantic = options.pedantic;
    this.noResponders = options.noResponders;
    if (options.protocol < 0 || options.protocol > 1) this.complain(PeerErrors.invalidProtocol);
    else if (options.noResponders && !this.acceptsHeaders) this.complain(PeerErrors.noRespondersNeedHeaders);
    else this.acknowledge();
  }

  publishAnnounced(message: Message): void {
    if (!this.pedantic) return;
    const { subject, subjectStart, subjectEnd } = message;
    if (!isValidLiteralSubjectBytes(subject, subjectStart, subjectEnd)) this.fail(PeerErrors.invalidPublishSubject);
  }

  publish(message: Message): void {
    this.account?.applyMappings(message);
    this.publishMapped(message);
  }

  /** Publishes what came, under the subject it goes to. */
  protected publishMapped(message: Message): void {
    const account = this.account as Account;
    const { subject, subjectStart, subjectEnd } = message;
    if (
      isReservedToPublish(subject, subjectStart, subjectEnd) ||
      (this.publishRights !== null && !this.publishRights.mayPublish(subject, subjectStart, subjectEnd))
    ) {
      const text = message.subjectText();
      this.complain(publishViolation(text), `Publish Violation - Subject "${text}"`);
      return;
    }
    const hasReply = message.replyEnd > message.replyStart;
    if (hasReply && isReservedAsReply(message.reply, message.replyStart, message.replyEnd)) {
      const text = message.replyText();
      this.complain(replyViolation(text), `Publish Violation - Reply "${text}"`);
      return;
    }
    this.acknowledge();
    const delivered = account.route(message);
    if (!delivered && hasReply && this.noResponders) this.tellNoResponders(message);
  }

  subscribe(subject: string, queueGroup: string, sid: string): void {
    const { host, permissions, subscriptions } = this;
    this.heard();
    const { limits } = host;
    if (queueGroup === SYSTEM_QUEUE || (permissions !== null && !permissions.maySubscribe(subject, queueGroup))) {
      const what = `Subject "${subject}"${queueGroup === '' ? '' : `, Queue: "${queueGroup}"`}, SID ${sid}`;
      this.complain(subscriptionViolation(subject, queueGroup), `Subscription Violation - ${what}`);
      return;
    }
    if (limits.maxSubscriptionTokens > 0 && tokenCount(subject) > limits.maxSubscriptionTokens) {
      const what = `Subject "${subject}", SID ${sid}`;
      this.complain(tooManyTokens(subject), `Subscription Violation Too Many Tokens - ${what}`);
      return;
    }
    const { maxSubscriptions } = this;
    if (maxSubscriptions > 0 && subscriptions.size >= maxSubscriptions) {
      this.complainOfSubscriptions();
      return;
    }
    if (!isSubscribableSubject(subject)) {
      this.fail(PeerErrors.invalidSubject);
      return;
    }
    if (subscriptions.get(sid) === undefined) {
      const subscription = new Subscription(this, subject, queueGroup, sid);
      if (permissions?.needsDeliveryCheck(subject) === true) this.deliveryRights = this.rights;
      subscriptions.add(subscription);
      (this.account as Account).subscribe(subscription);
    }
    this.acknowledge();
  }

  unsubscribe(sid: string, max: number): void {
    const subscription = this.subscriptions.get(sid);
    this.heard();
    if (subscription !== undefined) {
      if (max > subscription.delivered) subscription.maxDeliveries = max;
      else this.remove(subscription);
    }
    this.acknowledge();
  }

  ping(): void {
    this.send(PONG);
    this.keepalive.heardMs = this.lastReadMs;
    if (!this.connectReceived || this.firstPongSent) return;
    this.firstPongSent = true;
    if (this.options.protocol >= 1) {
      this.send(encodeInfo(this.host.clientInfo(this, this.account)));
    }
  }

  /** Sends an INFO that nobody asked for, to a client that expects such; false to others. */
  sendAsyncInfo(info: ServerInfo): boolean {
    const isExpected = this.firstPongSent && this.options.protocol >= 1;
    if (isExpected) this.send(encodeInfo(this.host.infoAtPort(info)));
    return isExpected;
  }

  pong(): void {
    this.keepalive.answered(this.lastReadMs);
  }

  peerError(text: string): void {
    this.host.log.error(`${this.label} - Client Error ${text}`);
    this.close('Parse Error');
  }

  violation(error: PeerError | null, detail: string): void {
    this.host.log.error(`${this.label} - ${detail}`);
    if (error === null) this.close('Protocol Violation');
    else this.fail(error);
  }

  // ── ending ───────────────────────────────────────────────────────────────────────────────────────────────────────

  protected override released(): void {
    this.host.firstLines.drop(this);
    this.dropSubscriptions();
    this.leaveAccount();
  }

  /** As long as a CONNECT has to come, it has to come before this. */
  private get authDeadlineMs(): number {
    return this.awaitsConnect && !this.isDeciding ? this.connectedMs + this.host.limits.authTimeoutMs : NEVER;
  }

  /** Pings of a client that has not said CONNECT. */
  private get firstPingMs(): number {
    return this.connectedMs + this.host.limits.pingIntervalMs;
  }

  protected override makeKeepalive(): Keepalive {
    return new Keepalive(this.firstPingMs);
  }

  protected override nextOwnDeadlineMs(): number {
    return Math.min(this.authDeadlineMs, this.pingDueMs ?? this.firstPingMs);
  }

  protected override ownDeadlinePassed(nowMs: number): void {
    if (this.authDeadlineMs <= nowMs) {
      this.firstLineGivenUp();
      return;
    }
    const { keepalive, host } = this;
    if (keepalive.dueMs > nowMs) return;
    if (this.holdCount > 0) {
      // What the client sent is not read meanwhile, so it can't be blamed for silence.
      keepalive.dueMs = nowMs + host.limits.pingIntervalMs;
      return;
    }
    const { pingIntervalMs, pingsOutMax } = host.limits;
    const decision = keepalive.decide(nowMs, pingIntervalMs, pingsOutMax, keepalive.heardMs);
    if (decision === 'ping') this.send(PING);
    else if (decision === 'stale') {
      host.log.debug(`${this.label} - Stale Client Connection - Closing`);
      this.fail(PeerErrors.staleConnection);
    }
  }

  /** The client sent messages, or changed its interest. */
  private heard(): void {
    this.lastActivityMs = this.lastReadMs;
    this.keepalive.heardMs = this.lastReadMs;
  }

  private acknowledge(): void {
    if (this.verbose) this.send(OK);
  }
}

/** What CONNECT left out may stand in the cookies of a browser. */
function addCookies(options: ConnectOptions, { webSocket }: Socket): void {
  const cookies = webSocket?.cookies ?? null;
  if (cookies === null) return;
  options.jwt ||= cookies.jwt;
  options.user ||= cookies.user;
  options.pass ||= cookies.pass;
  options.authToken ||= cookies.token;
}
