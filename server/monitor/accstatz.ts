/**
 * /accstatz: for each account how many are connected, how much it wants to hear, and what its connections have moved.
 * Accounts that nobody is connected to show only with `unused=1`.
 *
 * Costs a walk over the open connections, to add up their traffic.
 */

import type { Account } from '../account/account.ts';
import type { Traffic } from '../connection/statistics.ts';
import type { HttpResponse } from '../io/io.ts';
import type { AnswerWork } from './answer-work.ts';
import { type Answer, jsonResponse, type MonitorContext, overfullResponse } from './endpoint.ts';
import { JsonDocument } from './json-document.ts';
import type { MonitorSource } from './monitor-source.ts';
import type { Query } from './query.ts';
import { momentText } from './time-text.ts';

/** Connections looked at between two yields. */
const STEP = 256;
const NOTHING = { msgs: 0, bytes: 0 };

export interface AccstatzRequest {
  /** By name; none asks for all. */
  readonly accounts: readonly string[];
  readonly withUnused: boolean;
}

interface Moved {
  readonly msgs: number;
  readonly bytes: number;
}

interface MovedByKind extends Moved {
  readonly gateways: Moved;
  readonly routes: Moved;
  readonly leafs: Moved;
}

/** One account, in the order of its members. */
export interface AccountStatistics {
  readonly acc: string;
  readonly name: string;
  readonly conns: number;
  readonly leafnodes: number;
  readonly total_conns: number;
  readonly num_subscriptions: number;
  readonly sent: MovedByKind;
  readonly received: MovedByKind;
  readonly slow_consumers: number;
}

/** What is known of one account. */
interface Use {
  readonly clients: Traffic;
  readonly leafs: Traffic;
  readonly slowConsumers: number;
  openLeafs: number;
}

export function accstatz(query: Query, { source, requests, listBytesMax }: MonitorContext): Answer {
  requests.count('/accstatz');
  const request = { accounts: [], withUnused: query.boolean('unused') };
  return answer(request, source, new JsonDocument(listBytesMax));
}

function* answer(request: AccstatzRequest, source: MonitorSource, json: JsonDocument): AnswerWork<HttpResponse> {
  json.beginObject();
  json.members({ server_id: source.id, now: momentText(source.io.clock.wallMs()) });
  json.beginArray('account_statz');
  for (const row of accountRows(source, request)) {
    if (json.isOverfull) break;
    if (row !== null) json.element(row);
    yield;
  }
  json.end();
  json.end();
  return json.isOverfull ? overfullResponse() : jsonResponse(200, yield* json.bytes());
}

/** One object for each account, as events show them too, in one go: it is for some accounts and not for thousands. */
export function accountStatistics(source: MonitorSource, request: AccstatzRequest): AccountStatistics[] {
  return [...accountRows(source, request)].filter((row) => row !== null);
}

/** The accounts' objects; `null` where so much work was done that others may have a turn. */
export function* accountRows(
  source: MonitorSource,
  { accounts, withUnused }: AccstatzRequest,
): Generator<AccountStatistics | null, void> {
  const { accounts: known } = source;
  const named = accounts.map((name) => known.get(name)).filter((account) => account !== undefined);
  const asked = accounts.length === 0 ? [...known.values()] : named;
  const uses = yield* usesOf(asked, source);
  for (const account of asked) {
    const use = uses.get(account) as Use;
    if (withUnused || account.limits.clients > 0 || use.openLeafs > 0) yield statisticsOf(account, use);
  }
}

function statisticsOf({ name, limits, sublist }: Account, use: Use): AccountStatistics {
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

function sentOf({ outMessages, outBytes }: Traffic): Moved {
  return { msgs: outMessages, bytes: outBytes };
}

function receivedOf({ inMessages, inBytes }: Traffic): Moved {
  return { msgs: inMessages, bytes: inBytes };
}

/** Of those that are connected now and of those that are gone now: whoever goes meanwhile is counted once. */
function* usesOf(asked: readonly Account[], source: MonitorSource): Generator<null, Map<Account, Use>> {
  const { accounts, closedConnections, globalAccount } = source;
  closedConnections.traffic.keepOnly(accounts);
  const uses = new Map<Account, Use>();
  for (const account of asked) {
    const { clients, leafs, slowConsumers } = closedConnections.traffic.of(account.name);
    uses.set(account, { clients: clients.copy(), leafs: leafs.copy(), slowConsumers, openLeafs: 0 });
  }
  // A connection that begins to close is among those that are gone.
  const open = [...source.clients.values()].filter(({ isClosed }) => !isClosed);
  for (const link of source.leafNodes.links()) {
    const use = uses.get(link.account);
    if (use === undefined || link.isClosed) continue;
    use.leafs.add(link.trafficSoFar);
    use.openLeafs++;
  }
  for (const [at, client] of open.entries()) {
    uses.get(client.account ?? globalAccount)?.clients.add(client.trafficSoFar);
    if (at % STEP === STEP - 1) yield null;
  }
  return uses;
}
