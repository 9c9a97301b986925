/**
 * /accstatz: for each account how many are connected, how much it wants to hear, and what its connections have moved.
 * Accounts that nobody is connected to show only with `unused=1`.
 *
 * Costs a walk over the open connections, to add up their traffic.
 */

import type { Account } from '../account/account.ts';
import type { Traffic } from '../connection/statistics.ts';
import type { HttpResponse } from '../io/io.ts';
import { jsonResponse, type MonitorContext } from './endpoint.ts';
import { jsonText } from './json-text.ts';
import type { MonitorSource } from './monitor-source.ts';
import type { Query } from './query.ts';
import { momentText } from './time-text.ts';

const NOTHING = { msgs: 0, bytes: 0 };

export interface AccstatzRequest {
  /** By name; none asks for all. */
  readonly accounts: readonly string[];
  readonly withUnused: boolean;
}

/** What is known of one account. */
interface Use {
  readonly clients: Traffic;
  readonly leafs: Traffic;
  readonly slowConsumers: number;
  openLeafs: number;
}

export function accstatz(query: Query, { source, requests }: MonitorContext): HttpResponse {
  requests.count('/accstatz');
  const body = accstatzBody(source, { accounts: [], withUnused: query.boolean('unused') });
  return jsonResponse(200, jsonText(body, 2));
}

/** The page. Accounts that there are none of are left out. */
function accstatzBody(source: MonitorSource, request: AccstatzRequest): object {
  return {
    server_id: source.id,
    now: momentText(source.io.clock.wallMs()),
    account_statz: accountStatistics(source, request),
  };
}

/** One object for each account, as events show them too. */
export function accountStatistics(source: MonitorSource, { accounts, withUnused }: AccstatzRequest): object[] {
  const { accounts: known } = source;
  const named = accounts.map((name) => known.get(name)).filter((account) => account !== undefined);
  const asked = accounts.length === 0 ? [...known.values()] : named;
  const uses = usesByAccount(source);
  const statistics: object[] = [];
  for (const account of asked) {
    const use = uses.get(account.name) as Use;
    if (withUnused || account.limits.clients > 0 || use.openLeafs > 0) statistics.push(statisticsOf(account, use));
  }
  return statistics;
}

function statisticsOf({ name, limits, sublist }: Account, use: Use): object {
  const { clients, leafs, openLeafs, slowConsumers } = use;
  const all = clients.copy();
  all.add(leafs);
  return {
    acc: name,
    name,
    conns: limits.clients,
    leafnodes: openLeafs,
    total_conns: limits.clients + openLeafs,
    num_subscriptions: sublist.size,
    sent: { ...sentOf(all), gateways: NOTHING, routes: NOTHING, leafs: sentOf(leafs) },
    received: { ...receivedOf(all), gateways: NOTHING, routes: NOTHING, leafs: receivedOf(leafs) },
    slow_consumers: slowConsumers,
  };
}

function sentOf({ outMessages, outBytes }: Traffic): object {
  return { msgs: outMessages, bytes: outBytes };
}

function receivedOf({ inMessages, inBytes }: Traffic): object {
  return { msgs: inMessages, bytes: inBytes };
}

/** Of those that are connected and of those that are gone. */
function usesByAccount(source: MonitorSource): Map<string, Use> {
  const { accounts, closedConnections, clients, leafNodes, globalAccount } = source;
  closedConnections.traffic.keepOnly(accounts);
  const uses = new Map<string, Use>();
  for (const name of accounts.keys()) {
    const gone = closedConnections.traffic.of(name);
    const { slowConsumers } = gone;
    uses.set(name, { clients: gone.clients.copy(), leafs: gone.leafs.copy(), slowConsumers, openLeafs: 0 });
  }
  for (const client of clients.values()) {
    const { name } = client.account ?? globalAccount;
    // A connection that begins to close is among those that are gone.
    if (!client.isClosed) uses.get(name)?.clients.add(client.trafficSoFar);
  }
  for (const link of leafNodes.links()) {
    const use = uses.get(link.account.name);
    if (use === undefined || link.isClosed) continue;
    use.leafs.add(link.trafficSoFar);
    use.openLeafs++;
  }
  return uses;
}
