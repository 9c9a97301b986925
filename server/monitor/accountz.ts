/**
 * /accountz: the names of the accounts, or with `acc` one of them in full: who is connected, what it maps, exports and
 * imports. Exports and imports are those of the configuration, and what the system account shares with all.
 */

import type { Account } from '../account/account.ts';
import type { Share } from '../account/mapping.ts';
import type { AccountOptions, ExportOptions, ImportOptions, LatencyOptions } from '../config/account-options.ts';
import { emptyAccount } from '../config/account-options.ts';
import type { HttpResponse } from '../io/io.ts';
import { placeholdersToWildcards } from '../subject/transform.ts';
import { BadRequest, jsonResponse, type MonitorContext } from './endpoint.ts';
import { bytesJsonText } from './json-text.ts';
import { textAsBytes } from './byte-text.ts';
import type { MonitorSource } from './monitor-source.ts';
import type { Query } from './query.ts';
import { exportsOfSystem, importsFromSystem } from './system-shares.ts';
import { sublistStatistics } from './subsz.ts';
import { momentText } from './time-text.ts';

const RESPONSE_TYPES = { singleton: 'Singleton', stream: 'Streamed', chunked: 'Chunked' } as const;

export function accountz(query: Query, { source, requests }: MonitorContext): HttpResponse {
  requests.count('/accountz');
  return jsonResponse(200, bytesJsonText(accountzBody(source, query.text('acc')), 2));
}

/**
 * The page, about all accounts for ''. Its texts are strings of bytes. Throws a BadRequest when there is no such account.
 */
function accountzBody(source: MonitorSource, account: string): object {
  return {
    server_id: source.id,
    now: momentText(source.io.clock.wallMs()),
    system_account: source.options.hasSystemAccount ? textAsBytes(source.systemAccount.name) : undefined,
    ...(account === ''
      ? { accounts: [...source.accounts.keys()].map(textAsBytes) }
      : { account_detail: detailOf(source, account) }),
  };
}

function detailOf(source: MonitorSource, name: string): object {
  const account = source.accounts.get(name);
  if (account === undefined) throw new BadRequest(`Account ${name} does not exist`);
  const { options } = source;
  const configured = options.accounts.find((each) => each.name === name) ?? emptyAccount(name);
  return {
    account_name: textAsBytes(name),
    update_time: momentText(source.configuredWallMs),
    is_system: account === source.systemAccount ? true : undefined,
    expired: false,
    complete: true,
    jetstream_enabled: source.jetstream?.accounts.has(name) ?? false,
    leafnode_connections: source.leafNodes.links().filter((link) => link.account === account).length,
    client_connections: account.limits.clients,
    subscriptions: account.sublist.size,
    mappings: mappingsOf(account),
    ...sharedBy(configured, source),
    name_tag: textAsBytes(name),
    sublist_stats: statisticsOf(account),
  };
}

function statisticsOf({ sublist }: Account): object {
  return sublistStatistics([sublist.statistics()]);
}

/** By source. As weight each destination has the upper end of its share, as nats-server shows it. */
function mappingsOf({ mappings }: Account): object | undefined {
  if (mappings === null || mappings.size === 0) return undefined;
  return Object.fromEntries(Array.from(mappings.values(), ({ source, sets }) => [source, destinationsOf(sets)]));
}

function destinationsOf(sets: ReadonlyMap<string, readonly Share[]>): object[] {
  return [...sets].flatMap(([cluster, shares]) =>
    shares.map(({ transform, end }) => ({
      subject: transform.destination,
      weight: end,
      cluster: cluster === '' ? undefined : textAsBytes(cluster),
    })),
  );
}

function sharedBy({ name, exports, imports }: AccountOptions, source: MonitorSource): object {
  const { options, systemAccount } = source;
  const isSystem = name === systemAccount.name;
  const services = exports.filter(({ kind }) => kind === 'service');
  const streams = exports.filter(({ kind }) => kind === 'stream');
  const shownExports = [...(isSystem ? exportsOfSystem(source) : []), ...[...services, ...streams].map(exported)];
  const shownImports = [
    ...imports.filter(({ kind }) => kind === 'stream').map(streamImport),
    ...(options.hasSystemAccount ? importsFromSystem(source, name) : []),
    ...imports.filter(({ kind }) => kind === 'service').map((each) => serviceImport(each, options.accounts)),
  ];
  return {
    exports: shownExports.length === 0 ? undefined : shownExports,
    imports: shownImports.length === 0 ? undefined : shownImports,
  };
}

function exported({ kind, subject, responseType, latency, accounts }: ExportOptions): object {
  return {
    subject,
    type: kind,
    response_type: kind === 'service' ? RESPONSE_TYPES[responseType] : undefined,
    service_latency: kind === 'service' ? latencyOf(latency) : undefined,
    approved_accounts: accounts === null || accounts.length === 0 ? undefined : accounts.map(textAsBytes),
  };
}

function streamImport({ subject, account, to }: ImportOptions): object {
  return {
    subject,
    account: textAsBytes(account),
    local_subject: placeholdersToWildcards(to).pattern,
    type: 'stream',
    invalid: false,
    share: false,
    tracking: false,
  };
}

function serviceImport({ subject, account, to, isShared }: ImportOptions, all: readonly AccountOptions[]): object {
  const local = placeholdersToWildcards(to).pattern;
  const exporter = all.find(({ name }) => name === account);
  const service = exporter?.exports.find((each) => each.kind === 'service' && each.subject === subject);
  return {
    subject,
    account: textAsBytes(account),
    to: local,
    local_subject: local,
    type: 'service',
    invalid: false,
    share: isShared,
    tracking: false,
    latency: latencyOf(service?.latency ?? null),
  };
}

function latencyOf(latency: LatencyOptions | null): object | undefined {
  if (latency === null) return undefined;
  const { samplingPercent, subject } = latency;
  return { sampling: samplingPercent === 0 ? 'headers' : samplingPercent, results: subject };
}
