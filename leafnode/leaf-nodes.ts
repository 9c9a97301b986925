/**
 * The leaf links of one server: its remotes, the interest of the accounts they join, and what monitoring shows of both.
 *
 *     LeafNodes ─┬─ Remote (one per configured hub) ── SolicitedLink (at most one)
 *                ├─ LeafListener (where links are accepted) ── AcceptedLink…
 *                └─ AccountInterest (one per account that a link joins)
 *
 * Bounds: as many remotes as are configured.
 */

import type { LeafnodeOptions, LeafRemoteOptions } from '../server/config/options.ts';
import type { CompressionMode } from '../server/config/compression.ts';
import { remoteKey, remoteName } from '../server/config/schema-leaf-remotes.ts';
import type { LeafListenerOptions } from '../server/config/leaf-listener-options.ts';
import type { ConnectionHost } from '../server/connection/connection-host.ts';
import type { Account } from '../server/account/account.ts';
import type { Address } from '../server/io/io.ts';
import { Message } from '../server/protocol/message.ts';
import { AccountInterest } from './account-interest.ts';
import type { LeafConnection } from './leaf-connection.ts';
import type { LeafSite } from './leaf-site.ts';
import type { LinkSettings } from './link-terms.ts';
import type { LinkSpool, SpoolStatistics } from '../server/ports.ts';
import { Remote, type RemoteContext, type RemoteFailure, type RemoteState } from './remote.ts';
import { WebSocketRoom } from './websocket-room.ts';
import { base62 } from '../server/protocol/base62.ts';

/** Characters of a loop subject that no other server has. */
const UNIQUE_LENGTH = 22;

/** One open link, as /leafz shows it. */
export interface LeafLinkSnapshot {
  readonly id: number;
  /** Name of the server at the other end. */
  readonly name: string;
  readonly isSpoke: boolean;
  readonly account: string;
  readonly remoteAccount: string;
  readonly ip: string;
  readonly port: number;
  /** 0 until it has been measured. */
  readonly rttMs: number;
  readonly inMessages: number;
  readonly outMessages: number;
  readonly inBytes: number;
  readonly outBytes: number;
  /** Interest of the other end. */
  readonly subscriptions: number;
  readonly compression: CompressionMode;
  readonly isWebSocket: boolean;
  /** Wall time in milliseconds. */
  readonly startWallMs: number;
  readonly pendingBytes: number;
  /** Interest that the other end was told of. */
  readonly toldInterest: number;
  readonly droppedTooLarge: number;
  readonly droppedCongested: number;
}

/** One configured remote, linked or not. */
export interface LeafRemoteSnapshot {
  readonly options: LeafRemoteOptions;
  readonly state: RemoteState;
  /** Dials since a hub was reached last. */
  readonly attempts: number;
  readonly opens: number;
  readonly lastFailure: RemoteFailure | null;
  /** null: it has no spool. */
  readonly spool: SpoolStatistics | null;
}

/** Where links are accepted. */
export interface LinkListener {
  /** `null` until it listens. */
  readonly address: Address | null;
  links(): Iterable<LeafConnection>;
  close(): void;
}

/** Where remotes have their spools from. */
interface SpoolKeeper {
  /** `null`: it is not open. */
  spoolOf(remote: LeafRemoteOptions): LinkSpool | null;
  /** Opens the spool of a remote, which has one, or gives it other settings; then `opened`, unless something else is asked. */
  open(remote: LeafRemoteOptions, opened: (spool: LinkSpool) => void): void;
  /** The remote spools no more. */
  retire(remote: LeafRemoteOptions): void;
  /** Nothing is kept any more. */
  close(): void;
}

export class LeafNodes {
  /** `null`: links are not accepted. Set before the server starts. */
  listener: LinkListener | null = null;
  readonly settings: LinkSettings;
  private readonly known: Remote[];
  private readonly host: ConnectionHost;
  private readonly context: RemoteContext;
  /** Some peer can be a leaf to this server, so links hear of each other. */
  private readonly joinsLinks: boolean;
  private readonly interests = new Map<Account, AccountInterest>();
  /** `null` until there are spools. */
  private spools: SpoolKeeper | null = null;
  /** Remotes that wait for their spool before they dial. */
  private readonly unopened = new Set<Remote>();

