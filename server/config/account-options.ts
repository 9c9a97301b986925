/**
 * What the configuration says of accounts. Subjects are strings of bytes, names and passwords ordinary text; -1 is no
 * limit.
 */

import type { MappingOptions, UserOptions } from './options.ts';

export interface AccountOptions {
  readonly name: string;
  /** Its public key; '' for none. */
  readonly nkey: string;
  readonly users: readonly UserOptions[];
  readonly mappings: readonly MappingOptions[];
  readonly exports: readonly ExportOptions[];
  readonly imports: readonly ImportOptions[];
  readonly limits: AccountLimitsOptions;
  /** `null`: the account has no JetStream. */
  readonly jetstream: AccountJetStreamOptions | null;
}

export interface AccountLimitsOptions {
  readonly maxConnections: number;
  /** Of one connection. */
  readonly maxSubscriptions: number;
  readonly maxPayloadBytes: number;
  readonly maxLeafnodes: number;
}

/** -1: no limit. */
export interface AccountJetStreamOptions {
  readonly memoryBytes: number;
  readonly fileBytes: number;
  readonly streams: number;
  /** Of one stream. */
  readonly consumers: number;
  /** Of one consumer. */
  readonly ackPending: number;
  readonly memoryStreamBytes: number;
  readonly fileStreamBytes: number;
  readonly isMaxBytesRequired: boolean;
}

/** How a service answers: once, as often as it likes until an empty message, or in pieces until one. */
export type ResponseType = 'singleton' | 'stream' | 'chunked';

export interface ExportOptions {
  readonly kind: 'stream' | 'service';
  readonly subject: string;
  /** Who may import it; `null`: everybody. */
  readonly accounts: readonly string[] | null;
  /** Which token of the subject has to be the importing account's name; 0: none. */
  readonly accountTokenPosition: number;
  readonly responseType: ResponseType;
  /** How long answers may take. */
  readonly responseThresholdMs: number;
  /** `null`: not measured. */
  readonly latency: LatencyOptions | null;
}

/** How long a service takes is published for some requests. */
export interface LatencyOptions {
  /** How many of a hundred requests; 0: those whose headers ask for it. */
  readonly samplingPercent: number;
  readonly subject: string;
}

export interface ImportOptions {
  readonly kind: 'stream' | 'service';
  /** The account that exports. */
  readonly account: string;
  /** The subject in the exporting account. */
  readonly subject: string;
  /** The subject in this account, in which `$1` or `*` stand for the wildcards of the other one. */
  readonly to: string;
  /** What the subjects of a stream begin with in this account, as `to` says too; '' for nothing. */
  readonly prefix: string;
  /** Tells the service who asks. */
  readonly isShared: boolean;
}

/** The accounts that are always there. */
export const GLOBAL_ACCOUNT = '$G';
export const SYSTEM_ACCOUNT = '$SYS';

export const NO_LIMITS: AccountLimitsOptions = {
  maxConnections: -1,
  maxSubscriptions: -1,
  maxPayloadBytes: -1,
  maxLeafnodes: -1,
};

export const UNLIMITED_JETSTREAM: AccountJetStreamOptions = {
  memoryBytes: -1,
  fileBytes: -1,
  streams: -1,
  consumers: -1,
  ackPending: -1,
  memoryStreamBytes: -1,
  fileStreamBytes: -1,
  isMaxBytesRequired: false,
};

/** An account of which nothing is said but its name. */
export function emptyAccount(name: string): AccountOptions {
  return { name, nkey: '', users: [], mappings: [], exports: [], imports: [], limits: NO_LIMITS, jetstream: null };
}
