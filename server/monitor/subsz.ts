/**
 * /subsz (by its old name /subscriptionsz): how many subscriptions there are in all accounts and how matching them does,
 * and on request (`subs=1`) a page of their list.
 *
 * The list is made from one walk over the accounts' sublists, in pieces: a piece ends only behind the last subscription
 * of a subject, so that one that goes meanwhile doesn't hide the others of its subject. What comes or goes during a walk
 * may be listed or not. As nats-server does, the list leaves out what other servers want to hear.
 */

import type { HttpResponse } from '../io/io.ts';
import { isValidLiteralSubject, subjectMatches } from '../subject/subject.ts';
import type { SublistStatistics } from '../subject/sublist.ts';
import type { Subscription } from '../subject/subscription.ts';
import type { Account } from '../account/account.ts';
import { textAsBytes } from './byte-text.ts';
import { detailOf } from './connz-row.ts';
import { LIMIT_DEFAULT } from './connz-request.ts';
import { type Answer, BadRequest, jsonResponse, type MonitorContext, overfullResponse } from './endpoint.ts';
import { JsonDocument } from './json-document.ts';
import type { MonitorSource } from './monitor-source.ts';
import type { Query } from './query.ts';
import { momentText } from './time-text.ts';

/** Subscriptions looked at between two yields, and if they are all of one subject. */
const STEP = 64;
const STEP_OF_ONE_SUBJECT = 4096;
/** Of subscriptions that belong to no connection. */
const NO_CONNECTION = 0;

interface SubszRequest {
  readonly withList: boolean;
  readonly offset: bigint;
  readonly limit: bigint;
  /** A published subject that listed subscriptions have to match, in bytes; '' for none. */
  readonly test: string;
  readonly account: string;
}

interface Page {
  /** Subscriptions that fit, on the page or not. */
  total: number;
  readonly rows: object[];
}

export function subsz(query: Query, { source, requests, listBytesMax }: MonitorContext): Answer {
  requests.count('/subsz');
  const withList = query.boolean('subs');
  const offset = query.integer('offset');
  const limit = query.integer('limit');
  const test = query.text('test');
  if (test !== '' && !isValidLiteralSubject(textAsBytes(test))) {
    throw new BadRequest(`invalid test subject, must be valid publish subject: ${test}`);
  }
  const request: SubszRequest = {
    withList,
    offset: offset < 0n ? 0n : offset,
    limit: limit <= 0n ? LIMIT_DEFAULT : limit,
    test: textAsBytes(test),
    account: query.text('acc'),
  };
  return answer(request, source, new JsonDocument(listBytesMax));
}

function* answer(request: SubszRequest, source: MonitorSource, json: JsonDocument): Generator<void, HttpResponse> {
  const nowMs = source.io.clock.wallMs();
  const accounts = [...source.accounts.values()].filter(
    ({ name }) => request.account === '' || name === request.account,
  );
  const statistics: SublistStatistics[] = [];
  for (const { sublist } of accounts) {
    statistics.push(sublist.statistics());
    yield;
  }
  const page: Page = { total: 0, rows: [] };
  if (request.withList) for (const account of accounts) yield* listAccount(account, request, page);
  json.beginObject();
  json.members({ server_id: source.id, now: momentText(nowMs), ...sublistStatistics(statistics) });
  json.exactMembers({ total: page.total, offset: request.offset, limit: request.limit });
  if (page.rows.length > 0) yield* writeRows(page.rows, json);
  json.end();
  return json.isOverfull ? overfullResponse() : jsonResponse(200, yield* json.bytes());
}

function* writeRows(rows: readonly object[], json: JsonDocument): Generator<void, void> {
  json.beginArray('subscriptions_list');
  for (let i = 0; i < rows.length && !json.isOverfull; i++) {
    json.element(rows[i]);
    if (i % STEP === 0) yield;
  }
  json.end();
}

function* listAccount({ name, sublist }: Account, request: SubszRequest, page: Page): Generator<void, void> {
  const { test } = request;
  const first = Number(request.offset);
  const behind = Number(request.offset + request.limit);
  let looked = 0;
  for (const subscription of sublist.subscriptions()) {
    const isWanted = subscription.sink.sinkKind !== 'leaf' && (test === '' || subjectMatches(subscription.key, test));
    if (isWanted) {
      if (page.total >= first && page.total < behind) {
        page.rows.push(detailOf(subscription, connectionOf(subscription), name));
      }
      page.total++;
    }
    const isLastOfSubject = subscription.next === null;
    if (++looked >= (isLastOfSubject ? STEP : STEP_OF_ONE_SUBJECT)) {
      looked = 0;
      yield;
    }
  }
}

function connectionOf({ sink }: Subscription): number {
  return 'id' in sink && typeof sink.id === 'number' ? sink.id : NO_CONNECTION;
}

/** Of several sublists together. */
export function sublistStatistics(statistics: readonly SublistStatistics[]): object {
  const sum = (valueOf: (each: SublistStatistics) => number): number =>
    statistics.reduce((total, each) => total + valueOf(each), 0);
  const matches = sum((each) => each.matches);
  const fanoutEntries = sum((each) => each.fanoutEntries);
  return {
    num_subscriptions: sum((each) => each.subscriptions),
    num_cache: sum((each) => each.cacheEntries),
    num_inserts: sum((each) => each.inserts),
    num_removes: sum((each) => each.removes),
    num_matches: matches,
    cache_hit_rate: matches === 0 ? 0 : sum((each) => each.cacheHits) / matches,
    max_fanout: Math.max(0, ...statistics.map((each) => each.fanoutMax)),
    avg_fanout: fanoutEntries === 0 ? 0 : sum((each) => each.fanoutTotal) / fanoutEntries,
  };
}
