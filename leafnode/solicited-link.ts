/**
 * The link that this side has dialled: how it and its hub come to know each other, from the moment the socket stands.
 *
 *     connected ──► [TLS] ──► [WebSocket] ──► awaits INFO ──INFO──► [TLS] ──► [compression: INFO ──► awaits INFO]
 *                   first     first_info_timeout each            if asked for               STEP_MS, compressed
 *
 *         ──► [reads credentials] ──► CONNECT ──► awaits the second INFO ──INFO {connect_info}──► open
 *                STEP_MS                                STEP_MS
 *
 * What is in brackets is left out unless it is configured or agreed on. Interest and messages of the hub are taken from
 * the CONNECT on. Whatever was read in clear and not understood when encryption or compression begins is forgotten:
 * nobody but the hub may say the first word of what follows.
 */

import { Buffer } from 'node:buffer';
import type { ConnectionHost } from '../server/connection/connection-host.ts';
import { handshakeFailure } from '../server/connection/handshake-failure.ts';
import type { IoError } from '../server/io/io.ts';
import { hostPort } from './dial.ts';
import { type ClosedReason, PeerErrors } from '../server/protocol/errors.ts';
import { fileLogin, keyLogin, type SignedLogin } from './leaf-credentials.ts';
import { type HubInfo, readHubInfo } from './hub-info.ts';
import { LeafConnection } from './leaf-connection.ts';
import { compressionLine, connectLine, refusalOf } from './leaf-handshake.ts';
import { LeafPermissions, type LinkDenies, SYSTEM_OWN } from './leaf-permissions.ts';
import type { LeafSession } from './leaf-session.ts';
import { LinkCompression } from './link-compression.ts';
import type { LinkSocket } from './link-socket.ts';
import type { LinkTerms } from './link-terms.ts';
import type { WebSocket } from './websocket/web-socket.ts';

const STEP_MS = 2000;
const TLS_MISMATCH =
  'TLS configuration mismatch: Hub requires TLS but leafnode remote is not configured for TLS. When using a proxy, ensure TLS leafnode configuration matches the Hub requirements.';

/** Ends of a link that what the hub has just said explains better than they do themselves. */
const ENDS_BY_HUB: ReadonlySet<ClosedReason | null> = new Set<ClosedReason | null>([
  null,
  'Client Closed',
  'Read Error',
  'Write Error',
  'Protocol Violation',
]);

type Awaited = 'handshake' | 'upgrade' | 'info' | 'compressed info' | 'credentials' | 'connect info' | 'nothing';

/** While these are awaited the hub may not speak of interest and messages. */
const BEFORE_LOGIN: ReadonlySet<Awaited> = new Set<Awaited>(['handshake', 'upgrade', 'info', 'compressed info']);

export class SolicitedLink extends LeafConnection {
  override readonly isSpoke: boolean;
  private readonly linkSocket: LinkSocket;
  private readonly terms: LinkTerms;
  private readonly denies: LinkDenies;
  private readonly joined: LeafSession;
  private readonly agreement: LinkCompression;
  private awaits: Awaited = 'info';
  private isEncrypted = false;
  private nonce = '';
  /** In the limits of its account. */
  private isCounted = false;
  /** The last -ERR of the hub, or why this side cannot log in, and when the hub had said the last thing. */
  private complaint: { readonly text: string; readonly readMs: number } | null = null;

  constructor(host: ConnectionHost, socket: LinkSocket, id: number, terms: LinkTerms) {
    super(host, terms.webSocket ?? socket, id, terms);
    const { options, site, interest } = terms;
    this.linkSocket = socket;
    this.terms = terms;
    this.isSpoke = !options.isHub;
    const ownDomain = site.hasJetStream ? site.domain : '';
    const own = site.isSystemAccount(interest.account) ? SYSTEM_OWN : [];
    const [denyExports, denyImports] = [
      [...options.denyExports, ...own],
      [...options.denyImports, ...own],
    ];
    this.denies = { denyExports, denyImports, ownDomain, ...(options.isHub && { inbound: null }) };
    this.isIsolated = terms.keepsLinksApart || options.isIsolated;
    this.joined = this.join(interest, new LeafPermissions(this.denies, null, null));
    this.joined.spool = terms.spool;
    this.agreement = new LinkCompression(socket, options.compression);
  }

  connected(): void {
    this.host.log.notice(`${this.label} - Leafnode connection created for account: ${this.accountName} `);
    const { options, encryption, webSocket } = this.terms;
    const awaitInfo = (): void => this.await('info', options.firstInfoTimeoutMs);
    const begin = webSocket === null ? awaitInfo : (): void => this.upgrade(webSocket, awaitInfo);
    if (encryption.isFirst) this.shakeHands(begin);
    else begin();
  }

