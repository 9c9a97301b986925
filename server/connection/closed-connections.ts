/**
 * The connections that ended last, as monitoring shows them: a ring that grows up to its limit and then forgets the
 * oldest.
 */

import type { Connection } from './connection.ts';

export class ClosedConnections<T extends Connection> {
  private readonly limit: number;
  private readonly ring: T[] = [];
  private oldest = 0;
  total = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  add(connection: T): void {
    this.total++;
    if (this.limit <= 0) return;
    if (this.ring.length < this.limit) {
      this.ring.push(connection);
      return;
    }
    this.ring[this.oldest] = connection;
    this.oldest = (this.oldest + 1) % this.limit;
  }

  /** The oldest first. */
  *all(): Generator<T> {
    for (let i = 0; i < this.ring.length; i++) yield this.ring[(this.oldest + i) % this.ring.length] as T;
  }
}
