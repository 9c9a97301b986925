/**
 * What the configuration comes to: every option petiole has, in its natural unit, with defaults filled in. Everything
 * that starts or runs reads these values; nothing but this folder looks at config files or flags.
 *
 * Units are in the names; durations are milliseconds with a fraction (`durationNs` gives nanoseconds to show). Subjects
 * and queue groups are strings of bytes, as the rest of the server holds them; names and passwords are ordinary text.
 */

import type { AccountOptions } from './account-options.ts';
import type { CompressionOptions } from './compression.ts';
import type { LeafListenerOptions } from './leaf-listener-options.ts';
import type { SpoolOptions } from './spool-options.ts';
import type { TlsOptions, TransportOptions } from './transport-options.ts';
import type { WebSocketOptions } from './websocket-options.ts';

export type WriteTimeoutPolicy = 'default' | 'close' | 'retry';

export interface ServerOptions extends TransportOptions {
  /** The config file as it was named; '' without one. */
  readonly configFile: string;
  /** `sha256:…` of what the file says; '' without one. */
  readonly configDigest: string;

  /** '' stands for the server's id. */
  readonly serverName: string;
  readonly host: string;
  /** 0 asks for any free port. */
  readonly port: number;
  readonly clientAdvertise: string;
  readonly monitorHost: string;
  /** null means no monitoring, 0 any free port. */
  readonly monitorPort: number | null;
  /** Begins with `/` and does not end with one, unless it is `/` alone. */
  readonly monitorBasePath: string;

  /** Negative refuses every client. */
  readonly maxConnections: number;
  /** Of one connection; 0 means no limit. */
  readonly maxSubscriptions: number;
  /** 0 means no limit. */
  readonly maxSubscriptionTokens: number;
  readonly maxControlLineBytes: number;
  readonly maxPayloadBytes: number;
  readonly maxPendingBytes: number;
  readonly maxClosedClients: number;
  readonly pingIntervalMs: number;
  readonly maxPingsOut: number;
  readonly writeDeadlineMs: number;
  readonly writeTimeoutPolicy: WriteTimeoutPolicy;
  readonly stallsFastProducers: boolean;
  readonly lameDuckDurationMs: number;
  readonly lameDuckGraceMs: number;
  readonly hasSublistCache: boolean;
  readonly supportsHeaders: boolean;
  readonly hasSystemAccount: boolean;

  readonly debug: boolean;
  readonly trace: boolean;
  /** Traces the system account as well. */
  readonly traceVerbose: boolean;
  /** Traces only headers of messages. */
  readonly traceHeaders: boolean;
  /** 0 means no limit. */
  readonly maxTracedMessageBytes: number;
  readonly logTime: boolean;
  readonly logTimeUtc: boolean;
  /** '' logs to stderr. */
  readonly logFile: string;
  /** Where a syslog server is that takes the log if no file does; '' for none. */
  readonly remoteSyslog: string;
  readonly pidFile: string;
  readonly portsFileDirectory: string;

  readonly authorization: AuthorizationOptions;
  readonly accounts: readonly AccountOptions[];
  /** The account of system events, one of `accounts`; '' for the built-in `$SYS`. */
  readonly systemAccount: string;
  readonly mappings: readonly MappingOptions[];
  readonly jetstream: JetStreamOptions;
  readonly leafnodes: LeafnodeOptions;
  readonly websocket: WebSocketOptions;

  /** Lower case, without repetitions. */
  readonly serverTags: readonly string[];
  readonly serverMetadata: Readonly<Record<string, string>>;
  /** How many failed attempts lie between two log lines, before and after the first connection. */
  readonly connectErrorReports: number;
  readonly reconnectErrorReports: number;

  /** Lines the log shows as warnings at start. */
  readonly logWarnings: readonly string[];
}

export interface AuthorizationOptions {
  /** A single user, a token or many users; all empty means that everybody may connect. */
  readonly username: string;
  readonly password: string;
  readonly token: string;
  readonly users: readonly UserOptions[];
  /** The user that clients without credentials become; '' for none. */
  readonly noAuthUser: string;
  readonly timeoutMs: number;
}

/** Somebody who logs in with a name and a password, or with a key. */
export interface UserOptions {
  /** '' for one who logs in with a key. */
  readonly username: string;
  readonly password: string;
  /** The public key, `U…`; '' for one who logs in with a name. */
  readonly nkey: string;
  /** null allows everything. */
  readonly permissions: Permissions | null;
  /** The kinds of connections on which the user may log in, in capitals; null for all. */
  readonly connectionTypes: readonly string[] | null;
}

