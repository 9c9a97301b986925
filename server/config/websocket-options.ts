/** Options of the port on which WebSocket is spoken: where, with whom, and what those who connect there are told. */

import { TLS_TIMEOUT_MS, type TlsOptions } from './transport-options.ts';

export interface WebSocketOptions {
  readonly host: string;
  /** null accepts nobody, 0 any free port. */
  readonly port: number | null;
  /** `host:port` that clients are told in place of the address listened on; '' for that one. */
  readonly advertise: string;
  /** Nothing need be encrypted. */
  readonly allowsNonTls: boolean;
  /** null: nothing is encrypted. */
  readonly tls: TlsOptions | null;
  /** Pages have to come from the host that they ask. */
  readonly isSameOrigin: boolean;
  /** Pages have to come from one of these; none: from anywhere. */
  readonly allowedOrigins: readonly string[];
  /** For the request to come, once a connection is there; 0: as long as is usual. */
  readonly handshakeTimeoutMs: number;
  readonly compresses: boolean;
  /** Who may connect here, if it is not the users of other clients. */
  readonly authorization: WebSocketAuthorization;
  /** User that clients without credentials become; '' for none. */
  readonly noAuthUser: string;
  /** Names of cookies with what CONNECT leaves out; '' for none. */
  readonly cookies: CookieNames;
  /** Added to the answer to each request. */
  readonly headers: Readonly<Record<string, string>>;
  /** 0: as at the port of other clients. */
  readonly pingIntervalMs: number;
}

export interface WebSocketAuthorization {
  readonly username: string;
  readonly password: string;
  readonly token: string;
  /** 0: as at the port of other clients. */
  readonly timeoutMs: number;
}

export interface CookieNames {
  readonly jwt: string;
  readonly user: string;
  readonly pass: string;
  readonly token: string;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
export type WebSocketAuthorizationDraft = Mutable<WebSocketAuthorization>;
export type WebSocketDraft = Mutable<Omit<WebSocketOptions, 'authorization' | 'cookies'>> & {
  authorization: WebSocketAuthorizationDraft;
  cookies: Mutable<CookieNames>;
};

/** In which nothing is set; -1 stands for any free port. */
export function emptyWebSocket(): WebSocketDraft {
  return {
    host: '',
    port: 0,
    advertise: '',
    allowsNonTls: false,
    tls: null,
    isSameOrigin: false,
    allowedOrigins: [],
    handshakeTimeoutMs: 0,
    compresses: false,
    authorization: emptyWebSocketAuthorization(),
    noAuthUser: '',
    cookies: { jwt: '', user: '', pass: '', token: '' },
    headers: {},
    pingIntervalMs: 0,
  };
}

export function emptyWebSocketAuthorization(): WebSocketAuthorizationDraft {
  return { username: '', password: '', token: '', timeoutMs: 0 };
}

/** The options that a draft comes to. */
export function completeWebSocket(draft: WebSocketOptions): WebSocketOptions {
  const { host, port, tls } = draft;
  return {
    ...draft,
    host: host || (port === 0 || port === null ? '' : '0.0.0.0'),
    port: port === 0 || port === null ? null : port === -1 ? 0 : port,
    tls: tls && { ...tls, timeoutMs: tls.timeoutMs || TLS_TIMEOUT_MS },
  };
}
