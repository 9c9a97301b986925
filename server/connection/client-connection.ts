/**
 * A client's connection: what each verb of the client protocol does, and how messages reach the client.
 *
 *     accepted ─INFO─► awaits CONNECT ─identity─► open ─► closing ─► closed     (Connection)
 *
 * Where nobody has to say who they are, operations before CONNECT are accepted, as nats-server does. All that a message
 * has to be checked for is worked out beforehand into a few fields, so that the usual message pays for nothing.
 */

import { Buffer } from 'node:buffer';
import type { Account } from '../account/account.ts';
import type { Permissions } from '../account/permissions.ts';
import type { Socket } from '../io/io.ts';
import { type ClientOperations, ClientParser } from '../protocol/client-parser.ts';
import { type ConnectOptions, defaultConnectOptions, readConnect } from '../protocol/connect-options.ts';
import {
  type PeerError,
  PeerErrors,
  publishViolation,
  replyViolation,
  subscriptionViolation,
  tooManyTokens,
} from '../protocol/errors.ts';
import type { Message } from '../protocol/message.ts';
import { encodedBytesMax, writeLine, writeMessage } from '../protocol/message-encoder.ts';
import type { Producer, SinkKind } from '../ports.ts';
import { isSubscribableSubject, isValidLiteralSubjectBytes, tokenCount } from '../subject/subject.ts';
import { Subscription } from '../subject/subscription.ts';
import { CHUNK_BYTES_MAX } from './chunk-pool.ts';
import { Connection } from './connection.ts';
import type { ConnectionHost, Identity } from './connection-host.ts';
import { isReservedAsReply, isReservedToPublish } from './reserved-subjects.ts';
import { SidTable } from './sid-table.ts';

const PONG = Buffer.from('PONG\r\n');
const PING = Buffer.from('PING\r\n');
const OK = Buffer.from('+OK\r\n');
const CRLF = Buffer.from('\r\n');
const SYSTEM_QUEUE = '_sys_';
const NEVER = Number.POSITIVE_INFINITY;

/** How long a producer is stalled that feeds a receiver near its limit: at first, and when the receiver is full. */
const STALL_MS = 2;
const STALL_FULL_MS = 5;
const STALL_PER_READ_MS_MAX = 10;

export class ClientConnection extends Connection implements ClientOperations, Producer {
  readonly sinkKind: SinkKind = 'client';
  readonly subscriptions: SidTable = new SidTable();
  readonly options: ConnectOptions = defaultConnectOptions();
  account: Account | null = null;
  user = '';
  awaitsConnect: boolean;
  acceptsHeaders = false;
  holdCount = 0;
  stalls = 0;

  private readonly parser: ClientParser;
  private permissions: Permissions | null = null;
  /** Set only when publishing is restricted. */
  private publishPermissions: Permissions | null = null;
  /** Set once a subscription can match something that must not be delivered. */
  private deliveryPermissions: Permissions | null = null;
  private echo = true;
  private verbose = true;
  private pedantic = true;
  private noResponders = false;
  private connectReceived = false;
  private firstPongSent = false;
  private authDeadlineMs: number = NEVER;
  private stallMs = 0;

  constructor(host: ConnectionHost, socket: Socket, id: number) {
    super(host, socket, id);
    this.parser = new ClientParser(this, host.limits, host.inbound);
    this.awaitsConnect = host.authRequired;
  }

  get label(): string {
    const { host, port } = this.socket.remote;
    return `${host}:${port} - cid:${this.id}`;
  }

  /** The connection was accepted: greet the client. */
  connected(): void {
    const { host } = this;
    if (host.authRequired) this.authDeadlineMs = this.lastReadMs + host.limits.authTimeoutMs;
    else this.assume(host.identityWithoutConnect());
    this.keepalive.scheduleFirst(this.lastReadMs, host.limits.pingIntervalMs, host.io.random.fraction());
    this.send(host.clientInfo(this.id, this.socket.remote.host, null));
    this.armDeadline();
  }

  // ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────

  protected override received(buffer: Buffer, start: number, end: number): void {
    const { host, parser, traffic } = this;
    const { inbound } = host;
    inbound.source = this;
    inbound.producer = this;
    this.stallMs = 0;
    parser.read(buffer, start, end);
    if (parser.messagesIn > 0) this.lastActivityMs = this.lastReadMs;
    traffic.inMessages += parser.messagesIn;
    traffic.inBytes += parser.bytesIn;
    parser.messagesIn = 0;
    parser.bytesIn = 0;
    if (this.stallMs > 0) this.beginStall();
  }

  protected override continuesReading(): boolean {
    return this.state === 'open' && this.holdCount === 0;
  }

  resumeReading(): void {
    if (this.state === 'open') this.socket.resume();
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
    const identity = this.host.identityWithoutConnect();
    if (identity === null) {
      this.refuse('');
      return false;
    }
    this.assume(identity);
    return true;
  }

