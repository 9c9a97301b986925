/**
 * Another configuration for a server that runs.
 *
 *     options ─► what differs ─► may it change, and can petiole? ─► made ready ─► taken on ─► told
 *                                  └─ no: why, and nothing has changed     └─ fails: likewise
 *
 * Whatever can fail (certificates, addresses, files) is made ready before anything is taken on. What a change means for
 * connections that are there: limits hold from the next operation on, they are traced or not, users and permissions are
 * looked at anew, TLS holds for new connections only.
 */

import { strict as assert } from 'node:assert';
import { jetstreamAccounts } from './account/accounts.ts';
import { announcement, type Announced } from './announcement.ts';
import type { CompressionOptions } from './config/compression.ts';
import { formatDuration } from './config/duration.ts';
import { friendlyBytes } from './config/friendly-bytes.ts';
import type { ServerOptions } from './config/options.ts';
import { type Change, changedOptions, reloadRefusal } from './config/reload.ts';
import { TLS_TIMEOUT_MS } from './config/transport-options.ts';
import type { ClientConnection } from './connection/client-connection.ts';
import type { ClientListener } from './connection/client-listener.ts';
import type { ConnectionLimits } from './connection/connection-host.ts';
import { limitsOf } from './connection/connection-limits.ts';
import { TracedClient } from './connection/traced-client.ts';
import { tlsInfo, withoutTls } from './connection/tls-info.ts';
import type { Log, LogOptions } from './io/log.ts';
import type { LeafListener } from '../leafnode/leaf-listener.ts';
import type { LeafNodes } from '../leafnode/leaf-nodes.ts';
import { PeerErrors } from './protocol/errors.ts';
import { goQuote } from './protocol/go-quote.ts';
import type { ServerInfo } from './protocol/server-info.ts';

export interface Reloadable extends Announced {
  options: ServerOptions;
  info: ServerInfo;
  readonly log: Log;
  readonly limits: ConnectionLimits;
  readonly clients: ReadonlyMap<number, ClientConnection>;
  readonly listener: ClientListener;
  readonly process: ProcessFiles | null;
  /** What is asked of JetStream; `null`: it is off. */
  readonly jetstream: ReloadableJetStream | null;
  readonly jetStreamSlot: { readonly isChanging: boolean; follow(done: () => void): void };
  readonly leafNodes: Pick<LeafNodes, 'reloadRefusal' | 'reconfigure'>;
  /** `null`: links are not accepted. */
  readonly leafListener: Pick<LeafListener, 'prepare'> | null;
  /** `null`: nobody is accepted who speaks WebSocket. */
  readonly webSocketDoor: { prepare(next: ServerOptions): () => void } | null;
  /** Looks at users, permissions and accounts anew, for everybody who is there. */
  reauthorize(): void;
}

interface ReloadableJetStream {
  readonly switch: { canTurnOn(account: string): boolean };
  reconfigure(options: ServerOptions['jetstream']): void;
}

/** Log file, pid file and ports file, which belong to the process and not to a server inside it. */
export interface ProcessFiles {
  /** Opens what these options name; what it returns goes over to it. Throws when it can't be opened. */
  prepare(options: ServerOptions): () => void;
}

