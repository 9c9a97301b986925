/**
 * What /metrics says of the server itself: each number of /varz under the name that nats-server's exporter gives it, the
 * sums of /connz, the use that accounts make of it, and why consumers were slow.
 */

import { type AccountStatistics, accountRows } from '../accstatz.ts';
import type { MonitorContext } from '../endpoint.ts';
import type { MonitorSource } from '../monitor-source.ts';
import { PETIOLE_VERSION } from '../../protocol/version.ts';
import { varzText } from '../varz.ts';
import { joined, labels, type MetricText } from './metric-text.ts';
import type { AnswerWork } from '../answer-work.ts';

const CONNECTIONS_PER_STEP = 256;
/** Texts of /varz that are worth a sample, the text being its label. */
const SHOWN_TEXTS: ReadonlySet<string> = new Set(['server_id', 'server_name', 'version', 'domain']);

export function* describeServer(text: MetricText, context: MonitorContext): AnswerWork {
  const { source } = context;
  const serverLabels = labels({ server_id: source.id });
  const build = labels({ server_id: source.id, server_name: source.name, version: PETIOLE_VERSION });
  text.gauge('petiole_build_info', 'Always 1; its labels say what runs', build, 1);
  describeVarz(text, serverLabels, JSON.parse(varzText(context)) as object, '');
  const started = 'When the server started, in milliseconds since 1970';
  text.gauge('gnatsd_varz_start', started, serverLabels, Math.round(source.startWallMs));
  const configured = 'When the configuration was loaded, in milliseconds since 1970';
  text.gauge('gnatsd_varz_config_load_time', configured, serverLabels, Math.round(source.configuredWallMs));
  describeSlowConsumers(text, serverLabels, source);
  const givenUp = 'TLS handshakes of clients that made room for others before their time was over';
  text.counter('petiole_handshakes_given_up_total', givenUp, serverLabels, source.listener.handshakesGivenUp);
  yield* describeAccounts(text, source);
  yield;
  yield* describeConnections(text, serverLabels, source);
}

/** Numbers as they are, objects flattened. `path`: of the object's members, with a point behind each. */
function describeVarz(text: MetricText, serverLabels: string, object: object, path: string): void {
  for (const [key, value] of Object.entries(object) as [string, unknown][]) {
    // Names are made of letters, digits and single underscores.
    const name = `gnatsd_varz_${path}${key}`.replaceAll(/\W/g, '_').replaceAll(/__+/g, '_');
    const gauge = (own: string, number: number): void => {
      text.gauge(name, `${path}${key} of /varz`, joined(serverLabels, own), number);
    };
    if (typeof value === 'number') gauge('', value);
    else if (typeof value === 'string' && SHOWN_TEXTS.has(key)) gauge(labels({ value }), 1);
    else if (isPlain(value) && key !== 'metadata') describeVarz(text, serverLabels, value, `${path}${key}.`);
  }
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function describeSlowConsumers(text: MetricText, serverLabels: string, source: MonitorSource): void {
  const help = 'Connections closed or dropped from because they were slow';
  const byReason = { max_pending: source.slowConsumersPending, write_deadline: source.slowConsumersDeadline };
  for (const [reason, count] of Object.entries(byReason)) {
    text.counter('petiole_slow_consumers_total', help, joined(serverLabels, labels({ reason })), count);
  }
}

function* describeAccounts(text: MetricText, source: MonitorSource): AnswerWork {
  for (const row of accountRows(source, { accounts: [], withUnused: true })) {
    if (row === null) yield;
    else describeAccount(text, source.id, row);
  }
}

function describeAccount(text: MetricText, serverId: string, row: AccountStatistics): void {
  const { name: account, sent, received } = row;
  const all = labels({ server_id: serverId, account, account_id: account, account_name: account });
  const gauge = (name: string, help: string, value: number): void => {
    text.gauge(`gnatsd_accstatz_${name}`, help, all, value);
  };
  gauge('current_connections', 'Clients of the account', row.conns);
  gauge('total_connections', 'Clients and leaf links of the account', row.total_conns);
  gauge('leaf_nodes', 'Leaf links of the account', row.leafnodes);
  gauge('subscriptions', 'Subscriptions in the account', row.num_subscriptions);
  gauge('sent_messages', 'Messages that went to clients and links of the account', sent.msgs);
  gauge('sent_bytes', 'Bytes of these', sent.bytes);
  gauge('received_messages', 'Messages that came from clients and links of the account', received.msgs);
  gauge('received_bytes', 'Bytes of these', received.bytes);
  gauge('slow_consumers', 'Connections of the account that were closed because they were slow', row.slow_consumers);
}

/** The sums of what is open. */
function* describeConnections(text: MetricText, serverLabels: string, source: MonitorSource): AnswerWork {
  const sums = { pending_bytes: 0, subscriptions: 0, in_msgs: 0, in_bytes: 0, out_msgs: 0, out_bytes: 0 };
  let open = 0;
  let looked = 0;
  for (const client of source.clients.values()) {
    if (++looked % CONNECTIONS_PER_STEP === 0) yield;
    if (client.isClosed) continue;
    const { trafficSoFar } = client;
    open++;
    sums.pending_bytes += client.pendingBytes;
    sums.subscriptions += client.subscriptions.size;
    sums.in_msgs += trafficSoFar.inMessages;
    sums.in_bytes += trafficSoFar.inBytes;
    sums.out_msgs += trafficSoFar.outMessages;
    sums.out_bytes += trafficSoFar.outBytes;
  }
  const gauge = (name: string, help: string, value: number): void => {
    text.gauge(`gnatsd_connz_${name}`, help, serverLabels, value);
  };
  gauge('num_connections', 'Open connections of clients', open);
  gauge('total', 'Open connections of clients', open);
  for (const [name, value] of Object.entries(sums)) gauge(name, `${name} of all open connections of clients`, value);
}
