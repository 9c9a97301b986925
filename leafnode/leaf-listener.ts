/**
 * Where leaves link to this hub: one port, the links that came over it, and what they have in common.
 *
 *     accepted ─► waiting (has not said who it is) ─► linked ─► gone
 *                  at most WAITING_MAX: with one more, the one that waits longest goes
 *
 * A leaf that comes back takes the place of its old link at once, however alive that looks from here: same server,
 * cluster and accounts on both sides. Loops are found by the loop subject alone (AccountInterest), so nobody is punished
 * for coming back.
 *
 * Permissions are the same objects for all links of one user: they hold sublists, of which each takes tens of KiB.
 *
 * Bounds: WAITING_MAX connections that wait, each for authorization.timeout at most and with at most a place of
 * FirstLines; links as accounts allow; PERMISSIONS_MAX sets of permissions kept at a time.
 */

import type { Account } from '../server/account/account.ts';
import type { Permissions } from '../server/account/permissions.ts';
import type { CompressionMode, CompressionOptions } from '../server/config/compression.ts';
import { advertisedAddress } from '../server/config/host-port.ts';
import type { LeafListenerOptions } from '../server/config/leaf-listener-options.ts';
import type { TlsOptions } from '../server/config/transport-options.ts';
import { listenOutcome } from '../server/connection/listen-outcome.ts';
import type { ConnectionHost, Decided, Identity, Login } from '../server/connection/connection-host.ts';
import { listenFailure } from '../server/connection/listen-failure.ts';
import { TlsEntrances } from '../server/connection/tls-entrance.ts';
import type {
  Address,
  IoError,
  Listener,
  ListenHandler,
  SecuringNetwork,
  Socket,
  SocketHandler,
} from '../server/io/io.ts';
import type { ConnectOptions } from '../server/protocol/connect-options.ts';
import { type PeerError, PeerErrors } from '../server/protocol/errors.ts';
import { goQuote } from '../server/protocol/go-quote.ts';
import { isVersionAtLeast, versionParts } from '../server/protocol/semantic-version.ts';
import type { ServerInfo } from '../server/protocol/server-info.ts';
import type { AccountInterest } from './account-interest.ts';
import { AcceptedLink, type LeafRefusal, type LinkLobby, type LinkTransport } from './accepted-link.ts';
import { hostPort } from './dial.ts';
import type { SubjectLists } from './hub-info.ts';
import type { LeafConnect } from './leaf-connect.ts';
import { answerLine, greetingLine, type HubFacts } from './leaf-greeting.ts';
import { type LinkDenies, LeafPermissions, SYSTEM_OWN } from './leaf-permissions.ts';
import { LinkSocket } from './link-socket.ts';
import type { LinkSettings } from './link-terms.ts';

const WAITING_MAX = 4096;
const PERMISSIONS_MAX = 1024;
const NONCE_BYTES = 11;
const NOT_COMPRESSED: CompressionOptions = { mode: 'not supported', rttThresholdsMs: [] };
/** Stands for "no cluster" between servers, so none can have it. */
const RESERVED_CLUSTER = '_';

/** Why leaves can't link. */
export interface LeafOpenFailure {
  readonly text: string;
  readonly cause: IoError;
}

/** What a leaf's end of WebSocket is here. */
interface LeafWebSocket extends Socket, SocketHandler {
  readonly isCompressed: boolean;
  attach(handler: SocketHandler): void;
}

interface AcceptedOverWebSocket<W> {
  readonly link: AcceptedLink;
  readonly webSocket: W;
  readonly handler: SocketHandler;
}

/** What the listener needs of its server. */
export interface HubSite {
  readonly host: ConnectionHost;
  readonly settings: LinkSettings;
  readonly systemAccount: Account;
  /** The name of the cluster that leaves must not have too; '' outside of one. */
  readonly clusterName: string;
  serverInfo(): ServerInfo;
  options(): LeafListenerOptions;
  authenticate(options: ConnectOptions, login: Login, decided: Decided): Identity | null | 'later';
  accounts(): Iterable<Account>;
  interestOf(account: Account): AccountInterest;
  /** Whether the user is still one, of an account that still is. */
  isKnown(user: string, account: Account): boolean;
}