  connect(json: string): void {
    const { options, host } = this;
    this.lastActivityMs = this.lastReadMs;
    const firstConnect = !this.connectReceived;
    const problem = readConnect(json, options);
    if (problem !== null) {
      this.violation(null, problem);
      return;
    }
    if (firstConnect) this.keepalive.estimate(this.lastReadMs - this.connectedMs);
    else this.dropSubscriptions();
    this.connectReceived = true;
    const identity = host.authenticate(options);
    if (identity === null || options.account !== '' || options.newAccount) {
      this.refuse(options.user);
      return;
    }
    this.assume(identity);
    this.acceptsHeaders = host.headersSupported && options.headers;
    this.echo = options.echo;
    this.verbose = options.verbose;
    this.pedantic = options.pedantic;
    this.noResponders = options.noResponders;
    if (options.protocol < 0 || options.protocol > 1) this.fail(PeerErrors.invalidProtocol);
    else if (options.noResponders && !this.acceptsHeaders) this.fail(PeerErrors.noRespondersNeedHeaders);
    else this.acknowledge();
  }

  publishAnnounced(message: Message): void {
    if (!this.pedantic) return;
    const { subject, subjectStart, subjectEnd } = message;
    if (!isValidLiteralSubjectBytes(subject, subjectStart, subjectEnd)) this.fail(PeerErrors.invalidPublishSubject);
  }

  publish(message: Message): void {
    const account = this.account as Account;
    if (account.mappings !== null) account.applyMappings(message);
    const { subject, subjectStart, subjectEnd } = message;
    if (
      isReservedToPublish(subject, subjectStart, subjectEnd) ||
      (this.publishPermissions !== null && !this.publishPermissions.mayPublish(subject, subjectStart, subjectEnd))
    ) {
      this.fail(publishViolation(message.subjectText()));
      this.host.log.error(`${this.label} - Publish Violation - Subject "${message.subjectText()}"`);
      return;
    }
    const hasReply = message.replyEnd > message.replyStart;
    if (hasReply && isReservedAsReply(message.reply, message.replyStart, message.replyEnd)) {
      this.fail(replyViolation(message.replyText()));
      return;
    }
    this.acknowledge();
    const delivered = account.route(message);
    if (!delivered && hasReply && this.noResponders) this.tellNoResponders(message);
  }

  subscribe(subject: string, queueGroup: string, sid: string): void {
    const { host, permissions, subscriptions } = this;
    this.lastActivityMs = this.lastReadMs;
    const { limits } = host;
    if (queueGroup === SYSTEM_QUEUE || (permissions !== null && !permissions.maySubscribe(subject, queueGroup))) {
      this.fail(subscriptionViolation(subject, queueGroup));
      host.log.error(`${this.label} - Subscription Violation - Subject "${subject}", SID ${sid}`);
      return;
    }
    if (limits.maxSubscriptionTokens > 0 && tokenCount(subject) > limits.maxSubscriptionTokens) {
      this.fail(tooManyTokens(subject));
      return;
    }
    if (limits.maxSubscriptions > 0 && subscriptions.size >= limits.maxSubscriptions) {
      this.fail(PeerErrors.maximumSubscriptions);
      return;
    }
    if (!isSubscribableSubject(subject)) {
      this.fail(PeerErrors.invalidSubject);
      return;
    }
    if (subscriptions.get(sid) === undefined) {
      const subscription = new Subscription(this, subject, queueGroup, sid);
      if (permissions?.needsDeliveryCheck(subject) === true) this.deliveryPermissions = permissions;
      subscriptions.add(subscription);
      (this.account as Account).subscribe(subscription);
    }
    this.acknowledge();
  }

  unsubscribe(sid: string, max: number): void {
    const subscription = this.subscriptions.get(sid);
    this.lastActivityMs = this.lastReadMs;
    if (subscription !== undefined) {
      if (max > subscription.delivered) subscription.maxDeliveries = max;
      else this.remove(subscription);
    }
    this.acknowledge();
  }

  ping(): void {
    this.send(PONG);
    if (!this.connectReceived || this.firstPongSent) return;
    this.firstPongSent = true;
    if (this.options.protocol >= 1) {
      this.send(this.host.clientInfo(this.id, this.socket.remote.host, this.account));
    }
  }

  /** Sends an INFO that nobody asked for, to clients that expect such. */
  sendAsyncInfo(info: Uint8Array): void {
    if (this.firstPongSent && this.options.protocol >= 1) this.send(info);
  }

  pong(): void {
    this.keepalive.answered(this.lastReadMs);
  }

  peerError(text: string): void {
    this.host.log.error(`${this.label} - Client Error ${text}`);
    this.close('Protocol Violation');
  }

  violation(error: PeerError | null, detail: string): void {
    this.host.log.error(`${this.label} - ${detail}`);
    if (error === null) this.close('Protocol Violation');
    else this.fail(error);
  }

  // ── identity ─────────────────────────────────────────────────────────────────────────────────────────────────────

