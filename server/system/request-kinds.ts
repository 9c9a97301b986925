/**
 * The pages of monitoring that can be asked for in `$SYS` too. The body of a request is JSON with the page's options, under
 * names of their own, and a filter:
 *
 *     {"subscriptions": true, "limit": 10, "server_name": "edge"}     ►  /subsz?subs=1&limit=10, of servers named edge
 *
 * A body is read by the rules of Go's decoder, whose words for what is wrong with it are the answer.
 */

import { connz } from '../monitor/connz.ts';
import type { Answer, MonitorContext } from '../monitor/endpoint.ts';
import type { Query } from '../monitor/query.ts';
import { healthz } from '../monitor/healthz.ts';
import { subsz } from '../monitor/subsz.ts';
import { varz } from '../monitor/varz.ts';
import { bytesAsText } from '../monitor/byte-text.ts';
import { goBool, goInt, goString, goUint64, type GoType } from '../protocol/go-json-schema.ts';
import { embedded, field, GoStruct, type StructField } from '../protocol/go-json-struct.ts';
import { REQUEST_FILTER, type RequestFilter } from './request-filter.ts';

type Options = Record<string, unknown>;

/** Throws a BadRequest over a parameter. */
type Page = (query: Query, context: MonitorContext) => Answer;

export interface PageRequest {
  options: Options;
  filter: RequestFilter;
}

/** One page. */
export interface RequestKind {
  readonly body: GoStruct<PageRequest>;
  /** The parameters by which the page is asked for what the options say. */
  readonly query: (options: Options) => string;
  readonly page: Page;
}

interface Option {
  readonly json: string;
  readonly type: GoType<unknown>;
  readonly parameter: string;
  /** The parameter's text for a value that is not empty. */
  readonly text: (value: unknown) => string;
}

const STATES: readonly string[] = ['open', 'closed', 'any'];

export const REQUEST_KINDS: ReadonlyMap<string, RequestKind> = new Map([
  kind('VARZ', 'Varz', varz, []),
  kind('SUBSZ', 'Subsz', subsz, [
    number('offset'),
    number('limit'),
    flag('subscriptions', 'subs'),
    text('account', 'acc'),
    text('test'),
  ]),
  kind('CONNZ', 'Connz', connz, [
    text('sort'),
    flag('auth'),
    // It says more than the plain list, and the first of two parameters counts.
    { ...flag('subscriptions_detail', 'subs'), text: () => 'detail' },
    flag('subscriptions', 'subs'),
    number('offset'),
    number('limit'),
    { ...number('cid'), type: goUint64 },
    text('mqtt_client'),
    { ...number('state'), text: (value) => STATES[value as number] ?? `${value as number}` },
    text('user'),
    text('acc'),
  ]),
  kind('HEALTHZ', 'Healthz', healthz, [
    flag('js-enabled'),
    flag('js-enabled-only'),
    flag('js-server-only'),
    flag('js-meta-only'),
    text('account'),
    text('stream'),
    text('consumer'),
    flag('details'),
  ]),
]);

/** A request for the summary, which has no options. */
export const STATISTICS_BODY: GoStruct<{ filter: RequestFilter }> = new GoStruct<{ filter: RequestFilter }>(
  'server.StatszEventOptions',
  embedded<{ filter: RequestFilter }, 'filter'>('filter', REQUEST_FILTER),
);

/** `name` as in the names of nats-server's types, which its error texts show. */
function kind(key: string, name: string, page: Page, options: readonly Option[]): readonly [string, RequestKind] {
  const fields: StructField<Options>[] = options.map(({ json, type }) => field(json, json, type));
  const body = new GoStruct<PageRequest>(`server.${name}EventOptions`, [
    ...embedded<PageRequest, 'options'>('options', new GoStruct<Options>(`server.${name}Options`, fields)),
    ...embedded<PageRequest, 'filter'>('filter', REQUEST_FILTER),
  ]);
  return [key, { body, page, query: (given) => queryOf(given, options) }];
}

function queryOf(given: Options, options: readonly Option[]): string {
  const parameters = new URLSearchParams();
  for (const { json, type, parameter, text: textOf } of options) {
    const value = given[json];
    if (!type.isEmpty(value)) parameters.append(parameter, textOf(value));
  }
  return parameters.toString();
}

function flag(json: string, parameter: string = json): Option {
  return { json, type: goBool, parameter, text: () => '1' };
}

function number(json: string, parameter: string = json): Option {
  // The largest there is stands as such in a value, and is spelled out here.
  return { json, type: goInt, parameter, text: (value) => String(goInt.toJson(value as number)) };
}

function text(json: string, parameter: string = json): Option {
  return { json, type: goString, parameter, text: (value) => bytesAsText(value as string) };
}
