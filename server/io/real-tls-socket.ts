/**
 * A connection that may become an encrypted one, on the runtime's sockets: its listening server leaves each paused, so
 * that nothing is read before it is decided what it is.
 *
 *     paused ─peek─► first byte known, and put back
 *       ├─readInClear──► as any other socket
 *       └─shakeHands───► the runtime's TLS socket takes the place of the plain one. Once hands are shaken, reads and
 *                        writes go past it (`real-tls-stream.ts`); where its handle is not as expected, through it
 *
 * Verification of the peer's certificate is asked of OpenSSL's result after the handshake; where it failed, the
 * handshake counts as failed.
 */

import net from 'node:net';
import type tls from 'node:tls';
import type { Address, IoError, Listener, TlsContext, TlsPeer, TlsSettings } from './io.ts';
import type { UndecidedListenHandler, UndecidedSocket } from './io.ts';
import { RealListener } from './real-listener.ts';
import { type OwnedSocket, readData, RuntimeSocket } from './real-runtime-socket.ts';
import { isUsableTlsHandle, TlsStream, type TlsStreamOwner } from './real-tls-stream.ts';

/** What the runtime's typings leave out: its TLS socket in the server's part tells of a handshake by these. */
type ServerSide = tls.TLSSocket & {
  _handle: { verifyError(): IoError | null } | null;
  _releaseControl(): boolean;
  on(event: 'secure', listener: () => void): ServerSide;
  on(event: '_tlsError', listener: (error: IoError) => void): ServerSide;
};

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

class RealUndecidedSocket extends RuntimeSocket implements UndecidedSocket, TlsStreamOwner {
  tls: TlsPeer | null = null;
  private stream: TlsStream | null = null;
  /** While hands are shaken. */
  private handshakeEnded: ((error: IoError | null) => void) | null = null;

  peek(done: (firstByte: number) => void): void {
    const { socket } = this;
    if (socket === null) return;
    const look = (): void => {
      const bytes = socket.read() as Buffer | null;
      if (bytes === null || bytes.length === 0) return;
      socket.off('readable', look);
      socket.unshift(bytes);
      done(bytes[0] as number);
    };
    socket.on('readable', look);
  }

  readInClear(): void {
    if (this.socket === null) return;
    readData(this.socket);
    this.socket.resume();
  }

  shakeHands(context: TlsContext, done: (error: IoError | null) => void): void {
    const plain = this.socket;
    if (plain === null) return;
    const { secure, settings } = context as RealTlsContext;
    const { verifiesClients } = settings;
    plain.removeAllListeners('end');
    const { TLSSocket } = process.getBuiltinModule('node:tls');
    const encrypted = new TLSSocket(plain, {
      isServer: true,
      secureContext: secure,
      requestCert: verifiesClients,
      rejectUnauthorized: verifiesClients,
    }) as ServerSide;
    this.handshakeEnded = done;
    const finish = (error: IoError | null): void => this.endHandshake(error);
    this.own(encrypted as unknown as OwnedSocket);
    encrypted.on('_tlsError', finish);
    encrypted.on('error', finish);
    // The end of the plain socket is the connection's.
    encrypted.on('close', () => plain.destroy());
    encrypted.on('secure', () => {
      const failure = verifiesClients ? (encrypted._handle?.verifyError() ?? null) : null;
      if (failure === null) encrypted._releaseControl();
      this.tls = peerOf(encrypted);
      finish(failure);
      if (failure === null && !encrypted.destroyed) this.readDecrypted(encrypted);
    });
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

  private readDecrypted(encrypted: ServerSide): void {
    const handle: unknown = encrypted._handle;
    if (isUsableTlsHandle(handle)) this.stream = new TlsStream(handle, this);
    else readData(encrypted);
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

  private endHandshake(error: IoError | null): void {
    const { handshakeEnded } = this;
    this.handshakeEnded = null;
    handshakeEnded?.(error);
  }
}

function peerOf(socket: tls.TLSSocket): TlsPeer {
  const certificate = socket.getPeerX509Certificate();
  return {
    version: (socket.getProtocol() ?? '').replace('TLSv', ''),
    cipher: socket.getCipher().standardName,
    certificate: certificate === undefined ? null : certificate.raw,
  };
}

/** Listens for connections that may become encrypted ones. */
export function listenUndecided(address: Address, handler: UndecidedListenHandler): Listener {
  const server = net.createServer({ noDelay: true, allowHalfOpen: true, pauseOnConnect: true });
  server.on('connection', (socket) => {
    const real = new RealUndecidedSocket();
    real.bind(socket);
    real.attach(handler.accepted(real));
  });
  return new RealListener(server, address, handler);
}
