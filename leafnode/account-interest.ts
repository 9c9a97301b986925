/**
 * What an account wants to hear, counted per subject and queue group, for the links that carry this interest to others.
 * A link tells its peer of an entry when its weight for that link rises above 0 (LS+) and when it falls to 0 (LS-); of a
 * queue group at each change.
 *
 *     by key   KeyTable: `subject` or `subject queue`  ─► entry
 *     in order  first ◄─► entry ◄─► entry ◄─► last        new ones at the end; a link that was just opened walks along
 *                            ▲                            (InterestAnnouncer), however often it has to pause
 *                          cursor
 *
 * Counted are the subscriptions of this server itself (clients, JetStream, services), subjects held by name (mapping
 * sources, the loop subject), and, where links are to hear of each other's interest, the subscriptions of links, each
 * link for itself. A link of another account that imports a stream of this one counts without its cluster (Importer):
 * in this account that cluster may have something to say that it has not heard in the other. There is one such table
 * per account with links; it follows the account from the server's start, so nothing has to be gathered when a link
 * opens.
 *
 * The loop subject `$LDS.<random>` is interest like any other, told to every peer: a link that hears it from its peer
 * has found a way by which its own interest comes back.
 *
 * Bounds: one entry per distinct subject and queue group that is subscribed to, about 150 bytes each.
 */

import type { Account } from '../server/account/account.ts';
import type { InterestListener } from '../server/ports.ts';
import { type Keyed, KeyTable } from '../server/subject/key-table.ts';
import { type Origin, OriginWeights } from './origin-weights.ts';
import { hashText } from '../server/subject/subject-hash.ts';
import type { Subscription } from '../server/subject/subscription.ts';

const LOOP_PREFIX = '$LDS.';

/** A link as its account's interest sees it. */
export interface InterestPeer {
  /** This side plays the leaf: the peer hears of local interest and of links whose peers are leaves to us. */
  readonly isSpoke: boolean;
  /** Name of the peer's cluster; links into one cluster don't hear of each other. */
  readonly remoteCluster: string;
  /** The peer hears nothing of other links. */
  readonly isIsolated: boolean;
}

/** Whoever hears that the weight of an entry has changed by `delta`; `source` is `null` for local interest. */
export interface InterestAudience {
  /** It hears of local interest alone. */
  readonly isIsolated: boolean;
  weightChanged(entry: InterestEntry, source: InterestPeer | null, delta: number): void;
  /** The entry is about to leave the table. Heard only until `arrived` was called. */
  entryRemoved(entry: InterestEntry): void;
}

export class InterestEntry implements Keyed {
  readonly key: string;
  readonly hash: number;
  readonly subject: string;
  readonly isQueue: boolean;
  /** Where it stands in the order: higher than every earlier one's. */
  readonly order: number;
  /** Weight of local interest. */
  localWeight = 0;
  /** Weight by where it came from, where links hear of each other: from peers that are leaves to us, and from hubs. */
  leaves: OriginWeights | null = null;
  hubs: OriginWeights | null = null;
  next: InterestEntry | null = null;
  previous: InterestEntry | null = null;

  constructor(key: string, hash: number, subject: string, order: number) {
    this.key = key;
    this.hash = hash;
    this.subject = subject;
    this.isQueue = key.length > subject.length;
    this.order = order;
  }

  /** What the entry weighs for the peer of `link`. */
  weightFor(link: InterestPeer): number {
    const { leaves, hubs } = this;
    let weight = this.localWeight;
    if (link.isIsolated) return weight;
    const origin = originOf(link);
    if (leaves !== null) weight += leaves.without(origin);
    if (hubs !== null && (!link.isSpoke || isLoopSubject(this.subject))) weight += hubs.without(origin);
    return weight;
  }

  /** Adds what a link brings; the end of all of it takes the table away. */
  addPeer(source: InterestPeer, delta: number): void {
    const weights = (source.isSpoke ? this.hubs : this.leaves) ?? new OriginWeights();
    weights.add(originOf(source), delta);
    const left = weights.total === 0 ? null : weights;
    if (source.isSpoke) this.hubs = left;
    else this.leaves = left;
  }

  get isUnused(): boolean {
    return this.localWeight === 0 && this.leaves === null && this.hubs === null;
  }

  /** Whether every peer wants it, whatever single link it is asked about. */
  get isWantedByAll(): boolean {
    return this.localWeight > 0;
  }

  /** Whether it comes from so many that each of them hears it of another one. */
  get isShared(): boolean {
    return this.leaves !== null && this.leaves.count > 1;
  }
}

/** Whether the peer of `link` is told of interest in `subject` that came over the link `source`. */
export function hearsOf(link: InterestPeer, source: InterestPeer, subject: string): boolean {
  if (source === link || link.isIsolated) return false;
  if (source.remoteCluster !== '' && source.remoteCluster === link.remoteCluster) return false;
  return !link.isSpoke || !source.isSpoke || isLoopSubject(subject);
}

/** By which what a link brings is told apart: its peer's cluster, or the link alone. */
function originOf(link: InterestPeer): Origin {
  return link.remoteCluster === '' ? link : link.remoteCluster;
}

export function isLoopSubject(subject: string): boolean {
  return subject.startsWith(LOOP_PREFIX);
}

