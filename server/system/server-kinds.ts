/**
 * What can be asked about the server: the pages of monitoring. The body of a request is JSON with the page's options,
 * under names of their own, and a filter:
 *
 *     {"subscriptions": true, "limit": 10, "server_name": "edge"}     ►  /subsz?subs=1&limit=10, of servers named edge
 *
 * A body is read by the rules of Go's decoder, whose words for what is wrong with it are the answer.
 */

import { accountz } from '../monitor/accountz.ts';
import { connz } from '../monitor/connz.ts';
import { jsonResponse } from '../monitor/endpoint.ts';
import { expvarz } from '../monitor/expvarz.ts';
import { gatewayz } from '../monitor/gatewayz.ts';
import { healthz } from '../monitor/healthz.ts';
import { ipqueuesz } from '../monitor/ipqueuesz.ts';
import { jsonText } from '../monitor/json-text.ts';
import { leafz } from '../monitor/leafz.ts';
import { routez } from '../monitor/routez.ts';
import { subsz } from '../monitor/subsz.ts';
import { varz } from '../monitor/varz.ts';
import { bytesAsText } from '../monitor/byte-text.ts';
import { goQuote } from '../protocol/go-quote.ts';
import { goDuration, goUint64 } from '../protocol/go-json-schema.ts';
import { flag, number, type PageOption, queryOf, text } from './page-option.ts';
import { kindOf, pageOf, type RequestKind } from './request-kind.ts';

const STATES: readonly string[] = ['open', 'closed', 'any'];

export const SUBSZ_OPTIONS: readonly PageOption[] = [
  number('offset'),
  number('limit'),
  flag('subscriptions', 'subs'),
  text('account', 'acc'),
  text('test'),
];

export const CONNZ_OPTIONS: readonly PageOption[] = [
  text('sort'),
  flag('auth'),
  // It says more than the plain list, and the first of two parameters counts.
  { ...flag('subscriptions_detail', 'subs'), text: () => 'detail' },
  flag('subscriptions', 'subs'),
  number('offset'),
  number('limit'),
  { ...number('cid'), type: goUint64 },
  text('mqtt_client'),
  { ...number('state'), text: (value) => STATES[value as number] ?? String(value) },
  text('user'),
  text('acc'),
  text('filter_subject'),
];

export const LEAFZ_OPTIONS: readonly PageOption[] = [flag('subscriptions', 'subs'), text('account', 'acc')];

export const JSZ_OPTIONS: readonly PageOption[] = [
  text('account', 'acc'),
  flag('accounts'),
  flag('streams'),
  flag('consumer', 'consumers'),
  flag('direct_consumer', 'direct-consumers'),
  flag('config'),
  flag('leader_only', 'leader-only'),
  number('offset'),
  number('limit'),
  flag('raft'),
  flag('stream_leader_only', 'stream-leader-only'),
];

const HEALTHZ_OPTIONS: readonly PageOption[] = [
  flag('js-enabled'),
  flag('js-enabled-only'),
  flag('js-server-only'),
  flag('js-meta-only'),
  text('account'),
  text('stream'),
  text('consumer'),
  flag('details'),
];

const ROUTEZ_OPTIONS: readonly PageOption[] = [flag('subscriptions', 'subs'), flag('subscriptions_detail', 'subs')];

const GATEWAYZ_OPTIONS: readonly PageOption[] = [
  text('name', 'gw_name'),
  flag('accounts', 'accs'),
  text('account_name', 'acc_name'),
  ...ROUTEZ_OPTIONS,
];

const PROFILEZ_OPTIONS: readonly PageOption[] = [
  text('name'),
  number('debug'),
  { ...number('duration'), type: goDuration },
];

export const SERVER_KINDS: ReadonlyMap<string, RequestKind> = new Map([
  ['VARZ', pageOf('Varz', [], varz)],
  ['SUBSZ', pageOf('Subsz', SUBSZ_OPTIONS, subsz)],
  ['CONNZ', pageOf('Connz', CONNZ_OPTIONS, connz)],
  ['ROUTEZ', pageOf('Routez', ROUTEZ_OPTIONS, routez)],
  ['GATEWAYZ', pageOf('Gatewayz', GATEWAYZ_OPTIONS, gatewayz)],
  ['LEAFZ', pageOf('Leafz', LEAFZ_OPTIONS, leafz)],
  ['ACCOUNTZ', pageOf('Accountz', [text('account', 'acc')], accountz)],
  ['HEALTHZ', pageOf('Healthz', HEALTHZ_OPTIONS, healthz)],
  ['EXPVARZ', pageOf('Expvarz', [], expvarz)],
  ['IPQUEUESZ', pageOf('Ipqueuesz', [flag('all'), text('filter', 'queues')], ipqueuesz)],
  // It brings much of JetStream along.
  [
    'JSZ',
    kindOf(
      'JSz',
      JSZ_OPTIONS,
      async (given, context) => (await import('../monitor/jsz.ts')).jsz(queryOf(given, JSZ_OPTIONS), context),
      'Jsz',
    ),
  ],
  // There are no groups, which is no error here.
  ['RAFTZ', kindOf('Raftz', [text('account'), text('group')], () => jsonResponse(200, '{}'))],
  // Nor profiles as those of nats-server are: they are of its own runtime.
  ['PROFILEZ', kindOf('Profilez', PROFILEZ_OPTIONS, ({ name }) => noProfile(bytesAsText(name as string)))],
]);

function noProfile(name: string): ReturnType<typeof jsonResponse> {
  const error = name === '' ? 'Profile name not specified' : `Profile ${goQuote(name)} not found`;
  return jsonResponse(200, jsonText({ profile: null, error }));
}
