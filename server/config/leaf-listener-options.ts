/** Options of the side that accepts leaf links: where, from whom, and what they may be told. */

import { AUTOMATIC_COMPRESSION, type CompressionOptions } from './compression.ts';
import { defaultAuthTimeoutMs, TLS_TIMEOUT_MS, type TlsOptions } from './transport-options.ts';

export interface LeafListenerOptions {
  readonly host: string;
  /** null accepts no links, 0 any free port. */
  readonly port: number | null;
  /** `host:port` that leaves are told in place of the address listened on; '' for that one. */
  readonly advertise: string;
  /** Leaves are told addresses to come back to. */
  readonly isAdvertised: boolean;
  /** Older ones are refused; '' takes all. */
  readonly minVersion: string;
  /** Leaves don't hear of each other's interest. */
  readonly isolatesInterest: boolean;
  readonly compression: CompressionOptions;
  readonly authorization: LeafAuthorizationOptions;
  /** null: nothing is encrypted. */
  readonly tls: TlsOptions | null;
}

/** With none of a name, a key and users it is the users of clients that may link. */
export interface LeafAuthorizationOptions {
  readonly username: string;
  readonly password: string;
  /** Public key; '' for none. */
  readonly nkey: string;
  /** Account that these links join; '' for the global one. */
  readonly account: string;
  readonly users: readonly LeafUserOptions[];
  readonly timeoutMs: number;
}

export interface LeafUserOptions {
  readonly username: string;
  readonly password: string;
  /** '' for the global one. */
  readonly account: string;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
export type LeafAuthorizationDraft = Mutable<LeafAuthorizationOptions>;
export type LeafUserDraft = Mutable<LeafUserOptions>;
export type LeafListenerDraft = Mutable<Omit<LeafListenerOptions, 'authorization'>> & {
  authorization: LeafAuthorizationDraft;
};

/** In which nothing is set; -1 stands for any free port. */
export function emptyLeafListener(): LeafListenerDraft {
  return {
    host: '',
    port: 0,
    advertise: '',
    isAdvertised: true,
    minVersion: '',
    isolatesInterest: false,
    compression: AUTOMATIC_COMPRESSION,
    authorization: emptyLeafAuthorization(),
    tls: null,
  };
}

export function emptyLeafAuthorization(): LeafAuthorizationDraft {
  return { username: '', password: '', nkey: '', account: '', users: [], timeoutMs: 0 };
}

/** The options that a draft comes to. */
export function completeLeafListener(draft: LeafListenerOptions): LeafListenerOptions {
  const { port, authorization } = draft;
  const tls = draft.tls && { ...draft.tls, timeoutMs: draft.tls.timeoutMs || TLS_TIMEOUT_MS };
  return {
    ...draft,
    host: draft.host || '0.0.0.0',
    port: port === 0 || port === null ? null : port === -1 ? 0 : port,
    tls,
    authorization: { ...authorization, timeoutMs: authorization.timeoutMs || defaultAuthTimeoutMs({ tls }) },
  };
}
