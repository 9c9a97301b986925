/**
 * /varz: what the server is, how it is configured, and what it has done. Members and their order are nats-server's; a
 * part of nats-server that petiole does not have (gateways, MQTT, …) shows as one that is not configured.
 *
 * Costs a walk over the open connections, to add up their traffic.
 */

import type { ServerOptions } from '../config/options.ts';
import { durationNs } from '../config/duration.ts';
import type { Traffic } from '../connection/statistics.ts';
import type { HttpResponse } from '../io/io.ts';
import { jsonResponse, type MonitorContext } from './endpoint.ts';
import { JsonDocument } from './json-document.ts';
import { FEATURE_FLAGS } from '../protocol/feature-flags.ts';
import type { MonitorSource } from './monitor-source.ts';
import type { Query } from './query.ts';
import { validUntil } from './server-certificate.ts';
import { ageText, momentText } from './time-text.ts';
import { leafPart } from './varz-leaf.ts';
import { webSocketPart } from './varz-websocket.ts';

export function varz(_query: Query, context: MonitorContext): HttpResponse {
  context.requests.count('/varz');
  return jsonResponse(200, varzText(context));
}

/** The page as JSON. */
export function varzText(context: MonitorContext): string {
  const { source } = context;
  const json = new JsonDocument();
  json.beginObject();
  json.members(identity(source));
  json.exactMembers(configuredLimits(source.options));
  json.exactMembers(parts(source));
  json.members(present(context));
  json.members(connectionCounts(source));
  json.members(requestsAndConfig(context));
  json.members(troubles(source));
  json.end();
  return json.wholeText();
}

function identity(source: MonitorSource): object {
  const { info } = source;
  return {
    server_id: info.server_id,
    server_name: info.server_name,
    version: info.version,
    proto: info.proto,
    git_commit: info.git_commit,
    go: info.go,
    host: info.host,
    port: info.port,
    // Also where clients without credentials become some user, which an INFO does not announce.
    auth_required: source.authRequired || undefined,
    tls_required: info.tls_required,
    tls_verify: info.tls_verify,
  };
}

function configuredLimits(options: ServerOptions): object {
  const { monitorPort, httpsPort, monitorBasePath } = options;
  return {
    max_connections: options.maxConnections,
    max_subscriptions: options.maxSubscriptions || undefined,
    ping_interval: durationNs(options.pingIntervalMs),
    ping_max: options.maxPingsOut,
    http_host: options.monitorHost,
    // As configured: any free port is -1.
    http_port: monitorPort === null ? 0 : monitorPort || -1,
    http_base_path: monitorBasePath === '/' ? '' : monitorBasePath,
    https_port: httpsPort === null ? 0 : httpsPort || -1,
    auth_timeout: options.authorization.timeoutMs / 1000,
    max_control_line: options.maxControlLineBytes,
    max_payload: options.maxPayloadBytes,
    max_pending: options.maxPendingBytes,
  };
}

function parts(source: MonitorSource): object {
  const { options, jetStreamView } = source;
  const { writeTimeoutPolicy, writeDeadlineMs } = options;
  return {
    cluster: {},
    gateway: {},
    leaf: leafPart(source),
    mqtt: {},
    websocket: webSocketPart(source),
    jetstream: jetStreamView === null ? {} : jetStreamView.varz(),
    // Without TLS, the default.
    tls_timeout: (options.tls?.timeoutMs ?? 2_000) / 1000,
    write_deadline: durationNs(writeDeadlineMs),
    write_timeout: writeTimeoutPolicy === 'default' ? undefined : writeTimeoutPolicy,
  };
}

function present({ source, cpu }: MonitorContext): object {
  const { clock, host } = source.io;
  return {
    start: momentText(source.startWallMs),
    now: momentText(clock.wallMs()),
    uptime: ageText(clock.monotonicMs() - source.startMonotonicMs),
    mem: host.residentBytes(),
    cores: host.cores,
    gomaxprocs: host.cores,
    cpu: cpu.look(),
  };
}

function connectionCounts(source: MonitorSource): object {
  const ofClients = source.goneClientTraffic.copy();
  const all = source.goneTraffic.copy();
  let stalls = source.goneStalls;
  let connections = 0;
  for (const client of source.clients.values()) {
    ofClients.add(client.traffic);
    all.add(client.traffic);
    stalls += client.stalls;
    if (!client.isClosed) connections++;
  }
  const links = source.leafNodes.links();
  for (const { traffic } of links) all.add(traffic);
  let subscriptions = 0;
  for (const { sublist } of source.accounts.values()) subscriptions += sublist.size;
  return {
    connections,
    total_connections: source.clientsAccepted,
    routes: 0,
    remotes: 0,
    leafnodes: links.length,
    ...trafficMembers(all, ofClients),
    slow_consumers: slowConsumers(source),
    stale_connections: source.staleConnections,
    stalled_clients: stalls,
    subscriptions,
  };
}

function trafficMembers(all: Traffic, ofClients: Traffic): object {
  return {
    in_msgs: all.inMessages,
    in_bytes: all.inBytes,
    in_client_msgs: ofClients.inMessages,
    in_client_bytes: ofClients.inBytes,
    out_msgs: all.outMessages,
    out_bytes: all.outBytes,
    out_client_msgs: ofClients.outMessages,
    out_client_bytes: ofClients.outBytes,
  };
}

function requestsAndConfig({ source, requests }: MonitorContext): object {
  const { options } = source;
  const metadata = Object.entries(options.serverMetadata).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    http_req_stats: requests.toObject(),
    config_load_time: momentText(source.configuredWallMs),
    config_digest: options.configDigest,
    tags: options.serverTags.length === 0 ? undefined : options.serverTags,
    metadata: metadata.length === 0 ? undefined : Object.fromEntries(metadata),
    feature_flags: FEATURE_FLAGS,
    system_account: options.hasSystemAccount ? source.systemAccount.name : undefined,
  };
}

function troubles(source: MonitorSource): object {
  return {
    slow_consumer_stats: byKind(slowConsumers(source), source.slowLeafs),
    stale_connection_stats: byKind(source.staleConnections, source.staleLeafs),
    // Of a limit to disk access that nats-server has; here nothing waits for it.
    disk_io_wait_stats: { waiters: 0, waits: 0, wait_time: 0, max_wait_time: 0 },
    tls_cert_not_after: validUntil(source.options.tls),
  };
}

function byKind(all: number, leafs: number): object {
  return { clients: all - leafs, routes: 0, gateways: 0, leafs };
}

function slowConsumers(source: MonitorSource): number {
  return source.slowConsumersPending + source.slowConsumersDeadline;
}