  /** Accounts that remotes name have to exist: the configuration is checked before. Disabled remotes are left out. */
  constructor(host: ConnectionHost, site: LeafSite, options: LeafnodeOptions) {
    this.host = host;
    const enabled = options.remotes.filter(({ isDisabled }) => !isDisabled);
    this.settings = {
      site,
      inbound: new Message(),
      writeDeadlineMs: options.writeDeadlineMs,
      waitsForWrites: options.writeTimeoutPolicy !== 'close',
      keepsLinksApart: options.listener.isolatesInterest,
    };
    const { reconnectIntervalMs, dialTimeoutMs } = options;
    this.context = { ...this.settings, host, reconnectIntervalMs, dialTimeoutMs, webSockets: new WebSocketRoom() };
    this.joinsLinks = joinsLinks(options.listener, options.remotes);
    this.known = enabled.map((remote) => this.makeRemote(remote));
  }

  get remotes(): readonly Remote[] {
    return this.known;
  }

  private makeRemote(options: LeafRemoteOptions): Remote {
    const account = this.settings.site.account(options.account);
    if (account === null) throw new Error(`cannot find local account ${JSON.stringify(options.account)} of a remote`);
    return new Remote(this.context, options, this.interestOf(account));
  }

  /** Gives remotes their spools, before they dial; where they wait for that they do now. */
  useSpools(keeper: SpoolKeeper): void {
    this.spools = keeper;
    for (const remote of this.remotes) {
      const spool = keeper.spoolOf(remote.options);
      remote.spool = spool;
      if (spool !== null) remote.connection?.useSpool(spool);
      if (this.unopened.delete(remote)) remote.start();
    }
  }

  /** There are none any more, or will be none: remotes go on without. */
  loseSpools(): void {
    this.spools?.close();
    this.spools = null;
    for (const remote of this.remotes) {
      remote.spool = null;
      if (this.unopened.delete(remote)) remote.start();
    }
  }

  /** Why the remotes cannot become these while the server runs; `null` if they can. */
  reloadRefusal(remotes: readonly LeafRemoteOptions[]): string | null {
    const before = new Set(this.known.map(({ options }) => remoteKey(options)));
    const added = remotes.filter((remote) => !remote.isDisabled && !before.has(remoteKey(remote)));
    if (this.joinsLinks || this.settings.keepsLinksApart) return null;
    const hub = added.find(({ isHub }) => isHub);
    return hub === undefined ? null : notYet(hub, 'the first remote that is a leaf needs a restart');
  }

  /** Makes the remotes these: some come, some go, and of those that stay some may have changed. */
  reconfigure(before: readonly LeafRemoteOptions[], remotes: readonly LeafRemoteOptions[]): void {
    const { log } = this.host;
    const wanted = new Map(remotes.map((remote) => [remoteKey(remote), remote]));
    const old = new Map(before.map((remote) => [remoteKey(remote), remote]));
    for (const [key, remote] of old) {
      const now = wanted.get(key);
      const told = (what: string): void => log.notice(`Reloaded: LeafNode Remote ${remoteName(remote)} ${what}`);
      if (now === undefined) told('removed');
      else if (now.isDisabled !== remote.isDisabled) told(`Disabled value is: ${now.isDisabled}`);
      if (now === undefined || now.isDisabled) this.remove(key);
      else this.change(key, now);
    }
    for (const [key, remote] of wanted) if (!remote.isDisabled && this.findRemote(key) === undefined) this.add(remote);
  }

  private findRemote(key: string): Remote | undefined {
    return this.known.find(({ options }) => remoteKey(options) === key);
  }

  /** A remote dials when its spool is open: nothing it brings about should get lost. */
  private add(options: LeafRemoteOptions): void {
    const remote = this.makeRemote(options);
    this.known.push(remote);
    if (options.spool === null) remote.start();
    else {
      this.unopened.add(remote);
      this.openSpool(remote);
    }
  }