export class LeafListener implements LinkLobby {
  readonly settings: LinkSettings;
  /** Null until it listens. */
  address: Address | null = null;
  private readonly site: HubSite;
  private readonly waiting = new Set<AcceptedLink>();
  private readonly linked = new Set<AcceptedLink>();
  private readonly permissions = new Map<Permissions | null, Map<string, LeafPermissions>>();
  private permissionsCount = 0;
  private listener: Listener | null = null;
  private entrances: TlsEntrances | null = null;

  constructor(site: HubSite) {
    this.site = site;
    this.settings = site.settings;
  }

  get compression(): CompressionOptions {
    return this.site.options().compression;
  }

  get mapsCertificates(): boolean {
    return this.site.options().tls?.mapsUsers ?? false;
  }

  get authTimeoutMs(): number {
    return this.site.options().authorization.timeoutMs;
  }

  // ── life cycle ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** Listens; `done` hears whether that went well, or why not. */
  open(done: (failure: LeafOpenFailure | null) => void): void {
    const { network } = this.site.host.io;
    const options = this.site.options();
    const wanted = { host: options.host, port: options.port ?? 0 };
    const outcome = this.outcome(wanted, options, done);
    this.gatherInterest();
    if (options.tls === null) {
      this.listener = network.listen(wanted, { ...outcome, accepted: (socket) => this.accept(socket, null) });
    } else if (network.tls === undefined) outcome.failed(new Error('this network has no TLS'));
    else {
      const entrances = this.makeEntrances(network.tls, options.tls);
      this.listener = network.tls.listen(wanted, {
        ...outcome,
        accepted: (socket) => this.accept(socket, (link) => entrances.enter(link, socket)),
      });
    }
  }

  /** Follows what accounts want to hear from the beginning: gathering it when a leaf comes would take a long turn. */
  private gatherInterest(): void {
    for (const account of this.site.accounts()) this.site.interestOf(account);
  }

  private makeEntrances(network: SecuringNetwork, tls: TlsOptions): TlsEntrances {
    const plan = { options: tls, context: network.context(tls), allowsNonTls: false };
    this.entrances = new TlsEntrances(this.site.host, plan, 'leafnode');
    return this.entrances;
  }

  private outcome(
    wanted: Address,
    { host, advertise }: LeafListenerOptions,
    done: (failure: LeafOpenFailure | null) => void,
  ): Omit<ListenHandler, 'accepted'> {
    const { log } = this.site.host;
    return listenOutcome(this.site.host, (port, error) => {
      if (error !== null) {
        const text = `Error listening on leafnode port: ${wanted.port || -1} - ${listenFailure(wanted, error)}`;
        done({ text, cause: error });
        return;
      }
      this.address = { host, port };
      log.notice(`Listening for leafnode connections on ${hostPort(this.address)}`);
      if (advertise !== '') {
        log.notice(`Advertise address for leafnode is set to ${hostPort(this.advertisedAddress(this.site.options()))}`);
      }
      done(null);
    });
  }

  /** What it returns shows other certificates, or has other rules, from the next link on. Throws if they are bad. */
  prepare({ tls }: LeafListenerOptions): () => void {
    const { entrances } = this;
    const { network } = this.site.host.io;
    if (entrances === null || tls === null || network.tls === undefined) return () => undefined;
    const plan = { options: tls, context: network.tls.context(tls), allowsNonTls: false };
    return () => {
      entrances.plan = plan;
    };
  }

  /** Users and accounts are others now: whoever is none any more goes. */
  reconsider(): void {
    this.permissions.clear();
    this.permissionsCount = 0;
    this.gatherInterest();
    for (const link of this.linked) if (!this.site.isKnown(link.user, link.account)) link.close('Client Closed');
  }

  /** Accepts nothing more and ends all links. */
  close(): void {
    this.listener?.close(() => undefined);
    this.listener = null;
    for (const link of [...this.waiting, ...this.linked]) link.close('Server Shutdown');
  }