/** What is logged of a change that can be taken on; of fields that are not here, a few are, and the others can't be. */
const TOLD: Readonly<Record<string, ((options: ServerOptions) => string) | undefined>> = {
  Debug: ({ debug }) => `debug = ${debug}`,
  Trace: ({ trace }) => `trace = ${trace}`,
  TraceVerbose: ({ traceVerbose }) => `trace_verbose = ${traceVerbose}`,
  TraceHeaders: ({ traceHeaders }) => `trace_headers = ${traceHeaders}`,
  MaxTracedMsgLen: ({ maxTracedMessageBytes }) => `max_traced_msg_len = ${maxTracedMessageBytes}`,
  Logtime: ({ logTime }) => `logtime = ${logTime}`,
  LogtimeUTC: ({ logTimeUtc }) => `logtime_utc = ${logTimeUtc}`,
  LogFile: ({ logFile }) => `log_file = ${logFile}`,
  RemoteSyslog: ({ remoteSyslog }) => `remote_syslog = ${remoteSyslog}`,
  PidFile: ({ pidFile }) => `pid_file = ${pidFile}`,
  PortsFileDir: ({ portsFileDirectory }) => `ports_file_dir = ${portsFileDirectory}`,
  ClientAdvertise: ({ clientAdvertise }) => `client_advertise = ${clientAdvertise}`,
  MaxConn: ({ maxConnections }) => `max_connections = ${maxConnections}`,
  MaxControlLine: ({ maxControlLineBytes }) => `max_control_line = ${maxControlLineBytes}`,
  MaxPayload: ({ maxPayloadBytes }) => `max_payload = ${maxPayloadBytes}`,
  PingInterval: ({ pingIntervalMs }) => `ping_interval = ${formatDuration(pingIntervalMs)}`,
  MaxPingsOut: ({ maxPingsOut }) => `ping_max = ${maxPingsOut}`,
  WriteDeadline: ({ writeDeadlineMs }) => `write_deadline = ${formatDuration(writeDeadlineMs)}`,
  NoFastProducerStall: ({ stallsFastProducers }) =>
    `fast producers will ${stallsFastProducers ? '' : 'not '}be stalled`,
  Username: () => 'authorization username',
  Password: () => 'authorization password',
  Authorization: () => 'authorization token',
  Users: () => 'authorization users',
  NoAuthUser: () => '',
  Accounts: () => 'accounts',
  SystemAccount: () => '',
  AuthTimeout: ({ authorization }) => `authorization timeout = ${authorization.timeoutMs / 1000}`,
  JetStream: () => 'JetStream',
  JetStreamMaxMemory: ({ jetstream }) => `JetStream max_mem_store = ${friendlyBytes(jetstream.maxMemoryBytes ?? 0)}`,
  JetStreamMaxStore: ({ jetstream }) => `JetStream max_file_store = ${friendlyBytes(jetstream.maxFileBytes ?? 0)}`,
  JetStreamLimits: () => 'JetStream limits',
  ConnectErrorReports: ({ connectErrorReports }) => `connect_error_reports = ${connectErrorReports}`,
  ReconnectErrorReports: ({ reconnectErrorReports }) => `reconnect_error_reports = ${reconnectErrorReports}`,
  Tags: () => 'tags',
  Metadata: () => 'metadata',
  'LeafNode.Compression': ({ leafnodes: { listener } }) =>
    `LeafNode Compression value is: ${shownCompression(listener.compression)}`,
  TLSConfig: ({ tls }) => `tls = ${tls === null ? 'disabled' : 'enabled'}`,
  TLSTimeout: ({ tls }) => `tls timeout = ${(tls?.timeoutMs ?? TLS_TIMEOUT_MS) / 1000}`,
  TLSPinnedCerts: ({ tls }) => `${tls?.pinnedKeys.length ?? 0} pinned_certs`,
  TLSHandshakeFirst: ({ tls }) => `Client TLS handshake first: ${tls?.isHandshakeFirst ?? false}`,
  TLSHandshakeFirstFallback: ({ tls }) =>
    `Client TLS handshake first fallback delay: ${formatDuration(tls?.fallbackDelayMs ?? 0)}`,
};

/** Taken on without a line here: leaves tell of theirs, and the store is named when JetStream starts. */
const TAKEN_SILENTLY: ReadonlySet<string> = new Set([
  'LeafNode.Remotes',
  'LeafNode.TLSConfig',
  'Websocket.TLSConfig',
  'StoreDir',
]);

/** As nats-server, which looks at who may come in whenever it reloads. */
const TOLD_ALWAYS = ['authorization users', 'accounts'];

/** What says nothing on its own while JetStream is off, or comes or goes. */
const OF_JETSTREAM: ReadonlySet<string> = new Set(['JetStreamMaxMemory', 'JetStreamMaxStore']);

const AUTHORIZATION: ReadonlySet<string> = new Set([
  'Username',
  'Password',
  'Authorization',
  'Users',
  'NoAuthUser',
  'Accounts',
]);

/** What `Log` takes of the options. */
export function logOptionsOf(options: ServerOptions): LogOptions {
  const { debug, trace, logTime: time, logTimeUtc: utc, logFormat } = options;
  return { debug, trace, time, utc, json: logFormat === 'json' };
}

/** Takes the options on as a whole; or says why not, and nothing has changed. */
export function reload(server: Reloadable, given: ServerOptions): string | null {
  const before = server.options;
  // Where any free port will do, the server stays on the one it has.
  const next = keepPorts(before, given);
  const changes = changedOptions(asItRuns(server), next);
  const refusal =
    reloadRefusal(changes, ({ field }) => TOLD[field] !== undefined || TAKEN_SILENTLY.has(field)) ??
    leafTlsRefusal(before, next) ??
    webSocketTlsRefusal(before, next) ??
    server.leafNodes.reloadRefusal(next.leafnodes.remotes) ??
    accountsRefusal(server, before, next);
  if (refusal !== null) return refusal;
  let takeOn: (() => void)[];
  try {
    takeOn = makeReady(server, next);
  } catch (error) {
    assert(error instanceof Error, 'what is thrown is an error');
    return error.message;
  }
  server.options = next;
  for (const step of takeOn) step();
  tell(server, changes, next);
  for (const client of server.clients.values()) TracedClient.follow(client, server.log.traceEnabled);
  if (changes.some(({ field }) => field === 'MaxConn')) closeSurplus(server);
  if (changes.some(({ field }) => AUTHORIZATION.has(field))) server.reauthorize();
  server.leafNodes.reconfigure(before.leafnodes.remotes, next.leafnodes.remotes);
  if (changes.some(({ field }) => field === 'TLSPinnedCerts')) server.listener.closeUnpinned(server.clients.values());
  server.jetStreamSlot.follow(() => server.log.notice(`Reloaded server configuration (${next.configDigest})`));
  return null;
}