export interface Permissions {
  readonly publish: SubjectRules;
  /** An entry may be a subject and, behind a blank, the queue groups it is about, wildcards allowed. */
  readonly subscribe: SubjectRules;
  /** Lets the user answer what it gets, where it may not publish otherwise; null for no such right. */
  readonly responses: ResponseRules | null;
}

/** How often, and for how long, a request may be answered; a negative number is no limit. */
export interface ResponseRules {
  readonly max: number;
  readonly expiresMs: number;
}

export interface SubjectRules {
  /** null allows everything that is not denied. */
  readonly allow: readonly string[] | null;
  readonly deny: readonly string[];
}

/** `destinations` is as configured: without the share that an incomplete set leaves to the source itself. */
export interface MappingOptions {
  readonly source: string;
  readonly destinations: readonly MappingDestination[];
}

export interface MappingDestination {
  readonly subject: string;
  /** Percent, 0 to 100; at most 100 in all for one cluster. */
  readonly weight: number;
  /** '' applies where no cluster does. */
  readonly cluster: string;
}

export interface JetStreamOptions {
  readonly isEnabled: boolean;
  /** null leaves the choice to the server. */
  readonly storeDirectory: string | null;
  /** null means as much as the host offers. */
  readonly maxMemoryBytes: number | null;
  readonly maxFileBytes: number | null;
  readonly domain: string;
  /** Requests with unknown fields are refused. */
  readonly isStrict: boolean;
  /** Acknowledges only what is on the device; `syncIntervalMs` then is of no account. */
  readonly syncsAlways: boolean;
  readonly syncIntervalMs: number;
  readonly maxBufferedMessages: number;
  readonly maxBufferedBytes: number;
  readonly requestQueueLimit: number;
  readonly infoQueueLimit: number;
  readonly limits: JetStreamLimits;
}

/** 0 means no limit, but for `defaultMaxConsumers`, which -1 lifts. */
export interface JetStreamLimits {
  readonly maxAckPending: number;
  readonly maxRequestBatch: number;
  readonly duplicateWindowMs: number;
  readonly defaultMaxConsumers: number;
}

export interface LeafnodeOptions {
  readonly listener: LeafListenerOptions;
  readonly remotes: readonly LeafRemoteOptions[];
  readonly reconnectIntervalMs: number;
  readonly dialTimeoutMs: number;
  /** 0 stands for the server's. */
  readonly writeDeadlineMs: number;
  readonly writeTimeoutPolicy: WriteTimeoutPolicy;
}

export interface LeafRemoteOptions {
  readonly urls: readonly LeafUrl[];
  readonly account: string;
  readonly randomizesUrls: boolean;
  /** This side plays the hub. */
  readonly isHub: boolean;
  readonly denyImports: readonly string[];
  readonly denyExports: readonly string[];
  readonly firstInfoTimeoutMs: number;
  readonly dialTimeoutMs: number;
  readonly isDisabled: boolean;
  /** Also dials the addresses that the hub tells. */
  readonly followsDiscoveredServers: boolean;
  /** The server dialled hears nothing of the interest of other links. */
  readonly isIsolated: boolean;
  /** Asks the server dialled for the same. */
  readonly asksForIsolation: boolean;
  readonly compression: CompressionOptions;
  /** Offers to compress what goes over WebSocket, in WebSocket's own way. */
  readonly compressesFrames: boolean;
  /** Asks the server dialled to take frames of WebSocket as they are. */
  readonly asksForNoMasking: boolean;
  /** null: dials directly. */
  readonly proxy: LeafProxyOptions | null;
  /** null: as the server dialled asks for. */
  readonly tls: TlsOptions | null;
  /** Path of the file with a JWT and a seed; '' for none. */
  readonly credentialsFile: string;
  /** Of the user's key; '' for none. */
  readonly nkeySeed: string;
  /** null: what is published while the link is down is not kept. */
  readonly spool: SpoolOptions | null;
}

export interface LeafUrl {
  readonly host: string;
  readonly port: number;
  readonly username: string | null;
  readonly password: string | null;
  /** What to ask a server for that speaks WebSocket; null: it speaks plain TCP. */
  readonly webSocketPath: string | null;
  /** Encrypted from the first byte on. */
  readonly isEncrypted: boolean;
  /** As configured, for comparing; it shows the password. */
  readonly text: string;
  /** For logs and monitoring. */
  readonly redactedText: string;
}

/** An HTTP proxy through which a remote is dialled. */
export interface LeafProxyOptions {
  readonly host: string;
  readonly port: number;
  /** '' with an empty password: no login. */
  readonly username: string;
  readonly password: string;
  /** Of the connection to the proxy and of its answer, each; 0: as dialling. */
  readonly timeoutMs: number;
  /** It is spoken to over TLS. */
  readonly isEncrypted: boolean;
  /** null: with the defaults, if at all. */
  readonly tls: TlsOptions | null;
}
