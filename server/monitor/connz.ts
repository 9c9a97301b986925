/**
 * /connz: the connections, open or closed, filtered, sorted, a page of them.
 *
 *     choose (account, cid, user) ─► sort ─► page ─► rows
 *
 * Every step takes its time in pieces: connections may come and go between them, so the list is of those that were there
 * when it was begun. Only the rows of the page, and what is needed to sort, look into a connection.
 *
 * nats-server's counts: `total` is what is there in that state and account, whatever else is asked for; `num_connections`
 * is what the page has.
 */

import type { HttpResponse } from '../io/io.ts';
import { ClosedEntry, type ConnzEntry, OpenEntry } from './connz-entry.ts';
import { checkFilterSubject, type ConnzRequest, readConnzRequest, readSortOrder } from './connz-request.ts';
import { type Now, type RowOptions, writeRow } from './connz-row.ts';
import { type Answer, jsonResponse, type MonitorContext, overfullResponse } from './endpoint.ts';
import { JsonDocument } from './json-document.ts';
import { subjectsCollide } from '../subject/subject.ts';
import type { MonitorSource } from './monitor-source.ts';
import type { Query } from './query.ts';
import { sortSliced } from '../io/sliced-sort.ts';
import { momentText } from './time-text.ts';

/** Connections looked at between two yields. */
const STEP = 256;

interface Choice {
  /** Before filters other than state and account. */
  readonly total: number;
  readonly entries: readonly ConnzEntry[];
}

export function connz(query: Query, { source, requests, listBytesMax }: MonitorContext): Answer {
  const parameters = readConnzRequest(query);
  requests.count('/connz');
  const request: ConnzRequest = { ...parameters, order: readSortOrder(query, parameters.wantsOpen) };
  checkFilterSubject(request);
  return list(request, source, new JsonDocument(listBytesMax));
}

function* list(request: ConnzRequest, source: MonitorSource, json: JsonDocument): Generator<void, HttpResponse> {
  const { offset, limit, account, withUser } = request;
  const { clock } = source.io;
  const now: Now = { wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() };
  const isKnown = account === '' || source.accounts.has(account);
  const choice = isKnown ? yield* choose(request, source) : { total: 0, entries: [] };
  const sorted = yield* sort(choice.entries, request, now.monotonicMs);
  // Beyond what numbers hold exactly there is no page anyway.
  const page = sorted.slice(Number(offset), Number(offset + limit));
  json.beginObject();
  json.exactMembers({
    // For an account it doesn't know nats-server answers without looking at itself.
    server_id: isKnown ? source.id : '',
    now: momentText(now.wallMs),
    num_connections: page.length,
    total: choice.total,
    offset,
    limit,
  });
  if (isKnown) {
    yield* writeRows(page, { withUser, list: request.list, now, globalAccount: source.globalAccount.name }, json);
  } else json.member('connections', null);
  json.end();
  return json.isOverfull ? overfullResponse() : jsonResponse(200, yield* json.bytes());
}

function* writeRows(page: readonly ConnzEntry[], options: RowOptions, json: JsonDocument): Generator<void, void> {
  json.beginArray('connections');
  for (const entry of page) {
    if (json.isOverfull) break;
    yield* writeRow(entry, options, json);
    yield;
  }
  json.end();
}

function* sort(
  entries: readonly ConnzEntry[],
  { order }: ConnzRequest,
  nowMs: number,
): Generator<void, readonly ConnzEntry[]> {
  if (order.isById) return yield* sortSliced(entries, (a, b) => a.id - b.id);
  for (let i = 0; i < entries.length; i++) {
    (entries[i] as ConnzEntry).freeze();
    if (i % STEP === 0) yield;
  }
  return yield* sortSliced(entries, (a, b) => order.compare(a.facts, b.facts, nowMs));
}

function* choose(request: ConnzRequest, source: MonitorSource): Generator<void, Choice> {
  const open = request.wantsOpen ? yield* openEntries(request, source) : [];
  const closed = request.wantsClosed ? yield* closedEntries(request, source) : [];
  const total = open.length + closed.length;
  const ofCid = oneOf(request, open, closed);
  const candidates = ofCid ?? [...open, ...closed];
  const entries: ConnzEntry[] = [];
  for (let i = 0; i < candidates.length; i++) {
    const entry = candidates[i] as ConnzEntry;
    if (isWanted(entry, request) && (entry.isClosed || listensTo(entry, request.filterSubject))) entries.push(entry);
    if (i % STEP === 0) yield;
  }
  return { total, entries };
}

/** The connection that was asked for by its id; null if none was asked for. An open one goes first (nats-server#6839). */
function oneOf(
  request: ConnzRequest,
  open: readonly ConnzEntry[],
  closed: readonly ConnzEntry[],
): readonly ConnzEntry[] | null {
  if (request.cid === 0n) return null;
  const hasCid = ({ id }: ConnzEntry): boolean => BigInt(id) === request.cid;
  const found = open.find((entry) => hasCid(entry) && isWanted(entry, request)) ?? closed.find(hasCid);
  return found === undefined ? [] : [found];
}

function isWanted({ user }: ConnzEntry, request: ConnzRequest): boolean {
  // There are no MQTT clients.
  return (request.user === '' || user === request.user) && request.mqttClient === '';
}

function listensTo(entry: ConnzEntry, filterSubject: string): boolean {
  if (filterSubject === '') return true;
  for (const { subject } of entry.subscriptions()) if (subjectsCollide(subject, filterSubject)) return true;
  return false;
}

function* openEntries({ account }: ConnzRequest, source: MonitorSource): Generator<void, ConnzEntry[]> {
  const { clients, leafNodes, globalAccount } = source;
  const entries: ConnzEntry[] = [];
  let looked = 0;
  for (const client of [...clients.values(), ...leafNodes.links()]) {
    const isOfAccount = account === '' || (client.account ?? globalAccount).name === account;
    if (!client.isClosed && isOfAccount) entries.push(new OpenEntry(client, source));
    if (++looked % STEP === 0) yield;
  }
  return entries;
}

function* closedEntries({ account }: ConnzRequest, source: MonitorSource): Generator<void, ConnzEntry[]> {
  const { closedConnections, globalAccount } = source;
  // nats-server notes a closed connection's account only where it is not the global one, so `acc=$G` finds none.
  if (account === globalAccount.name) return [];
  const entries: ConnzEntry[] = [];
  let looked = 0;
  for (const closed of closedConnections.all()) {
    if (account === '' || closed.facts.account === account) entries.push(new ClosedEntry(closed));
    if (++looked % STEP === 0) yield;
  }
  return entries;
}
