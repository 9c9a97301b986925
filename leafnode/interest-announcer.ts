/**
 * Tells the peer of one link what this side wants to hear: everything once when the link opens, then each change.
 *
 *     entries in order      ●──●──●──●──○──○──○
 *                                       ▲ cursor: behind it nothing has been told; null when all has been
 *
 * Telling everything goes in slices of ENTRIES_PER_TURN, each in a turn of its own, and waits while more than
 * WAITING_BYTES_MAX wait to be sent, so a million subscriptions neither stop the server nor fill the link. A change of
 * an entry in front of the cursor is told at once, one behind it when the cursor gets there. So each entry is told
 * exactly once: a hub counts a plain LS+ that it hears twice as two.
 *
 * What the peer may not be told of (permissions) is left out, its end too.
 */

import type { OutboundQueue } from '../server/connection/outbound-queue.ts';
import type { Timers } from '../server/io/io.ts';
import {
  type AccountInterest,
  hearsOf,
  type InterestAudience,
  type InterestEntry,
  type InterestPeer,
  isLoopSubject,
} from './account-interest.ts';

const ENTRIES_PER_TURN = 1000;
const WAITING_BYTES_MAX = 1024 * 1024;
/** The largest weight that nats-server reads. */
const WEIGHT_MAX = 999_999_999;

/** The link as its announcer sees it. */
export interface AnnouncingLink extends InterestPeer {
  readonly queue: OutboundQueue;
  mayAdvertise(subject: string): boolean;
  /** Everything has been told for the first time. */
  interestTold(): void;
}

export class InterestAnnouncer implements InterestAudience {
  private readonly link: AnnouncingLink;
  private readonly interest: AccountInterest;
  private readonly timers: Timers;
  private readonly entriesPerTurn: number;
  private cursor: InterestEntry | null;
  /** Everything has been told once. */
  isDone = false;
  private isScheduled = false;
  private isStopped = false;
  /** Entries the peer has been told of and not told the end of. */
  told = 0;

  /** Begins to tell; the first slice goes into the queue at once. */
  constructor(
    link: AnnouncingLink,
    interest: AccountInterest,
    timers: Timers,
    entriesPerTurn: number = ENTRIES_PER_TURN,
  ) {
    this.link = link;
    this.entriesPerTurn = entriesPerTurn;
    this.interest = interest;
    this.timers = timers;
    this.cursor = interest.first;
    interest.join(this);
    this.tellSlice();
  }

  get isIsolated(): boolean {
    return this.link.isIsolated;
  }

  /** The queue has emptied a little; heard in a turn of its own, never from within a write of this link. */
  proceed(): void {
    if (!this.isDone && !this.isScheduled) this.tellSlice();
  }

  stop(): void {
    this.isStopped = true;
    this.interest.leave(this);
  }

  weightChanged(entry: InterestEntry, source: InterestPeer | null, delta: number): void {
    const { link } = this;
    if (this.cursor !== null && entry.order >= this.cursor.order) return;
    if (source !== null && !hearsOf(link, source, entry.subject)) return;
    const after = entry.weightFor(link);
    const before = after - delta;
    if (before > 0 && after > 0 && !entry.isQueue) return;
    if (!this.tell(entry, after)) return;
    if (before <= 0) this.told++;
    else if (after <= 0) this.told--;
  }

  entryRemoved(entry: InterestEntry): void {
    if (this.cursor === entry) this.cursor = entry.next;
  }

  private tellSlice(): void {
    if (this.isStopped) return;
    const { queue } = this.link;
    for (let i = 0; i < this.entriesPerTurn && this.cursor !== null; i++) {
      const entry = this.cursor;
      const weight = entry.weightFor(this.link);
      this.cursor = entry.next;
      if (weight > 0 && this.tell(entry, weight)) this.told++;
    }
    if (this.cursor === null) {
      this.isDone = true;
      this.interest.arrived(this);
      this.link.interestTold();
    } else if (queue.pendingBytes < WAITING_BYTES_MAX) this.scheduleSlice();
  }

  private scheduleSlice(): void {
    this.isScheduled = true;
    this.timers.afterTurn(() => {
      this.isScheduled = false;
      this.tellSlice();
    });
  }

  /** False when the peer may not be told. */
  private tell(entry: InterestEntry, weight: number): boolean {
    const { link } = this;
    if (!isLoopSubject(entry.subject) && !link.mayAdvertise(entry.subject)) return false;
    const count = entry.isQueue && weight > 0 ? ` ${Math.min(weight, WEIGHT_MAX)}` : '';
    const line = Buffer.from(`LS${weight > 0 ? '+' : '-'} ${entry.key}${count}\r\n`, 'latin1');
    link.queue.append(line, 0, line.length);
    return true;
  }
}
