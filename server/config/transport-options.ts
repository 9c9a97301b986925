/**
 * Options of what lies below the protocol: encryption, the socket of the local file system, monitoring over TLS, and
 * where the log goes. They are part of `ServerOptions`.
 */

export interface TransportOptions {
  /** null: nothing is encrypted. */
  readonly tls: TlsOptions | null;
  /** Clients may do without TLS though it is configured. */
  readonly allowsNonTls: boolean;
  /** Monitoring over TLS: null means none, 0 any free port. */
  readonly httpsPort: number | null;
  /** Path of the socket on which clients of this machine connect; '' for none. */
  readonly unixPath: string;
  /** Permission bits of that socket. */
  readonly unixMode: number;
  readonly logFormat: LogFormat;
  /** Bytes after which the log file is rotated; 0 never rotates it. */
  readonly logSizeLimitBytes: number;
  /** How many log files there may be, the current one among them; 0 keeps all. */
  readonly logFilesMax: number;
}

export type LogFormat = 'text' | 'json';

export interface TlsOptions {
  /** The first is shown where a client asks for no name. */
  readonly certificates: readonly TlsCertificate[];
  /** In PEM; null: those the host trusts. */
  readonly authorities: string | null;
  readonly verifiesClients: boolean;
  /** Takes any certificate of whom is dialled. */
  readonly isInsecure?: boolean;
  /** Users come from certificates. */
  readonly mapsUsers: boolean;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  /** In OpenSSL's names. */
  readonly ciphers: readonly string[];
  readonly curves: readonly string[];
  /** SHA-256, in hex, of the public keys that alone are taken; none: all are. */
  readonly pinnedKeys: readonly string[];
  readonly timeoutMs: number;
  /** Handshakes a second; 0 means no limit. */
  readonly connectionRateLimit: number;
  readonly isHandshakeFirst: boolean;
  /** After so long without a handshake INFO is sent all the same; 0: never. */
  readonly fallbackDelayMs: number;
}

/** Both in PEM. */
export interface TlsCertificate {
  readonly certificate: string;
  readonly key: string;
}

export const TLS_TIMEOUT_MS = 2_000;
const UNIX_MODE = 0o660;

export type TransportDraft = { -readonly [K in keyof TransportOptions]: TransportOptions[K] };
export type TlsDraft = { -readonly [K in keyof TlsOptions]: TlsOptions[K] };

/** In which nothing is set; -1 stands for any free port. */
export function emptyTransport(): TransportDraft {
  return {
    tls: null,
    allowsNonTls: false,
    httpsPort: 0,
    unixPath: '',
    unixMode: UNIX_MODE,
    logFormat: 'text',
    logSizeLimitBytes: 0,
    logFilesMax: 0,
  };
}

/** The options that a draft comes to. */
export function completeTransport(draft: TransportOptions): TransportOptions {
  const { tls, httpsPort } = draft;
  return {
    tls: tls === null ? null : { ...tls, timeoutMs: tls.timeoutMs || TLS_TIMEOUT_MS },
    allowsNonTls: draft.allowsNonTls,
    httpsPort: httpsPort === 0 || httpsPort === null ? null : httpsPort === -1 ? 0 : httpsPort,
    unixPath: draft.unixPath,
    unixMode: draft.unixMode,
    logFormat: draft.logFormat,
    logSizeLimitBytes: draft.logSizeLimitBytes,
    logFilesMax: draft.logFilesMax,
  };
}

/** How long credentials may take when nothing says so: longer than a handshake. */
export function defaultAuthTimeoutMs({ tls }: Pick<TransportOptions, 'tls'>): number {
  return tls === null ? 2_000 : (tls.timeoutMs || TLS_TIMEOUT_MS) + 1_000;
}