/** The options, and whether JetStream runs, which it may have failed to; what is on its way counts as done. */
function asItRuns({ options, jetstream, jetStreamSlot }: Reloadable): ServerOptions {
  if (jetStreamSlot.isChanging) return options;
  return { ...options, jetstream: { ...options.jetstream, isEnabled: jetstream !== null } };
}

function keepPorts(before: ServerOptions, given: ServerOptions): ServerOptions {
  const { listener } = given.leafnodes;
  const leafPort = listener.port === 0 ? before.leafnodes.listener.port : listener.port;
  const leafnodes = { ...given.leafnodes, listener: { ...listener, port: leafPort } };
  const port = given.port === 0 ? before.port : given.port;
  const webSocketPort = given.websocket.port === 0 ? before.websocket.port : given.websocket.port;
  return { ...given, port, leafnodes, websocket: { ...given.websocket, port: webSocketPort } };
}

/** The leaf port takes links in another way with TLS than without. */
function leafTlsRefusal(before: ServerOptions, next: ServerOptions): string | null {
  if ((before.leafnodes.listener.tls === null) === (next.leafnodes.listener.tls === null)) return null;
  return 'config reload not supported by petiole yet for LeafNode: turning TLS on or off needs a restart';
}

/** Nor does the port where WebSocket is spoken. */
function webSocketTlsRefusal(before: ServerOptions, next: ServerOptions): string | null {
  if ((before.websocket.tls === null) === (next.websocket.tls === null)) return null;
  return 'config reload not supported by petiole yet for Websocket: turning TLS on or off needs a restart';
}

/** An account that had JetStream since the start, and streams then, does not get it back while the server runs. */
function accountsRefusal({ jetstream }: Reloadable, before: ServerOptions, next: ServerOptions): string | null {
  if (jetstream === null || !next.jetstream.isEnabled) return null;
  const had = jetstreamAccounts(before);
  const unable = jetstreamAccounts(next).find((name) => !had.includes(name) && !jetstream.switch.canTurnOn(name));
  if (unable === undefined) return null;
  const what = `JetStream of account ${goQuote(unable)} is turned on again by a restart`;
  return `config reload not supported by petiole yet for Accounts: ${what}`;
}

function shownCompression({ mode, rttThresholdsMs }: CompressionOptions): string {
  return `{${mode} [${rttThresholdsMs.map(formatDuration).join(' ')}]}`;
}

/** What can fail is done, and what cannot is left to be done. */
function makeReady(server: Reloadable, next: ServerOptions): (() => void)[] {
  const info = announcement(server, next);
  const { host, port, max_payload } = info;
  const secure = server.listener.prepare(next);
  const secureLeaves = server.leafListener?.prepare(next.leafnodes.listener);
  const takeOnWebSocket = server.webSocketDoor?.prepare(next);
  const openFiles = server.process?.prepare(next);
  return [
    () => Object.assign(server.limits, limitsOf(next)),
    () => server.jetstream?.reconfigure(next.jetstream),
    () => {
      server.info = { ...withoutTls(server.info), host, port, ...tlsInfo(next), max_payload };
    },
    secure,
    () => secureLeaves?.(),
    () => takeOnWebSocket?.(),
    () => openFiles?.(),
    () => server.log.configure(logOptionsOf(next)),
  ];
}

function tell({ log, jetstream }: Reloadable, changes: readonly Change[], next: ServerOptions): void {
  const runs = jetstream !== null && next.jetstream.isEnabled;
  const told = changes.filter(({ field }) => runs || !OF_JETSTREAM.has(field));
  const lines = told.map(({ field }) => TOLD[field]?.(next) ?? '').filter((line) => line !== '');
  for (const line of new Set([...lines, ...TOLD_ALWAYS])) log.notice(`Reloaded: ${line}`);
}

/** There are more clients than there may be now: some go. */
function closeSurplus({ clients, options, log }: Reloadable): void {
  const surplus = clients.size - Math.max(0, options.maxConnections);
  if (surplus <= 0) return;
  for (const client of [...clients.values()].slice(-surplus)) client.complain(PeerErrors.maximumConnections);
  log.notice(`Closed ${surplus} connections to fall within max_connections`);
}
