/**
 * What can be asked about one account, under `$SYS.REQ.ACCOUNT.<account>.<kind>`: the pages of monitoring that are about
 * one, and what only these requests show.
 */

import { accountz } from '../monitor/accountz.ts';
import { accountStatistics } from '../monitor/accstatz.ts';
import { connz } from '../monitor/connz.ts';
import { bytesAsText } from '../monitor/byte-text.ts';
import { jsonResponse, type MonitorContext } from '../monitor/endpoint.ts';
import { jsonText } from '../monitor/json-text.ts';
import { leafz } from '../monitor/leafz.ts';
import { Query } from '../monitor/query.ts';
import { subsz } from '../monitor/subsz.ts';
import { momentText } from '../monitor/time-text.ts';
import { goList, goString } from '../protocol/go-json-schema.ts';
import type { HttpResponse } from '../io/io.ts';
import { flag, type Given, type PageOption, text } from './page-option.ts';
import { kindOf, pageOf, type RequestKind } from './request-kind.ts';
import { CONNZ_OPTIONS, JSZ_OPTIONS, LEAFZ_OPTIONS, SUBSZ_OPTIONS } from './server-kinds.ts';

const STATZ_OPTIONS: readonly PageOption[] = [
  { ...text('accounts'), type: goList(goString) },
  flag('include_unused', 'unused'),
];

/** Every account there is, as some requests call them. */
const ALL = 'PING';

export const ACCOUNT_KINDS: ReadonlyMap<string, RequestKind> = new Map([
  ['SUBSZ', pageOf('Subsz', SUBSZ_OPTIONS, subsz, (account) => ({ account, subscriptions: true }))],
  ['CONNZ', pageOf('Connz', CONNZ_OPTIONS, connz, (acc) => ({ acc }))],
  ['LEAFZ', pageOf('Leafz', LEAFZ_OPTIONS, leafz, (account) => ({ account }))],
  [
    'JSZ',
    kindOf(
      'JSz',
      JSZ_OPTIONS,
      async (given, { source, listBytesMax }, account) =>
        (await import('./account-jetstream.ts')).accountJetStream(source, listBytesMax, account, given),
      'Jsz',
    ),
  ],
  ['INFO', kindOf('AccInfo', [], (_given, context, account) => accountInfo(context, account))],
  ['STATZ', kindOf('AccountStatz', STATZ_OPTIONS, statz)],
]);

/** The part of the page that is about the account. */
function accountInfo(context: MonitorContext, account: string): HttpResponse {
  const query = new Query(new URLSearchParams({ acc: bytesAsText(account) }).toString());
  const page = JSON.parse(Buffer.from(accountz(query, context).body).toString()) as { account_detail: object };
  return jsonResponse(200, jsonText(page.account_detail));
}

/** Of accounts that nobody uses nobody speaks, unless they are asked for. */
function statz({ accounts, include_unused }: Given, { source }: MonitorContext, account: string): HttpResponse | null {
  const named = account === ALL ? ((accounts ?? []) as readonly string[]) : [account];
  const withUnused = include_unused === true;
  const statistics = accountStatistics(source, { accounts: named.map(bytesAsText), withUnused });
  if (statistics.length === 0 && !withUnused) return null;
  const { id, io } = source;
  return jsonResponse(200, jsonText({ server_id: id, now: momentText(io.clock.wallMs()), account_statz: statistics }));
}
