/**
 * /jsz: JetStream as a whole, and on request account by account, stream by stream, consumer by consumer.
 *
 *     accounts=1   a page of the accounts, by name        streams=1     the streams of these accounts
 *     acc=A        that account alone                     consumers=1   streams, and their consumers
 *                                                         config=1      with their configurations
 *
 * A server without others leads all that it has. What only a cluster has (`raft=1`: groups) is not there to be shown.
 * Streams and consumers are written in pieces, and are those that were there when the account was begun. What a slow
 * disk keeps back is left out: the time of a stream's first message, and how many messages a consumer has pending. As
 * long as a start reads what is stored, there are only numbers, as far as it is.
 */

import type { JetStreamAccount } from '../../jetstream/api/jetstream-account.ts';
import type { JetStream } from '../../jetstream/api/jetstream.ts';
import type { HttpResponse } from '../io/io.ts';
import type { AnswerWork } from './answer-work.ts';
import { LIMIT_DEFAULT } from './connz-request.ts';
import { type Answer, BadRequest, jsonResponse, type MonitorContext, overfullResponse } from './endpoint.ts';
import { JsonDocument } from './json-document.ts';
import { accountFacts, type JszDetail, type JszTotals, totalsOf, writeStreams } from './jsz-account.ts';
import type { MonitorSource } from './monitor-source.ts';
import type { Query } from './query.ts';
import { momentText } from './time-text.ts';

/** What a server without JetStream shows. */
const NOTHING_USED = {
  memory: 0,
  storage: 0,
  reserved_memory: 0,
  reserved_storage: 0,
  accounts: 0,
  ha_assets: 0,
  api: { level: 0, total: 0, errors: 0 },
};
const NOTHING_HELD: JszTotals = { streams: 0, consumers: 0, messages: 0, bytes: 0 };

interface JszRequest extends JszDetail {
  /** '' asks for none in particular. */
  readonly account: string;
  readonly withAccounts: boolean;
  readonly isLeaderOnly: boolean;
  readonly offset: bigint;
  readonly limit: bigint;
  readonly withRaft: boolean;
}

export function jsz(query: Query, { source, requests, listBytesMax }: MonitorContext): Answer {
  requests.count('/jsz');
  const request = readRequest(query);
  if (request.isLeaderOnly && source.jetstream === null) throw new BadRequest('filtered response: not leader');
  return answer(request, source, new JsonDocument(listBytesMax));
}

/** Throws a BadRequest over the first parameter that can't be read. */
function readRequest(query: Query): JszRequest {
  const withAccounts = query.boolean('accounts');
  const streams = query.boolean('streams');
  const withConsumers = query.boolean('consumers');
  // Consumers that streams have for themselves. There are none.
  query.boolean('direct-consumers');
  const withConfig = query.boolean('config');
  const offset = query.integer('offset');
  const limit = query.integer('limit');
  const isLeaderOnly = query.boolean('leader-only');
  const withRaft = query.boolean('raft');
  query.boolean('stream-leader-only');
  const account = query.text('acc');
  const withStreams = streams || withConsumers;
  return {
    account,
    withAccounts: withAccounts || (withStreams && account === ''),
    withStreams,
    withConsumers,
    withConfig,
    isLeaderOnly,
    offset: offset < 0n ? 0n : offset,
    limit: limit === 0n ? LIMIT_DEFAULT : limit,
    withRaft,
  };
}

function* answer(request: JszRequest, source: MonitorSource, json: JsonDocument): AnswerWork<HttpResponse> {
  const { jetstream, jetStreamView } = source;
  json.beginObject();
  if (jetstream === null || jetStreamView === null) writeNothing(source, json);
  else {
    const { stats, config, limits } = jetStreamView.varz();
    json.members({ ...stats, ...identityOf(source) });
    json.exactMembers({ config, limits });
    const totals = yield* totalsOf(jetstream);
    json.members(membersOf(totals, request.withRaft));
    if (source.clientAddress !== null) yield* writeAccounts(request, jetstream, json);
    json.members({ total: jetstream.accounts.size });
  }
  json.end();
  return json.isOverfull ? overfullResponse() : jsonResponse(200, yield* json.bytes());
}

function writeNothing(source: MonitorSource, json: JsonDocument): void {
  json.members({ ...NOTHING_USED, ...identityOf(source), disabled: true });
  json.members({ config: { max_memory: 0, max_storage: 0 }, ...membersOf(NOTHING_HELD, false), total: 0 });
}

function identityOf({ id, io }: MonitorSource): object {
  return { server_id: id, now: momentText(io.clock.wallMs()) };
}

/** `withLeaders`: also how many of them this server leads. */
function membersOf({ streams, consumers, messages, bytes }: JszTotals, withLeaders: boolean): object {
  return {
    streams,
    streams_leader: withLeaders && streams > 0 ? streams : undefined,
    consumers,
    consumers_leader: withLeaders && consumers > 0 ? consumers : undefined,
    messages,
    bytes,
  };
}

function* writeAccounts(request: JszRequest, jetstream: JetStream, json: JsonDocument): AnswerWork {
  const owners = askedFor(request, jetstream);
  if (owners.length === 0) return;
  json.beginArray('account_details');
  for (const owner of owners) {
    if (json.isOverfull) break;
    json.beginObject();
    json.exactMembers(accountFacts(owner));
    if (request.withStreams && owner.streams.size > 0) yield* writeStreams(owner, request, json);
    json.end();
    yield;
  }
  json.end();
}

/** One account goes before a page of them; a limit below zero is none, and there is no offset then. */
function askedFor({ account, withAccounts, offset, limit }: JszRequest, { accounts }: JetStream): JetStreamAccount[] {
  const owner = accounts.get(account);
  if (owner !== undefined) return [owner];
  if (!withAccounts) return [];
  const all = [...accounts.values()];
  if (limit < 0n) return all;
  all.sort((a, b) => (a.account.name < b.account.name ? -1 : 1));
  return all.slice(Number(offset), Number(offset + limit));
}