  private upgrade(webSocket: WebSocket, next: () => void): void {
    const { host, terms } = this;
    const { url, options } = terms;
    const offer = {
      host: hostPort(url),
      path: url.webSocketPath ?? '',
      deflates: options.compressesFrames,
      leavesUnmasked: options.asksForNoMasking,
    };
    webSocket.onBroken = (failure) => this.violation(null, `websocket: ${failure}`);
    this.await('upgrade', options.firstInfoTimeoutMs);
    webSocket.upgrade(offer, (failure) => {
      if (this.awaits !== 'upgrade' || this.isClosed) return;
      if (failure !== null) {
        this.notUpgraded(failure);
        return;
      }
      host.log.debug(`${this.label} - Leafnode compression=${webSocket.isCompressed} masking=${webSocket.isMasked}`);
      next();
    });
  }

  private notUpgraded(failure: string): void {
    this.host.log.error(`${this.label} - Error soliciting websocket connection: ${failure}`);
    this.abort('Read Error');
  }

  // ── what the hub says of itself ──────────────────────────────────────────────────────────────────────────────────

  info(json: string): void {
    const info = readHubInfo(json);
    if (typeof info === 'string') {
      this.violation(null, info);
      return;
    }
    switch (this.awaits) {
      case 'info':
        this.greeted(info);
        return;
      case 'compressed info':
        this.logIn(info);
        return;
      case 'handshake':
      case 'upgrade':
      case 'credentials':
        this.violation(null, 'Leafnode sent INFO in the middle of the handshake');
        return;
      case 'connect info':
      case 'nothing':
        this.learn(info);
        if (this.awaits === 'connect info' && info.connectInfo) this.begin();
    }
  }

  private greeted(info: HubInfo): void {
    const refusal = refusalOf(info);
    if (refusal !== null) {
      const { text, reason, isTold } = refusal;
      this.host.log.error(`${this.label} - ${text}`);
      if (isTold) this.fail({ text, closes: reason });
      else this.close(reason);
      return;
    }
    this.nonce = info.nonce;
    const { encryption, options } = this.terms;
    const isNeeded = encryption.isNeeded(info.tlsRequired);
    if (isNeeded && options.proxy !== null && encryption.isLeftToHub) {
      this.host.log.error(`${this.label} - ${TLS_MISMATCH}`);
      this.abort('TLS Handshake Failure');
    } else if (isNeeded && !this.isEncrypted) this.shakeHands(() => this.agree(info));
    else this.agree(info);
  }

  private shakeHands(next: () => void): void {
    const { host, terms } = this;
    host.log.debug(`${this.label} - Starting TLS leafnode client handshake`);
    this.forgetUnread();
    this.await('handshake', terms.encryption.timeoutMs);
    terms.encryption.shake(this.linkSocket, terms.url.host, (failure) => {
      if (this.awaits !== 'handshake' || this.isClosed) return;
      if (failure !== null) {
        host.log.error(`${this.label} - TLS leafnode handshake error: ${failure}`);
        this.abort('TLS Handshake Failure');
        return;
      }
      const { version, cipher } = this.linkSocket.tls ?? { version: '', cipher: '' };
      host.log.debug(`${this.label} - TLS handshake complete, version ${version}, cipher suite ${cipher}`);
      this.isEncrypted = true;
      next();
    });
  }

  /** Settles compression. Where there is any, the hub greets again. */
  private agree(info: HubInfo): void {
    const { agreement, terms } = this;
    // Not twice.
    const peer = terms.webSocket?.isCompressed === true ? 'off' : info.compression;
    const compresses = agreement.agree(peer, this.monotonicMs() - this.connectedMs);
    this.compression = agreement.mode;
    if (compresses === null) {
      const text = `unsupported route compression mode ${JSON.stringify(info.compression)}`;
      this.host.log.error(`${this.label} - ${text}`);
      this.fail({ text, closes: 'Protocol Violation' });
    } else if (compresses) {
      this.greet(Buffer.from(compressionLine(terms.site, this.id, agreement.told), 'utf8'));
      this.forgetUnread();
      agreement.begin((detail) => this.violation(null, detail));
      this.await('compressed info', STEP_MS);
    } else this.logIn(info);
  }

  private learn(info: HubInfo): void {
    const { terms, joined } = this;
    const urls = (terms.webSocket === null ? info.leafnodeUrls : info.webSocketUrls) ?? [];
    if (terms.options.followsDiscoveredServers && urls.length > 0) terms.events.urlsTold(urls);
    if (info.exports !== null || info.imports !== null) {
      joined.permissions = new LeafPermissions(this.denies, info.exports, info.imports);
    }
    if (info.remoteAccount !== '') this.remoteAccount = info.remoteAccount;
    if (info.maxPayloadBytes <= 0) return;
    joined.outbox.payloadBytesMax = info.maxPayloadBytes;
    terms.webSocket?.limitMessages(info.maxPayloadBytes);
  }

  // ── login ────────────────────────────────────────────────────────────────────────────────────────────────────────

