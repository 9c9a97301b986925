/**
 * TLS of one remote: whether its links are encrypted, with what, and whose certificate is expected.
 *
 *     configured               before INFO (`handshake_first`), or behind it
 *     not configured           behind INFO, when the hub asks for it, and from then on as if it were
 *     over WebSocket           before the first byte, when it is configured or the URL is `wss`; never behind INFO
 *
 * The certificate has to be for the host of the URL. Hubs tell addresses of theirs, which certificates are rarely for:
 * there the first name of the configured URLs is expected, until a certificate is not for that (nats-server#1256).
 *
 * Settings are made ready once, for all links of the remote.
 */

import type { TlsOptions } from '../server/config/transport-options.ts';
import { DEFAULT_CIPHERS, DEFAULT_CURVES } from '../server/config/tls-names.ts';
import type { LeafUrl } from '../server/config/options.ts';
import { certificateText, handshakeFailure } from '../server/connection/handshake-failure.ts';
import { isPinned } from '../server/connection/pinned-keys.ts';
import type { Io, IoError, TlsContext, TlsPeer } from '../server/io/io.ts';
import type { LinkSocket } from './link-socket.ts';

const TIMEOUT_MS = 2000;
const WRONG_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';

export class RemoteEncryption {
  readonly timeoutMs: number;
  private readonly io: Io;
  private readonly options: TlsOptions | null;
  /** '' when no URL has one. */
  private name: string;
  private isAskedFor = false;
  private readonly isWebSocket: boolean;
  private readonly hasEncryptedUrl: boolean;
  private context: TlsContext | null = null;

  constructor(io: Io, options: TlsOptions | null, urls: readonly LeafUrl[]) {
    this.io = io;
    this.options = options;
    this.isWebSocket = urls.some(({ webSocketPath }) => webSocketPath !== null);
    this.hasEncryptedUrl = urls.some(({ isEncrypted }) => isEncrypted);
    this.timeoutMs = options?.timeoutMs ?? TIMEOUT_MS;
    this.name = urls.map(({ host }) => host).find((host) => !isAddress(host)) ?? '';
  }

  /** Hands are shaken before INFO. */
  get isFirst(): boolean {
    if (this.isWebSocket) return this.options !== null || this.hasEncryptedUrl;
    return this.options?.isHandshakeFirst ?? false;
  }

  /** Nothing says how links are to be encrypted: they are when a hub asks for it. */
  get isLeftToHub(): boolean {
    return this.options === null;
  }

  /** Whether hands are shaken behind an INFO that asks for it, or does not. */
  isNeeded(isAskedFor: boolean): boolean {
    if (this.isWebSocket) return false;
    if (isAskedFor) this.isAskedFor = true;
    return this.options !== null || this.isAskedFor;
  }

  /** Shakes hands with the hub at `host`; `done` hears why that failed, or `null`, once, unless the socket closes first. */
  shake(socket: LinkSocket, host: string, done: (failure: string | null) => void): void {
    const expected = isAddress(host) && this.name !== '' ? this.name : host;
    let context: TlsContext | null = null;
    try {
      context = this.contextOf();
    } catch (error) {
      done(`the settings cannot be used: ${(error as Error).message}`);
      return;
    }
    const peer = { host: expected, isVerified: this.options?.isInsecure !== true };
    const shaken = (error: IoError | null): void => {
      if (error?.code === WRONG_NAME && expected === this.name) this.name = '';
      done(this.failureOf(error, socket.tls, expected));
    };
    if (context === null || !socket.secure(context, peer, shaken)) done('this network has no TLS');
  }

  private failureOf(error: IoError | null, peer: TlsPeer | null, expected: string): string | null {
    const failure = handshakeText(error, peer, expected);
    if (failure !== null || peer === null) return failure;
    return isPinned(peer, this.options?.pinnedKeys ?? []) ? null : 'certificate not pinned';
  }

  private contextOf(): TlsContext | null {
    this.context ??= dialledContext(this.io, this.options);
    return this.context;
  }
}

/** Why hands could not be shaken with who is `expected`; `null` if they could. */
export function handshakeText(error: IoError | null, peer: TlsPeer | null, expected: string): string | null {
  if (error?.code === WRONG_NAME && peer?.certificate) {
    const verification = `x509: certificate is not valid for ${expected}`;
    return `tls: failed to verify certificate: ${verification} (${certificateText(peer.certificate)})`;
  }
  return error === null && peer !== null ? null : handshakeFailure(error, peer).text;
}

/** Makes settings ready to shake hands with who is dialled; `null` where nothing can be encrypted. Throws as `context`. */
export function dialledContext(io: Io, options: TlsOptions | null): TlsContext | null {
  const settings = {
    certificates: options?.certificates ?? [],
    authorities: options?.authorities ?? null,
    verifiesClients: false,
    minVersion: options?.minVersion ?? 'TLSv1.2',
    ciphers: options?.ciphers ?? DEFAULT_CIPHERS,
    curves: options?.curves ?? DEFAULT_CURVES,
  } as const;
  return io.network.tls?.context(settings) ?? null;
}

function isAddress(host: string): boolean {
  return host.includes(':') || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host);
}
