/**
 * The link that this side has dialled: how it and its hub come to know each other, from the moment the socket stands.
 *
 *     connected ──► awaits INFO ──INFO──► awaits the second INFO ──INFO {connect_info}──► open
 *                   first_info_timeout    (CONNECT was sent)  CONNECT_INFO_MS
 *
 * Interest and messages of the hub are taken as they come, once it has said INFO.
 */

import { Buffer } from 'node:buffer';
import type { ConnectionHost } from '../server/connection/connection-host.ts';
import type { Socket } from '../server/io/io.ts';
import { type HubInfo, readHubInfo } from './hub-info.ts';
import { LeafConnection } from './leaf-connection.ts';
import { connectLine, refusalOf } from './leaf-handshake.ts';
import { LeafPermissions, type LinkDenies } from './leaf-permissions.ts';
import type { LeafSession } from './leaf-session.ts';
import type { LinkTerms } from './link-terms.ts';

const CONNECT_INFO_MS = 2000;

export class SolicitedLink extends LeafConnection {
  override readonly isSpoke: boolean;
  private readonly terms: LinkTerms;
  private readonly denies: LinkDenies;
  private readonly joined: LeafSession;
  private awaits: 'info' | 'connect info' | 'nothing' = 'info';

  constructor(host: ConnectionHost, socket: Socket, id: number, terms: LinkTerms) {
    super(host, socket, id, terms);
    const { options, site, interest } = terms;
    this.terms = terms;
    this.isSpoke = !options.isHub;
    this.denies = { ...options, ownDomain: site.hasJetStream ? site.domain : '' };
    this.joined = this.join(interest, new LeafPermissions(this.denies, null, null));
  }

  connected(): void {
    this.host.log.notice(`${this.label} - Leafnode connection created for account: ${this.accountName} `);
    this.stageDeadlineMs = this.connectedMs + this.terms.options.firstInfoTimeoutMs;
    this.armDeadline();
  }

  info(json: string): void {
    const info = readHubInfo(json);
    if (typeof info === 'string') {
      this.violation(null, info);
      return;
    }
    if (this.awaits === 'info' && !this.accepts(info)) return;
    const { terms, joined } = this;
    const urls = info.leafnodeUrls ?? [];
    if (terms.options.followsDiscoveredServers && urls.length > 0) terms.events.urlsTold(urls);
    if (info.exports !== null || info.imports !== null) {
      joined.permissions = new LeafPermissions(this.denies, info.exports, info.imports);
    }
    if (info.remoteAccount !== '') this.remoteAccount = info.remoteAccount;
    if (info.maxPayloadBytes > 0) joined.outbox.payloadBytesMax = info.maxPayloadBytes;
    if (this.awaits === 'info') this.answer(info);
    if (this.awaits === 'connect info' && (info.connectInfo || !info.infoOnConnect)) {
      this.awaits = 'nothing';
      this.open(joined);
    }
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
    const { host, terms } = this;
    const { site, options, login } = terms;
    const headers = host.headersSupported && info.headers;
    this.remoteServer = info.serverName === '' ? info.serverId : info.serverName;
    this.remoteCluster = info.cluster;
    this.remoteDomain = info.domain;
    this.compression = info.compression === '' ? 'not supported' : 'off';
    this.joined.outbox.withHeaders = headers;
    const { isHub, denyImports } = options;
    const account = this.accountName;
    const facts = { site, account, login, isHub, headers, compression: this.compression, denyImports };
    this.send(Buffer.from(connectLine(facts), 'utf8'));
    host.log.debug(`${this.label} - Remote leafnode connect msg sent`);
    this.awaits = 'connect info';
    this.stageDeadlineMs = this.lastReadMs + CONNECT_INFO_MS;
    this.armDeadline();
  }

  protected override opened(): void {
    this.sayDomains();
    this.terms.events.opened();
  }

  protected override sessionOfSpeaker(): LeafSession | null {
    if (this.awaits !== 'info') return this.joined;
    this.violation(null, 'Leafnode sent something before INFO');
    return null;
  }

  protected override handshakeTimedOut(): void {
    if (this.awaits === 'info') {
      this.close('Read Error');
      return;
    }
    const text = 'Stale Leaf Node Connection - Closing';
    this.host.log.debug(`${this.label} - ${text}`);
    this.fail({ text, closes: 'Stale Connection' });
  }

  protected override released(): void {
    super.released();
    this.terms.events.lost(this.reconnectDelayMs);
  }
}
