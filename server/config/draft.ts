/**
 * Options while they are being read: the same values as `ServerOptions`, but open to change, and with 0, '' and null
 * for "not set" and -1 for any free port, as config files and flags have it. Flags, the file and the flags again write
 * into one draft, so that the later one wins; `completeOptions` then fills in the defaults.
 */

import type { AccountOptions } from './account-options.ts';
import { completeLeafListener, emptyLeafListener, type LeafListenerDraft } from './leaf-listener-options.ts';
import type {
  AuthorizationOptions,
  JetStreamLimits,
  JetStreamOptions,
  LeafnodeOptions,
  LeafRemoteOptions,
  ServerOptions,
  UserOptions,
} from './options.ts';
import { isPasswordHash } from './password.ts';
import { completeTransport, defaultAuthTimeoutMs, emptyTransport } from './transport-options.ts';
import { completeWebSocket, emptyWebSocket, type WebSocketDraft } from './websocket-options.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export type JetStreamLimitsDraft = Mutable<JetStreamLimits>;
export type JetStreamDraft = Mutable<Omit<JetStreamOptions, 'limits'>> & { limits: JetStreamLimitsDraft };
export type AuthorizationDraft = Mutable<AuthorizationOptions>;
export type LeafnodeDraft = Mutable<Omit<LeafnodeOptions, 'listener'>> & { listener: LeafListenerDraft };
export type LeafRemoteDraft = Mutable<LeafRemoteOptions>;
export type UserDraft = Mutable<UserOptions>;
export type AccountDraft = Mutable<AccountOptions>;

export interface Draft extends Mutable<Omit<ServerOptions, 'authorization' | 'jetstream' | 'leafnodes' | 'websocket'>> {
  authorization: AuthorizationDraft;
  jetstream: JetStreamDraft;
  leafnodes: LeafnodeDraft;
  websocket: WebSocketDraft;
}

/** A draft in which nothing is set. */
export function emptyDraft(): Draft {
  return {
    ...emptyTransport(),
    configFile: '',
    configDigest: '',
    serverName: '',
    host: '',
    port: 0,
    clientAdvertise: '',
    monitorHost: '',
    monitorPort: 0,
    monitorBasePath: '',
    maxConnections: 0,
    maxSubscriptions: 0,
    maxSubscriptionTokens: 0,
    maxControlLineBytes: 0,
    maxPayloadBytes: 0,
    maxPendingBytes: 0,
    maxClosedClients: 0,
    pingIntervalMs: 0,
    maxPingsOut: 0,
    writeDeadlineMs: 0,
    writeTimeoutPolicy: 'default',
    stallsFastProducers: true,
    lameDuckDurationMs: 0,
    lameDuckGraceMs: 0,
    hasSublistCache: true,
    supportsHeaders: true,
    hasSystemAccount: true,
    debug: false,
    trace: false,
    traceVerbose: false,
    traceHeaders: false,
    maxTracedMessageBytes: 0,
    logTime: true,
    logTimeUtc: false,
    logFile: '',
    remoteSyslog: '',
    pidFile: '',
    portsFileDirectory: '',
    authorization: { username: '', password: '', token: '', users: [], noAuthUser: '', timeoutMs: 0 },
    accounts: [],
    systemAccount: '',
    mappings: [],
    jetstream: {
      isEnabled: false,
      storeDirectory: null,
      maxMemoryBytes: null,
      maxFileBytes: null,
      domain: '',
      isStrict: true,
      syncsAlways: true,
      syncIntervalMs: 0,
      maxBufferedMessages: 0,
      maxBufferedBytes: 0,
      requestQueueLimit: 0,
      infoQueueLimit: 0,
      limits: { maxAckPending: 0, maxRequestBatch: 0, duplicateWindowMs: 0, defaultMaxConsumers: 0 },
    },
    leafnodes: {
      listener: emptyLeafListener(),
      remotes: [],
      reconnectIntervalMs: 0,
      dialTimeoutMs: 0,
      writeDeadlineMs: 0,
      writeTimeoutPolicy: 'default',
    },
    websocket: emptyWebSocket(),
    serverTags: [],
    serverMetadata: {},
    connectErrorReports: 0,
    reconnectErrorReports: 0,
    logWarnings: [],
  };
}

/** What a server without config file and flags runs with. */
export function defaultOptions(): ServerOptions {
  return completeOptions(emptyDraft());
}

