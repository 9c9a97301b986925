/**
 * What connections that are gone have moved, by account and kind. With what the open ones have moved it is the traffic of
 * an account, which costs nothing while messages pass: each connection counts its own anyway.
 *
 * Bound: one entry for each account; of accounts that are gone the entries go with `keepOnly`.
 */

import type { ConnectionFacts } from './connection-facts.ts';
import { Traffic } from './statistics.ts';

/** Of one account. */
export interface GoneTraffic {
  readonly clients: Traffic;
  readonly leafs: Traffic;
  slowConsumers: number;
}

export class AccountTraffic {
  private readonly gone = new Map<string, GoneTraffic>();

  /** What is gone of that account. */
  of(account: string): GoneTraffic {
    const known = this.gone.get(account);
    if (known !== undefined) return known;
    const made = { clients: new Traffic(), leafs: new Traffic(), slowConsumers: 0 };
    this.gone.set(account, made);
    return made;
  }

  /** Adds a connection that begins to close: it moves nothing any more. */
  add({ account, kind, traffic, closedReason }: ConnectionFacts): void {
    const gone = this.of(account);
    (kind === 'Client' ? gone.clients : gone.leafs).add(traffic);
    if (closedReason?.startsWith('Slow Consumer') === true) gone.slowConsumers++;
  }

  /** Forgets accounts that there are no more. */
  keepOnly(accounts: ReadonlyMap<string, unknown>): void {
    for (const name of this.gone.keys()) if (!accounts.has(name)) this.gone.delete(name);
  }
}