  /** Links that stand. */
  links(): Iterable<AcceptedLink> {
    return this.linked;
  }

  /** `enter` takes a link through what comes before the protocol; `null`: nothing does. */
  private accept(socket: Socket, enter: ((link: AcceptedLink) => void) | null): SocketHandler {
    const linkSocket = new LinkSocket(socket, this.site.host.io.timers);
    const link = this.makeLink({ socket: linkSocket, linkSocket, compression: this.compression });
    linkSocket.attach(link);
    if (enter === null) link.connected();
    else {
      link.arrived();
      enter(link);
    }
    return linkSocket;
  }

  /**
   * Takes a leaf that came by the WebSocket port, which `make` speaks above all else: what S2 compresses are its frames.
   * The answer's `handler` hears everything about the socket.
   */
  acceptWebSocket<W extends LeafWebSocket>(socket: Socket, make: (socket: Socket) => W): AcceptedOverWebSocket<W> {
    const linkSocket = new LinkSocket(socket, this.site.host.io.timers);
    const webSocket = make(linkSocket);
    linkSocket.attach(webSocket);
    // Not twice.
    const compression = webSocket.isCompressed ? NOT_COMPRESSED : this.compression;
    const link = this.makeLink({ socket: webSocket, linkSocket, compression });
    webSocket.attach(link);
    link.connected();
    return { link, webSocket, handler: linkSocket };
  }

  private makeLink(transport: LinkTransport): AcceptedLink {
    const { host, settings } = this.site;
    const nonce = host.io.random.bytes(NONCE_BYTES).toString('base64url');
    const link = new AcceptedLink(host, settings.site.nextConnectionId(), this, nonce, transport);
    link.isIsolated = this.site.options().isolatesInterest;
    if (this.waiting.size >= WAITING_MAX) {
      const [longest] = this.waiting;
      longest?.fail(PeerErrors.authenticationTimeout);
    }
    this.waiting.add(link);
    return link;
  }

  // ── what accepted links ask ──────────────────────────────────────────────────────────────────────────────────────

  greeting({ id, nonce }: AcceptedLink, compression: CompressionMode): Uint8Array {
    return greetingLine(this.facts(), id, nonce, compression);
  }

  answer({ id }: AcceptedLink, { account, permissions }: Identity): Uint8Array {
    const isSystemAccount = this.isSystem(account);
    return answerLine(this.facts(), { clientId: id, account: account.name, isSystemAccount, permissions });
  }

  authenticate(options: ConnectOptions, login: Login, decided: Decided): Identity | null | 'later' {
    return this.site.authenticate(options, login, decided);
  }

  refusalOf({ login, cluster, gateway, version }: LeafConnect): LeafRefusal | null {
    const { clusterName } = this.site;
    const { minVersion } = this.site.options();
    if (login.lang !== '') return refusal('attempted to connect to leaf node port', 'Incorrect Port');
    if (cluster.includes(' ')) return refusal('cluster name cannot contain spaces', 'Protocol Violation');
    if (cluster === RESERVED_CLUSTER) return refusal('cluster name is reserved', 'Protocol Violation');
    if (clusterName !== '' && cluster === clusterName) {
      return refusal('remote leafnode has same cluster name', 'Cluster Names Identical');
    }
    if (gateway !== '') {
      return refusal(`Rejecting connection from gateway ${goQuote(gateway)} on the leafnode port`, 'Wrong Gateway');
    }
    const least = minVersion === '' ? null : versionParts(minVersion);
    if (least === null || isVersionAtLeast(version, least)) return null;
    const text = `connection rejected since minimum version required is ${goQuote(minVersion)}`;
    return { text, closes: 'Minimum Version Required', isAnswered: true };
  }

  admit(link: AcceptedLink, { account }: Identity, { name }: LeafConnect): PeerError | null {
    const { limits } = account;
    limits.leafnodes++;
    link.countedIn = account;
    if (limits.hasTooManyLeafnodes) return PeerErrors.maximumAccountConnections;
    this.waiting.delete(link);
    if (name !== '') this.replace(link, account);
    this.linked.add(link);
    this.site.host.connectionIdentified(link, account);
    return null;
  }

