/**
 * One connection on its way into the list of /connz: what is looked at to choose and sort it, and to write its row.
 *
 * The facts of an open connection are taken once, when they are first needed, so that a row shows the values it was
 * sorted by. One that was open when the list was begun is listed as open.
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
    this.taken ??= this.take();
    return this.taken;
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

  subscriptions(): Iterable<ListedSubscription> {
    return this.closed.subscriptions;
  }
}