/** A link of another account that hears a stream of this one. */
class Importer implements InterestPeer {
  readonly remoteCluster = '';
  readonly isSpoke: boolean;
  readonly isIsolated: boolean;

  constructor({ isSpoke, isIsolated }: InterestPeer) {
    this.isSpoke = isSpoke;
    this.isIsolated = isIsolated;
  }
}

export class AccountInterest implements InterestListener {
  readonly account: Account;
  readonly loopSubject: string;
  private readonly seed: number;
  /** Links hear of each other's interest. */
  private readonly joinsLinks: boolean;
  private readonly entries = new KeyTable<InterestEntry>();
  private readonly audiences = new Set<InterestAudience>();
  private readonly isolated = new Set<InterestAudience>();
  /** Those that still walk along the entries. */
  private readonly walkers = new Set<InterestAudience>();
  private readonly importers = new WeakMap<InterestPeer, Importer>();
  private heldMappings: readonly string[] = [];
  private nextOrder = 1;
  first: InterestEntry | null = null;
  private last: InterestEntry | null = null;

  /** `unique` is 22 random characters; `joinsLinks` whether one of the account's links has a leaf as its peer. */
  constructor(account: Account, unique: string, joinsLinks: boolean) {
    this.account = account;
    this.loopSubject = `${LOOP_PREFIX}${unique}`;
    this.seed = hashText(unique, 0);
    this.joinsLinks = joinsLinks;
    this.change(this.loopSubject, '', null, 1);
    for (const subscription of account.sublist.subscriptions()) this.subscriptionAdded(subscription);
    account.listen(this);
    this.mappingsChanged();
  }

  get size(): number {
    return this.entries.size;
  }

  close(): void {
    this.account.unlisten(this);
  }

  join(audience: InterestAudience): void {
    (audience.isIsolated ? this.isolated : this.audiences).add(audience);
    this.walkers.add(audience);
  }

  /** The audience has seen all entries. */
  arrived(audience: InterestAudience): void {
    this.walkers.delete(audience);
  }

  leave(audience: InterestAudience): void {
    this.audiences.delete(audience);
    this.isolated.delete(audience);
    this.walkers.delete(audience);
  }

  subscriptionAdded(subscription: Subscription): void {
    this.count(subscription, subscription.weight);
  }

  subscriptionRemoved(subscription: Subscription): void {
    this.count(subscription, -subscription.weight);
  }

  /** The account's mappings are others now: their sources are interest, since peers have to send what is mapped here. */
  mappingsChanged(): void {
    const { mappings } = this.account;
    const sources = mappings === null ? [] : [...mappings.values()].map(({ source }) => source);
    for (const source of sources) this.change(source, '', null, 1);
    for (const source of this.heldMappings) this.change(source, '', null, -1);
    this.heldMappings = sources;
  }

  private count(subscription: Subscription, delta: number): void {
    const { sink, subject, queueGroup } = subscription;
    if (sink.servesOwnClients === true) return;
    if (sink.sinkKind !== 'leaf') this.change(subject, queueGroup, null, delta);
    else if (this.joinsLinks || isLoopSubject(subject)) {
      const { standsFor } = sink;
      const source =
        standsFor === undefined
          ? (sink as unknown as InterestPeer)
          : this.importerOf(standsFor as unknown as InterestPeer);
      this.change(subject, queueGroup, source, delta);
    }
  }

  private importerOf(link: InterestPeer): Importer {
    const known = this.importers.get(link);
    if (known !== undefined) return known;
    const importer = new Importer(link);
    this.importers.set(link, importer);
    return importer;
  }

  private change(subject: string, queueGroup: string, source: InterestPeer | null, delta: number): void {
    const entry = this.entryOf(subject, queueGroup);
    const { isWantedByAll, isShared } = entry;
    if (source === null) entry.localWeight += delta;
    else entry.addPeer(source, delta);
    // With thousands of links most changes mean nothing to any of them, and asking each would take too long.
    const wasWanted = isWantedByAll && entry.isWantedByAll;
    const isNews = entry.isQueue || !(wasWanted || (source !== null && isShared && entry.isShared));
    if (isNews) {
      for (const audience of this.audiences) audience.weightChanged(entry, source, delta);
      if (source === null) for (const audience of this.isolated) audience.weightChanged(entry, null, delta);
    }
    if (entry.isUnused) this.remove(entry);
  }

  private entryOf(subject: string, queueGroup: string): InterestEntry {
    const key = queueGroup === '' ? subject : `${subject} ${queueGroup}`;
    const hash = hashText(key, this.seed);
    const found = this.entries.find(key, hash);
    if (found !== null) return found;
    const entry = new InterestEntry(key, hash, subject, this.nextOrder++);
    this.entries.add(entry);
    entry.previous = this.last;
    if (this.last === null) this.first = entry;
    else this.last.next = entry;
    this.last = entry;
    return entry;
  }

  private remove(entry: InterestEntry): void {
    for (const audience of this.walkers) audience.entryRemoved(entry);
    this.entries.remove(entry.key, entry.hash);
    const { next, previous } = entry;
    if (previous === null) this.first = next;
    else previous.next = next;
    if (next === null) this.last = previous;
    else next.previous = previous;
  }
}
