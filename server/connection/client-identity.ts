/**
 * Who a client is: what it said of itself, the account it belongs to, and what it may do and have there.
 *
 *     awaits CONNECT ─assume─► of an account ─assume─► of another one (a second CONNECT) ─leaveAccount─► of none
 */

import type { Permissions } from '../account/permissions.ts';
import type { Socket } from '../io/io.ts';
import { type ConnectOptions, defaultConnectOptions } from '../protocol/connect-options.ts';
import type { ParserLimits } from '../protocol/client-parser.ts';
import { type PeerError, PeerErrors, revokedSubscription } from '../protocol/errors.ts';
import { goQuoteBytes } from '../protocol/go-quote.ts';
import { millisecondsText } from '../protocol/wall-time.ts';
import { authUser, describeClient } from './client-description.ts';
import { ClientReceiver } from './client-receiver.ts';
import { ClientRights } from './client-rights.ts';
import type { ConnectionHost, Identity, Login } from './connection-host.ts';

/** Of those that have not said anything. */
const UNSAID: Readonly<ConnectOptions> = Object.freeze(defaultConnectOptions());

export abstract class ClientIdentity extends ClientReceiver implements Login {
  options: Readonly<ConnectOptions> = UNSAID;
  user = '';
  awaitsConnect: boolean;
  protected connectReceived = false;
  permissions: Permissions | null = null;
  readonly nonce: string;

  private isCounted = false;
  protected rights: ClientRights | null = null;
  /** Set only when publishing is restricted. */
  protected publishRights: ClientRights | null = null;
  /** What follows the number in its log lines; `null`: what `options` say. */
  protected description: string | null = '';

  constructor(host: ConnectionHost, socket: Socket, id: number) {
    super(host, socket, id);
    this.awaitsConnect = host.authRequired;
    this.nonce = host.makeNonce();
  }

  get connectionType(): string {
    return this.isWebSocket ? 'WEBSOCKET' : 'STANDARD';
  }

  get label(): string {
    const { remote, webSocket } = this.socket;
    const address = `${remote.host}:${remote.port}`;
    if (!webSocket) return `${address} - cid:${this.id}${this.descriptionNow}`;
    const { forwardedFor: from } = webSocket;
    const origin = from === '' ? '' : `${from.includes(':') ? `[${from}]` : from}/`;
    return `${origin}${address} - wid:${this.id}${this.descriptionNow}`;
  }

  get isWebSocket(): boolean {
    return Boolean(this.socket.webSocket);
  }

  protected get descriptionNow(): string {
    return this.description ?? describeClient(this.options, this.user, this.account?.name ?? '');
  }

  get certificate(): Uint8Array | null {
    return this.socket.tls?.certificate ?? null;
  }

  /** How many subscriptions it may have; 0: any number. */
  protected get maxSubscriptions(): number {
    const { maxSubscriptions } = this.host.limits;
    return this.account === null ? maxSubscriptions : this.account.limits.maxSubscriptions(maxSubscriptions);
  }

  /** The server's limits, or those of the account where they are tighter. */
  protected get parserLimits(): ParserLimits {
    const { limits } = this.host;
    const maxPayloadBytes = this.account?.limits.maxPayloadBytes(limits.maxPayloadBytes) ?? limits.maxPayloadBytes;
    return maxPayloadBytes === limits.maxPayloadBytes ? limits : { ...limits, maxPayloadBytes };
  }

  /** Makes the client who it turned out to be; false if its account has no room for it, which ends the connection. */
  protected assume(identity: Identity | null): boolean {
    if (identity === null) return true;
    const { account, user, permissions } = identity;
    this.leaveAccount();
    const { limits } = account;
    limits.clients++;
    this.isCounted = true;
    this.account = account;
    this.host.clientsChanged(account);
    this.user = user;
    this.permissions = permissions;
    this.rights = permissions === null ? null : new ClientRights(permissions, this.host.io.clock);
    this.publishRights = permissions?.restrictsPublishing === true ? this.rights : null;
    this.deliveryRights = this.rights?.grow === true ? this.rights : null;
    this.awaitsConnect = false;
    this.limitsChanged();
    const { maxSubscriptions, subscriptions } = this;
    if (limits.hasTooManyClients) this.complain(PeerErrors.maximumAccountConnections);
    else if (maxSubscriptions > 0 && subscriptions.size > maxSubscriptions) {
      // nats-server closes those who have just as many as they may, too, at every reload; they would come back as they were.
      this.complain(PeerErrors.loweredSubscriptions);
    }
    return !this.isClosed;
  }

