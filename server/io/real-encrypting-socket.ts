/**
 * A connection on the runtime's sockets that may become an encrypted one, whichever side shakes hands how.
 *
 *     plain ──shake (subclass)──► the runtime's TLS socket takes its place ──shaken──► reads and writes go past that
 *                                                                                      (`real-tls-stream.ts`)
 *
 * Where the TLS handle is not as expected they go through the TLS socket. The end of the plain socket is the
 * connection's: nothing is told of it but once.
 */

import type tls from 'node:tls';
import type { IoError, TlsContext, TlsPeer, TlsSettings } from './io.ts';
import { type OwnedSocket, readData, RuntimeSocket } from './real-runtime-socket.ts';
import { isUsableTlsHandle, TlsStream, type TlsStreamOwner } from './real-tls-stream.ts';

type HandshakeEnd = (error: IoError | null) => void;

/** The settings as the runtime takes them. */
export class RealTlsContext implements TlsContext {
  readonly settings: TlsSettings;
  readonly secure: tls.SecureContext;

  constructor(settings: TlsSettings) {
    this.settings = settings;
    const { certificates, authorities, minVersion, ciphers, curves } = settings;
    // Loaded on first use: most servers encrypt nothing.
    this.secure = process.getBuiltinModule('node:tls').createSecureContext({
      cert: certificates.map(({ certificate }) => certificate),
      key: certificates.map(({ key }) => key),
      ...(authorities === null ? {} : { ca: authorities }),
      minVersion,
      ciphers: ciphers.join(':'),
      ecdhCurve: curves.join(':'),
      honorCipherOrder: true,
    });
  }
}

export abstract class EncryptingSocket extends RuntimeSocket implements TlsStreamOwner {
  tls: TlsPeer | null = null;
  private stream: TlsStream | null = null;
  /** While hands are shaken. */
  private handshakeEnded: HandshakeEnd | null = null;

  /** A handshake is under way as seen from outside, though nothing of it has come yet. */
  protected expect(done: HandshakeEnd): void {
    this.handshakeEnded = done;
  }

  /** The TLS socket that `wrap` makes of the one there was is the connection from now on. */
  protected begin<T extends tls.TLSSocket>(plain: OwnedSocket, wrap: () => T, done: HandshakeEnd): T {
    plain.removeAllListeners('end');
    // It may be an encrypted one itself: what it decrypts the other one reads from its handle.
    this.stream?.release();
    this.stream = null;
    const encrypted = wrap();
    this.handshakeEnded = done;
    this.own(encrypted);
    encrypted.on('error', (error) => this.endHandshake(error));
    // The end of the plain socket is the connection's.
    encrypted.on('close', () => plain.destroy());
    return encrypted;
  }

  /** Hands are shaken, with this outcome. */
  protected shaken(encrypted: tls.TLSSocket, failure: IoError | null): void {
    this.tls = peerOf(encrypted);
    this.endHandshake(failure);
    if (failure !== null || encrypted.destroyed) return;
    const { _handle: handle } = encrypted as tls.TLSSocket & { _handle?: unknown };
    if (isUsableTlsHandle(handle)) this.stream = new TlsStream(handle, this);
    else readData(encrypted);
  }

  protected endHandshake(error: IoError | null): void {
    const { handshakeEnded } = this;
    this.handshakeEnded = null;
    handshakeEnded?.(error);
  }

  override write(pieces: readonly Uint8Array[]): void {
    if (this.stream === null) super.write(pieces);
    else this.stream.write(pieces);
  }

  override resume(): void {
    if (this.stream === null) super.resume();
    else this.stream.resume();
  }

  override end(): void {
    if (this.stream === null) super.end();
    else this.stream.afterWriting(() => super.end());
  }

  override destroy(): void {
    this.stream?.release();
    super.destroy();
  }

  data(buffer: Buffer, start: number, end: number): boolean {
    return this.handler === null || this.handler.data(buffer, start, end);
  }

  written(): void {
    this.handler?.written();
  }

  broken(error: IoError): void {
    this.failed(error);
    this.destroy();
  }

  override ended(): void {
    if (this.handshakeEnded === null) super.ended();
    else this.endHandshake(null);
  }

  override closed(): void {
    this.stream?.release();
    this.endHandshake(null);
    super.closed();
  }
}

function peerOf(socket: tls.TLSSocket): TlsPeer {
  const certificate = socket.getPeerX509Certificate();
  return {
    version: (socket.getProtocol() ?? '').replace('TLSv', ''),
    cipher: socket.getCipher()?.standardName ?? '',
    certificate: certificate === undefined ? null : certificate.raw,
  };
}
