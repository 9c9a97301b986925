/**
 * One connection on its way into the list of /connz: what is looked at to choose and sort it, and to write its row.
 *
 * The facts of an open connection are frozen to sort by them, so that a row shows the values it was sorted by; otherwise
 * they are taken when the row is written. One that was open when the list was begun is listed as open.
 */

import type { ClosedConnection } from '../connection/closed-connections.ts';
import type { ConnectionFacts } from '../connection/connection-facts.ts';
import type { MonitorSource } from './monitor-source.ts';
import { factsOf, type ListedConnection, subscriptionsOf, userOf } from './open-connection.ts';

/** A subscription as a list shows it. */
export interface ListedSubscription {
  readonly subject: string;
  readonly queueGroup: string;
  readonly sid: string;
  readonly delivered: number;
  readonly maxDeliveries?: number;
}

export interface ConnzEntry {
  readonly id: number;
  readonly user: string;
  readonly facts: ConnectionFacts;
  readonly isClosed: boolean;
  /** From now on the facts stay as they are. */
  freeze(): void;
  subscriptions(): Iterable<ListedSubscription>;
}

export class OpenEntry implements ConnzEntry {
  readonly isClosed = false;
  private readonly connection: ListedConnection;
  private readonly source: MonitorSource;
  private taken: ConnectionFacts | null = null;

  constructor(connection: ListedConnection, source: MonitorSource) {
    this.connection = connection;
    this.source = source;
  }

  get id(): number {
    return this.connection.id;
  }

  get user(): string {
    return userOf(this.connection);
  }

  get facts(): ConnectionFacts {
    return this.taken ?? this.take();
  }

  freeze(): void {
    this.taken ??= this.take();
  }

  subscriptions(): Iterable<ListedSubscription> {
    return subscriptionsOf(this.connection);
  }

  private take(): ConnectionFacts {
    const facts = factsOf(this.connection, this.source);
    return { ...facts, traffic: facts.traffic.copy(), stopWallMs: 0, stopMs: 0, closedReason: null };
  }
}

export class ClosedEntry implements ConnzEntry {
  readonly isClosed = true;
  readonly facts: ConnectionFacts;
  private readonly closed: ClosedConnection;

  constructor(closed: ClosedConnection) {
    this.closed = closed;
    this.facts = closed.facts;
  }

  get id(): number {
    return this.facts.id;
  }

  get user(): string {
    return this.facts.user;
  }

  freeze(): void {
    // They are what is remembered.
  }

  subscriptions(): Iterable<ListedSubscription> {
    return this.closed.subscriptions;
  }
}