/** The options that a draft comes to. */
export function completeOptions(draft: Draft): ServerOptions {
  const host = draft.host || '0.0.0.0';
  return {
    ...draft,
    ...completeTransport(draft),
    host,
    port: draft.port === 0 ? 4222 : anyIfNegative(draft.port),
    monitorHost: draft.monitorHost || host,
    monitorPort: draft.monitorPort === 0 || draft.monitorPort === null ? null : anyIfNegative(draft.monitorPort),
    monitorBasePath: basePath(draft.monitorBasePath),
    maxConnections: draft.maxConnections || 65_536,
    maxControlLineBytes: draft.maxControlLineBytes || 4_096,
    maxPayloadBytes: draft.maxPayloadBytes || 1_048_576,
    maxPendingBytes: draft.maxPendingBytes || 67_108_864,
    maxClosedClients: draft.maxClosedClients || 10_000,
    pingIntervalMs: draft.pingIntervalMs || 120_000,
    maxPingsOut: draft.maxPingsOut || 2,
    writeDeadlineMs: draft.writeDeadlineMs || 10_000,
    lameDuckDurationMs: draft.lameDuckDurationMs || 120_000,
    lameDuckGraceMs: draft.lameDuckGraceMs || 10_000,
    connectErrorReports: draft.connectErrorReports || 3_600,
    reconnectErrorReports: draft.reconnectErrorReports || 1,
    authorization: { ...draft.authorization, timeoutMs: draft.authorization.timeoutMs || defaultAuthTimeoutMs(draft) },
    jetstream: completeJetStream(draft.jetstream),
    leafnodes: completeLeafnodes(draft.leafnodes),
    websocket: completeWebSocket(draft.websocket),
    logWarnings: [...draft.logWarnings, ...warningsOf(draft)],
  };
}

function anyIfNegative(port: number): number {
  return port === -1 ? 0 : port;
}

function completeJetStream(draft: JetStreamDraft): JetStreamOptions {
  const requestQueueLimit = draft.requestQueueLimit > 0 ? draft.requestQueueLimit : 10_000;
  return {
    ...draft,
    syncIntervalMs: draft.syncsAlways ? 120_000 : draft.syncIntervalMs,
    maxBufferedMessages: draft.maxBufferedMessages > 0 ? draft.maxBufferedMessages : 100_000,
    maxBufferedBytes: draft.maxBufferedBytes > 0 ? draft.maxBufferedBytes : 134_217_728,
    requestQueueLimit,
    infoQueueLimit: draft.infoQueueLimit > 0 ? draft.infoQueueLimit : requestQueueLimit,
    limits: { ...draft.limits, defaultMaxConsumers: draft.limits.defaultMaxConsumers || 1_000 },
  };
}

const LEAF_TLS_TIMEOUT_MS = 2_000;

function completeLeafnodes(draft: LeafnodeDraft): LeafnodeOptions {
  const dialTimeoutMs = draft.dialTimeoutMs > 0 ? draft.dialTimeoutMs : 1_000;
  const remotes = draft.remotes.map((remote) => ({
    ...remote,
    account: remote.account || '$G',
    dialTimeoutMs: remote.dialTimeoutMs > 0 ? remote.dialTimeoutMs : dialTimeoutMs,
    firstInfoTimeoutMs: remote.firstInfoTimeoutMs > 0 ? remote.firstInfoTimeoutMs : 1_000,
    tls: remote.tls && { ...remote.tls, timeoutMs: remote.tls.timeoutMs || LEAF_TLS_TIMEOUT_MS },
  }));
  const listener = completeLeafListener(draft.listener);
  return { ...draft, listener, remotes, dialTimeoutMs, reconnectIntervalMs: draft.reconnectIntervalMs || 1_000 };
}

/** The base path with one leading slash and without `.`, `..` and repeated slashes. */
function basePath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

const MAX_PAYLOAD_WARNED_BYTES = 8 * 1024 * 1024;

function warningsOf(draft: Draft): string[] {
  const warnings: string[] = [];
  if (draft.maxPayloadBytes > MAX_PAYLOAD_WARNED_BYTES) {
    warnings.push('Maximum payloads over 8.00 MB are generally discouraged and could lead to poor performance');
  }
  if (hasPlainPassword(draft)) {
    warnings.push('Plaintext passwords detected, use nkeys or bcrypt');
  }
  return warnings;
}

function hasPlainPassword({ authorization, accounts }: Draft): boolean {
  if (authorization.password !== '' && !isPasswordHash(authorization.password)) return true;
  const users = [...authorization.users, ...accounts.flatMap((account) => account.users)];
  return users.some(({ nkey, password }) => nkey === '' && !isPasswordHash(password));
}