  private assume(identity: Identity | null): void {
    if (identity === null) return;
    this.account = identity.account;
    this.user = identity.user;
    this.permissions = identity.permissions;
    this.publishPermissions = identity.permissions?.restrictsPublishing === true ? identity.permissions : null;
    this.deliveryPermissions = null;
    this.awaitsConnect = false;
    this.authDeadlineMs = NEVER;
  }

  private refuse(user: string): void {
    const who = user === '' ? '' : ` - User "${user}"`;
    this.host.log.error(`${this.label} - authentication error${who}`);
    this.fail(PeerErrors.authorizationViolation);
  }

  // ── delivering ───────────────────────────────────────────────────────────────────────────────────────────────────

  override deliver(subscription: Subscription, message: Message): boolean {
    if (this.state !== 'open' || (message.source === this && !this.echo)) return false;
    if (this.deliveryPermissions !== null && this.deliveryPermissions.deniesDelivery(subscription, message)) {
      return false;
    }
    const { queue } = this;
    if (queue.isCongested && !this.pressOn(message.producer)) return false;
    subscription.delivered++;
    if (subscription.maxDeliveries > 0 && subscription.delivered >= subscription.maxDeliveries) {
      this.remove(subscription);
      if (subscription.delivered > subscription.maxDeliveries) return false;
    }
    const withHeaders = this.acceptsHeaders;
    const bytes = encodedBytesMax(message, subscription.sid);
    if (bytes > CHUNK_BYTES_MAX) return this.deliverLarge(subscription, message);
    if (queue.limit - queue.position < bytes && !queue.reserve(bytes)) return false;
    queue.position = writeMessage(queue.buffer, queue.position, message, subscription.sid, withHeaders);
    const { traffic } = this;
    traffic.outMessages++;
    traffic.outBytes += message.bodyEnd - (withHeaders ? message.bodyStart : message.payloadStart);
    return true;
  }

  /** A message that does not fit into one chunk: the line, then the body over as many chunks as it takes. */
  private deliverLarge(subscription: Subscription, message: Message): boolean {
    const { queue, traffic, acceptsHeaders } = this;
    const { sid } = subscription;
    const start = acceptsHeaders ? message.bodyStart : message.payloadStart;
    if (!queue.reserve(encodedBytesMax(message, sid) - message.bodyBytes)) return false;
    queue.position = writeLine(queue.buffer, queue.position, message, sid, acceptsHeaders);
    queue.append(message.body, start, message.bodyEnd);
    queue.append(CRLF, 0, CRLF.length);
    traffic.outMessages++;
    traffic.outBytes += message.bodyEnd - start;
    return this.state === 'open';
  }

  /** This receiver has much unsent: slow its producer down. False when the message is to be dropped instead. */
  private pressOn(producer: Producer | null): boolean {
    if (producer === null || producer === this) return true;
    const { queue, host } = this;
    if (queue.wantsHold) queue.hold(producer);
    else if (queue.isNearlyFull) {
      if (!host.limits.stallFastProducers) return false;
      this.stalls++;
      producer.stall(queue.isFull ? STALL_FULL_MS : STALL_MS);
    }
    return true;
  }

  stall(ms: number): void {
    this.stallMs = Math.min(this.stallMs + ms, STALL_PER_READ_MS_MAX);
  }

  private tellNoResponders(message: Message): void {
    const account = this.account as Account;
    const waiting = account.plainSubscriptionOf(this, message.reply, message.replyStart, message.replyEnd);
    if (waiting === null) return;
    const subject = message.subjectText();
    const size = 32 + subject.length;
    const line = `HMSG ${message.replyText()} ${waiting.sid} ${size} ${size}\r\n`;
    this.send(Buffer.from(`${line}NATS/1.0 503\r\nNats-Subject: ${subject}\r\n\r\n\r\n`, 'latin1'));
  }

  // ── ending ───────────────────────────────────────────────────────────────────────────────────────────────────────

  protected override released(): void {
    this.dropSubscriptions();
  }

  protected override nextOwnDeadlineMs(): number {
    return Math.min(this.authDeadlineMs, this.keepalive.dueMs);
  }

  protected override ownDeadlinePassed(nowMs: number): void {
    if (this.authDeadlineMs <= nowMs) {
      this.host.log.error(`${this.label} - Authentication Timeout`);
      this.fail(PeerErrors.authenticationTimeout);
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
    const decision = keepalive.decide(nowMs, pingIntervalMs, pingsOutMax, this.lastReadMs);
    if (decision === 'ping') this.send(PING);
    else if (decision === 'stale') {
      host.log.debug(`${this.label} - Stale Client Connection - Closing`);
      this.fail(PeerErrors.staleConnection);
    }
  }

  private remove(subscription: Subscription): void {
    this.subscriptions.delete(subscription.sid);
    this.account?.unsubscribe(subscription);
  }

  private dropSubscriptions(): void {
    const { account, subscriptions } = this;
    if (account !== null) for (const each of subscriptions.all()) account.unsubscribe(each);
    subscriptions.clear();
  }

  private acknowledge(): void {
    if (this.verbose) this.send(OK);
  }
}
