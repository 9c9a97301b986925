/**
 * The connections that ended last, as monitoring shows them: a ring that grows up to its limit and then forgets the
 * oldest.
 *
 * Bounds: `limit` connections. Of one at most SUBSCRIPTIONS_PER_CONNECTION_MAX subscriptions are listed, of all together
 * SUBSCRIPTIONS_MAX: beyond that the oldest connections lose their lists, never their count. What they moved is added up
 * by account, also of those that are forgotten.
 */

import type { Subscription } from '../subject/subscription.ts';
import { AccountTraffic } from './account-traffic.ts';
import type { ConnectionFacts } from './connection-facts.ts';

const SUBSCRIPTIONS_PER_CONNECTION_MAX = 1000;
const SUBSCRIPTIONS_MAX = 50_000;

/** A subscription that ended with its connection. */
export interface ClosedSubscription {
  readonly subject: string;
  readonly queueGroup: string;
  readonly sid: string;
  readonly delivered: number;
}

export interface ClosedConnection {
  readonly facts: ConnectionFacts;
  readonly subscriptions: readonly ClosedSubscription[];
}

export class ClosedConnections {
  readonly traffic: AccountTraffic = new AccountTraffic();
  private readonly limit: number;
  /** Number n of all that ever closed stands at n modulo `limit`. */
  private readonly ring: ClosedConnection[] = [];
  private readonly subscriptionsMax: number;
  private subscriptionsHeld = 0;
  /** Number of the oldest one that may have a list. */
  private firstListed = 0;
  total = 0;

  constructor(limit: number, subscriptionsMax: number = SUBSCRIPTIONS_MAX) {
    this.limit = limit;
    this.subscriptionsMax = subscriptionsMax;
  }

  /** Remembers a connection that begins to close, while it still has its subscriptions. */
  add(facts: ConnectionFacts, subscriptions: Iterable<Subscription>): void {
    const number = this.total++;
    this.traffic.add(facts);
    if (this.limit <= 0) return;
    const slot = number % this.limit;
    if (number >= this.limit) this.dropLists(number - this.limit + 1);
    const closed = { facts, subscriptions: listOf(subscriptions) };
    if (slot < this.ring.length) this.ring[slot] = closed;
    else this.ring.push(closed);
    this.subscriptionsHeld += closed.subscriptions.length;
    while (this.subscriptionsHeld > this.subscriptionsMax) this.dropLists(this.firstListed + 1);
  }

  /** Those that are remembered, the oldest first. */
  all(): ClosedConnection[] {
    const { ring } = this;
    const oldest = ring.length < this.limit ? 0 : this.total % this.limit;
    return [...ring.slice(oldest), ...ring.slice(0, oldest)];
  }

  /** Takes the lists of all connections before that number. */
  private dropLists(before: number): void {
    for (; this.firstListed < before; this.firstListed++) {
      const slot = this.firstListed % this.limit;
      const { facts, subscriptions } = this.ring[slot] as ClosedConnection;
      this.subscriptionsHeld -= subscriptions.length;
      this.ring[slot] = { facts, subscriptions: [] };
    }
  }
}

function listOf(subscriptions: Iterable<Subscription>): ClosedSubscription[] {
  const list: ClosedSubscription[] = [];
  for (const { subject, queueGroup, sid, delivered } of subscriptions) {
    if (list.length === SUBSCRIPTIONS_PER_CONNECTION_MAX) break;
    list.push({ subject, queueGroup, sid, delivered });
  }
  return list;
}
