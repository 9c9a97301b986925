/**
 * A connection that may become an encrypted one, on the runtime's sockets: its listening server leaves each paused, so
 * that nothing is read before it is decided what it is.
 *
 *     paused ─peek─► first byte known, and put back
 *       ├─readInClear──► as any other socket
 *       └─shakeHands───► encrypted (`real-encrypting-socket.ts`)
 *
 * Verification of the peer's certificate is asked of OpenSSL's result after the handshake; where it failed, the
 * handshake counts as failed.
 */

import type net from 'node:net';
import type tls from 'node:tls';
import type { IoError, TlsContext, UndecidedListenHandler, UndecidedSocket } from './io.ts';
import { EncryptingSocket, type RealTlsContext } from './real-encrypting-socket.ts';
import { type OwnedSocket, readData } from './real-runtime-socket.ts';

/** What the runtime's typings leave out: its TLS socket in the server's part tells of a handshake by these. */
type ServerSide = tls.TLSSocket & {
  _handle: { verifyError(): IoError | null } | null;
  _releaseControl(): boolean;
  on(event: 'secure', listener: () => void): ServerSide;
  on(event: '_tlsError', listener: (error: IoError) => void): ServerSide;
};

class RealUndecidedSocket extends EncryptingSocket implements UndecidedSocket {
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

  /** Those who say nothing cost nothing of TLS. */
  shakeHands(context: TlsContext, done: (error: IoError | null) => void): void {
    const plain = this.socket;
    if (plain === null) return;
    this.expect(done);
    if (plain.readableLength > 0) this.shake(plain, context, done);
    else {
      this.peek(() => {
        if (this.socket === plain) this.shake(plain, context, done);
      });
    }
  }

  private shake(plain: OwnedSocket, context: TlsContext, done: (error: IoError | null) => void): void {
    const { secure, settings } = context as RealTlsContext;
    const { verifiesClients } = settings;
    const wrap = (): ServerSide => {
      const { TLSSocket } = process.getBuiltinModule('node:tls');
      return new TLSSocket(plain, {
        isServer: true,
        secureContext: secure,
        requestCert: verifiesClients,
        rejectUnauthorized: verifiesClients,
      }) as ServerSide;
    };
    const encrypted = this.begin(plain, wrap, done);
    encrypted.on('_tlsError', (error) => this.endHandshake(error));
    encrypted.on('secure', () => {
      const failure = verifiesClients ? (encrypted._handle?.verifyError() ?? null) : null;
      if (failure === null) encrypted._releaseControl();
      this.shaken(encrypted, failure);
    });
  }
}

/** Makes the socket of a connection that the runtime accepted, paused, and its owner. */
export function openUndecided(socket: net.Socket, listen: UndecidedListenHandler): void {
  const real = new RealUndecidedSocket();
  real.bind(socket);
  const { inClear } = listen;
  if (inClear?.isOn() === true) {
    real.attach(inClear.accepted(real));
    real.readInClear();
  } else real.attach(listen.accepted(real));
}