  interestOf({ account }: Identity): AccountInterest {
    return this.site.interestOf(account);
  }

  permissionsOf({ isSpoke }: AcceptedLink, identity: Identity, { denied }: LeafConnect): LeafPermissions {
    const { permissions, account } = identity;
    const isSystem = this.isSystem(account);
    const key = JSON.stringify([denied, isSystem, isSpoke]);
    const known = this.permissions.get(permissions)?.get(key);
    if (known !== undefined) return known;
    if (this.permissionsCount >= PERMISSIONS_MAX) {
      this.permissions.clear();
      this.permissionsCount = 0;
    }
    const made = this.makePermissions(permissions, denied, isSystem, isSpoke);
    const ofUser = this.permissions.get(permissions) ?? new Map<string, LeafPermissions>();
    this.permissions.set(permissions, ofUser.set(key, made));
    this.permissionsCount++;
    return made;
  }

  private isSystem(account: Account): boolean {
    return account === this.site.systemAccount;
  }

  gone(link: AcceptedLink): void {
    this.waiting.delete(link);
    this.linked.delete(link);
    if (link.countedIn !== null) link.countedIn.limits.leafnodes--;
    link.countedIn = null;
  }

  /** Ends an older link of the same leaf to the same account. */
  private replace(link: AcceptedLink, account: Account): void {
    const { remoteServer, remoteCluster, remoteAccount } = link;
    if (remoteAccount === '') return;
    for (const old of this.linked) {
      if (old.remoteServer !== remoteServer || old.remoteCluster !== remoteCluster) continue;
      if (old.remoteAccount !== remoteAccount || old.account !== account) continue;
      const reason = 'Duplicate Remote LeafNode Connection';
      this.site.host.log.error(`${old.label} - ${reason}`);
      old.fail({ text: reason, closes: reason });
      link.warn('Replacing connection from same server');
      return;
    }
  }

  private makePermissions(
    user: Permissions | null,
    denied: readonly string[],
    isSystem: boolean,
    isSpoke: boolean,
  ): LeafPermissions {
    const { hasJetStream, domain } = this.settings.site;
    const own = isSystem ? SYSTEM_OWN : [];
    const publish: SubjectLists | null = user?.rules.publish ?? null;
    const denies: LinkDenies = {
      denyExports: [...denied, ...own],
      denyImports: own,
      ownDomain: hasJetStream ? domain : '',
      ...(!isSpoke && { inbound: publish }),
    };
    return new LeafPermissions(denies, user?.rules.subscribe ?? null, publish);
  }

  // ── what leaves are told ─────────────────────────────────────────────────────────────────────────────────────────

  private facts(): HubFacts {
    const { site } = this;
    const options = site.options();
    const address = this.advertisedAddress(options);
    return {
      server: site.serverInfo(),
      address,
      hasTls: options.tls !== null,
      verifiesLeaves: options.tls?.verifiesClients ?? false,
      cluster: site.clusterName,
      urls: options.isAdvertised ? [hostPort(address)] : null,
    };
  }

  /** An address of this host, where the one that is listened on tells leaves nothing. */
  private reachableHost(host: string): string {
    if (!ANY_HOST.has(host)) return host;
    const addresses = this.site.host.io.host.addresses();
    return addresses.find((address) => !/^(127\.|::1$|fe80:)/i.test(address)) ?? host;
  }

  private advertisedAddress({ advertise, host, port }: LeafListenerOptions): Address {
    const own = { host: this.reachableHost(host), port: this.address?.port ?? port ?? 0 };
    if (advertise === '') return own;
    const address = advertisedAddress(advertise, own.port);
    // One that is no address ended the start.
    return typeof address === 'string' ? own : address;
  }
}

/** Addresses that mean any. */
const ANY_HOST: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

function refusal(text: string, closes: PeerError['closes']): LeafRefusal {
  return { text, closes, isAnswered: false };
}