  private change(key: string, options: LeafRemoteOptions): void {
    const remote = this.findRemote(key);
    if (remote === undefined) return;
    const { spool } = remote.options;
    remote.reconfigure(options);
    if (JSON.stringify(spool) === JSON.stringify(options.spool)) return;
    const what = options.spool === null ? 'disabled' : JSON.stringify(options.spool.subjects);
    this.host.log.notice(`Reloaded: LeafNode Remote ${remoteName(options)} Spool value is: ${what}`);
    if (options.spool !== null) this.openSpool(remote);
    else {
      remote.spool = null;
      this.spools?.retire(options);
      if (this.unopened.delete(remote)) remote.start();
    }
  }

  private openSpool(remote: Remote): void {
    // Without spools JetStream is being turned on, and brings them.
    this.spools?.open(remote.options, (spool) => {
      remote.spool = spool;
      remote.connection?.useSpool(spool);
      if (this.unopened.delete(remote)) remote.start();
    });
  }

  private remove(key: string): void {
    const index = this.known.findIndex(({ options }) => remoteKey(options) === key);
    const [remote] = index < 0 ? [] : this.known.splice(index, 1);
    if (remote === undefined) return;
    this.unopened.delete(remote);
    remote.close('Client Closed');
    if (remote.options.spool !== null) this.spools?.retire(remote.options);
  }

  /** Accounts are others now, or have other mappings. */
  accountsChanged(): void {
    for (const [account, interest] of this.interests) {
      if (this.settings.site.account(account.name) === account) interest.mappingsChanged();
      else {
        interest.close();
        this.interests.delete(account);
      }
    }
  }

  /** Begins to dial every remote. */
  start(): void {
    for (const remote of this.remotes) remote.start();
  }

  /** Ends all links, and dials no more. */
  close(): void {
    this.listener?.close();
    for (const remote of this.known) remote.close('Server Shutdown');
    for (const interest of this.interests.values()) interest.close();
  }

  /** The open links, in no order. */
  links(): LeafConnection[] {
    const open: LeafConnection[] = [];
    for (const { connection } of this.remotes) if (connection?.isOpen === true) open.push(connection);
    if (this.listener !== null) open.push(...this.listener.links());
    return open;
  }

  linkSnapshots(): LeafLinkSnapshot[] {
    return this.links().map(snapshotOf);
  }

  remoteSnapshots(): LeafRemoteSnapshot[] {
    return this.remotes.map(({ options, state, attempts, opens, lastFailure, spool }) => {
      return { options, state, attempts, opens, lastFailure, spool: spool?.statistics ?? null };
    });
  }

  /** What the account wants to hear, for the links that join it. */
  interestOf(account: Account): AccountInterest {
    const known = this.interests.get(account);
    if (known !== undefined) return known;
    const interest = new AccountInterest(account, base62(this.host.io.random.bytes(UNIQUE_LENGTH)), this.joinsLinks);
    this.interests.set(account, interest);
    return interest;
  }
}

/** Whether a link can be told what came over another one. Links that are all kept apart hear nothing of others. */
function joinsLinks({ port, isolatesInterest }: LeafListenerOptions, remotes: readonly LeafRemoteOptions[]): boolean {
  return !isolatesInterest && (port !== null || remotes.some(({ isHub }) => isHub));
}

function snapshotOf(link: LeafConnection): LeafLinkSnapshot {
  const { traffic, dropped } = link;
  return {
    id: link.id,
    name: link.remoteServer,
    isSpoke: link.isSpoke,
    account: link.accountName,
    remoteAccount: link.remoteAccount,
    ip: link.socket.remote.host,
    port: link.socket.remote.port,
    rttMs: link.keepalive.rttMs,
    inMessages: traffic.inMessages,
    outMessages: traffic.outMessages,
    inBytes: traffic.inBytes,
    outBytes: traffic.outBytes,
    subscriptions: link.peerInterestSize,
    compression: link.compression,
    isWebSocket: link.isWebSocket,
    startWallMs: link.startWallMs,
    pendingBytes: link.queue.pendingBytes,
    toldInterest: link.toldInterest,
    droppedTooLarge: dropped.tooLarge,
    droppedCongested: dropped.congested,
  };
}

function notYet(remote: LeafRemoteOptions, why: string): string {
  return `config reload not supported by petiole yet for LeafNode: remote ${remoteName(remote)}: ${why}`;
}