  private logIn(info: HubInfo): void {
    const { host, terms } = this;
    const { credentialsFile, nkeySeed } = terms.options;
    const nonce = info.nonce === '' ? this.nonce : info.nonce;
    this.learn(info);
    if (credentialsFile !== '') {
      host.log.debug(`${this.label} - Authenticating with credentials file ${JSON.stringify(credentialsFile)}`);
      this.await('credentials', STEP_MS);
      fileLogin(host.io.disk, credentialsFile, nonce, (signed) => this.connect(info, signed));
    } else this.connect(info, nkeySeed === '' ? null : keyLogin(nkeySeed, nonce));
  }

  private connect(info: HubInfo, signed: SignedLogin | string | null): void {
    if (this.isClosed) return;
    if (typeof signed === 'string') {
      this.complaint = { text: signed, readMs: this.lastReadMs };
      this.violation(null, signed);
      return;
    }
    const { host, terms, accountName: account, compression } = this;
    const { site, login, options } = terms;
    const { isHub, denyImports, asksForIsolation: isolate } = options;
    const headers = host.headersSupported && info.headers;
    this.remoteServer = info.serverName === '' ? info.serverId : info.serverName;
    this.remoteCluster = info.cluster;
    this.remoteDomain = info.domain;
    this.joined.outbox.withHeaders = headers;
    const facts = { site, account, login, signed, isHub, headers, compression, denyImports, isolate };
    this.send(Buffer.from(connectLine(facts), 'utf8'));
    host.log.debug(`${this.label} - Remote leafnode connect msg sent`);
    this.await('connect info', STEP_MS);
    // An old hub says nothing more.
    if (!info.infoOnConnect) this.begin();
  }

  private begin(): void {
    const { limits } = this.account;
    limits.leafnodes++;
    this.isCounted = true;
    if (limits.hasTooManyLeafnodes) {
      const error = PeerErrors.maximumAccountConnections;
      this.host.log.error(`${this.label} - ${error.text}`);
      this.fail(error);
      return;
    }
    this.awaits = 'nothing';
    this.open(this.joined);
  }

  protected override opened(): void {
    this.sayDomains();
    this.terms.events.opened();
  }

  // ── otherwise ────────────────────────────────────────────────────────────────────────────────────────────────────

  override ping(): void {
    if (this.sessionOfSpeaker() !== null) super.ping();
  }

  override pong(): void {
    super.pong();
    this.agreement.adjust(this.rttMs);
    this.compression = this.agreement.mode;
  }

  protected override sessionOfSpeaker(): LeafSession | null {
    if (this.awaits === 'nothing' || !BEFORE_LOGIN.has(this.awaits)) return this.joined;
    this.violation(null, 'Leafnode sent something before INFO');
    return null;
  }

  override peerError(text: string): void {
    this.complaint = { text: text.replace(/^'(.*)'$/, '$1'), readMs: this.lastReadMs };
    super.peerError(text);
  }

  private await(what: Awaited, timeoutMs: number): void {
    this.awaits = what;
    this.stageDeadlineMs = this.monotonicMs() + timeoutMs;
    this.armDeadline();
  }

  protected override handshakeTimedOut(): void {
    const { log } = this.host;
    switch (this.awaits) {
      case 'handshake':
        log.error(`${this.label} - TLS handshake timeout`);
        this.abort('TLS Handshake Failure');
        return;
      case 'upgrade':
        this.notUpgraded('i/o timeout');
        return;
      case 'info': {
        const hint = this.isEncrypted ? '' : ', which it may want to say encrypted (handshake_first)';
        log.error(`${this.label} - The remote did not say INFO${hint}`);
        this.close('Read Error');
        return;
      }
      default: {
        const text = 'Stale Leaf Node Connection - Closing';
        log.error(`${this.label} - ${text}: no answer to ${this.awaits}`);
        this.fail({ text, closes: 'Stale Connection' });
      }
    }
  }

  /**
   * With TLS 1.3 a hub says what it thinks of a certificate when this side has finished the handshake; by then its end
   * may already be known.
   */
  override closed(error: IoError | null): void {
    if (error !== null && !this.isOpen && (this.closedReason ?? 'Client Closed') === 'Client Closed') {
      this.host.log.error(`${this.label} - Leafnode connection error: ${handshakeFailure(error, null).text}`);
    }
    super.closed(error);
  }

  protected override released(): void {
    if (this.isCounted) this.account.limits.leafnodes--;
    this.isCounted = false;
    super.released();
    this.terms.events.lost(this.reconnectDelayMs, this.reasonOfEnd());
  }

  /** In the hub's own words, if an -ERR was the last that came from it. */
  private reasonOfEnd(): string {
    const { complaint, closedReason } = this;
    const isHubs = complaint?.readMs === this.lastReadMs && ENDS_BY_HUB.has(closedReason);
    return isHubs ? complaint.text : (closedReason ?? 'Client Closed');
  }
}