  /** The account's limits are others than before. */
  protected abstract limitsChanged(): void;

  protected leaveAccount(): void {
    const { account, isCounted } = this;
    this.isCounted = false;
    if (!isCounted || account === null) return;
    account.limits.clients--;
    this.host.clientsChanged(account);
  }

  /** Tells the log of the error too, in words of its own if there are any. */
  complain(error: PeerError, text: string = error.text): void {
    this.host.log.error(`${this.label} - ${text}`);
    this.fail(error);
  }

  /** As `complain`; whoever has too many may go on asking for more. */
  protected complainOfSubscriptions(): void {
    const nowMs = this.host.io.clock.monotonicMs();
    const error = PeerErrors.maximumSubscriptions;
    if (this.account?.limits.subscriptionNotices.isDue(nowMs) === true) this.complain(error);
    else this.fail(error);
  }

  protected refuse(options: Readonly<ConnectOptions> | null): void {
    const who = options === null || saysNothing(options) ? '' : ` - ${authUser(options)}`;
    this.host.log.error(`${this.label} - authentication error${who}`);
    this.host.connectionRefused(this, options !== null);
    this.fail(PeerErrors.authorizationViolation);
  }

  /** Users, permissions or accounts have changed: whether it may stay, and with which of its subscriptions. */
  reconsider(): void {
    const { host } = this;
    if (this.isClosed) return;
    if (!this.connectReceived && host.authRequired) {
      this.leaveAccount();
      this.account = null;
      this.awaitsConnect = true;
      this.armDeadline();
      return;
    }
    const { options, user } = this;
    // Who is known by a certificate may have said any name.
    if (!host.hasUserOf(options.user === '' || user === '' ? options : { ...options, user })) {
      // Whoever's user is gone is told nothing: it may come back as another one's.
      this.close('Client Closed');
      return;
    }
    const settle = (decided: Identity | null): void => this.settle(decided);
    const identity = this.connectReceived
      ? host.authenticate(this.options, this, settle)
      : host.identityWithoutConnect(this);
    if (identity !== 'later') settle(identity);
  }

  private settle(identity: Identity | null): void {
    if (this.isClosed) return;
    if (identity === null) this.refuse(this.options);
    else if (this.account !== null && identity.account !== this.account) this.close('Client Closed');
    else if (this.assume(identity) && identity.permissions !== null) this.dropForbidden(identity.permissions);
  }

  private dropForbidden(permissions: Permissions): void {
    for (const each of this.subscriptions.all()) {
      const { subject, queueGroup, sid } = each;
      if (permissions.maySubscribe(subject, queueGroup)) {
        if (permissions.needsDeliveryCheck(subject)) this.deliveryRights = this.rights;
        continue;
      }
      this.remove(each);
      this.fail(revokedSubscription(subject, queueGroup, sid));
      const queue = queueGroup === '' ? '' : ` using queue ${goQuoteBytes(queueGroup)}`;
      const what = `sub ${goQuoteBytes(subject)}${queue} (sid ${goQuoteBytes(sid)})`;
      this.host.log.notice(`Removed ${what} for ${authUser(this.options)} - not authorized`);
    }
  }

  // ── what others see ──────────────────────────────────────────────────────────────────────────────────────────────

  requestInfo(isDetailed: boolean): string {
    const { options, host } = this;
    const acc = this.account?.name;
    const rtt = Math.round(this.rttMs * 1_000) * 1_000 || undefined;
    if (!isDetailed) return JSON.stringify({ acc, rtt });
    return JSON.stringify({
      start: millisecondsText(this.startWallMs),
      host: this.socket.remote.host,
      id: this.id,
      acc,
      user: this.user || undefined,
      name: options.name || undefined,
      lang: options.lang || undefined,
      ver: options.version || undefined,
      rtt,
      server: host.name,
      kind: 'Client',
      client_type: this.isWebSocket ? 'websocket' : 'nats',
    });
  }
}

function saysNothing({ nkey, user, authToken }: Readonly<ConnectOptions>): boolean {
  return nkey === '' && user === '' && authToken === '';
}
