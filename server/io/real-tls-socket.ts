/**
 * A connection that may become an encrypted one, on the runtime's sockets: its listening server leaves each paused, so
 * that nothing is read before it is decided what it is.
 *
 *     paused ─peek─► first byte known, and put back
 *       ├─readInClear──► as any other socket
 *       └─shakeHands───► first record whole ─leave─► encrypted (`real-encrypting-socket.ts`)
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
  _handle: { verifyError(): IoError | null; receive?: (bytes: Buffer) => void } | null;
  _releaseControl(): boolean;
  on(event: 'secure', listener: () => void): ServerSide;
  on(event: '_tlsError', listener: (error: IoError) => void): ServerSide;
};

const NOTHING = Buffer.alloc(0);
/** What the first record of a peer has to be, and what stands before its contents: type, version, length. */
const HANDSHAKE_RECORD = 0x16;
const RECORD_HEADER_BYTES = 5;
const RECORD_BYTES_MAX = 16_384;

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

  /** Those who say nothing, or not all of their hello, cost nothing of TLS. */
  shakeHands(context: TlsContext, leave: (goOn: () => void) => void, done: (error: IoError | null) => void): void {
    const plain = this.socket;
    if (plain === null) return;
    this.expect(done);
    this.whenHello(plain, () => {
      leave(() => {
        if (this.socket === plain && !plain.destroyed) this.shake(plain, context, done);
      });
    });
  }

  /** Calls back when the first record has come whole, or what comes is none; what has come is left to be read. */
  private whenHello(socket: OwnedSocket, done: () => void): void {
    let hello: Buffer = NOTHING;
    const take = (): void => {
      for (let bytes = readAll(socket); bytes !== null; bytes = readAll(socket)) {
        hello = hello.length === 0 ? bytes : Buffer.concat([hello, bytes]);
      }
      if (!isWholeRecord(hello)) return;
      socket.off('readable', take);
      socket.unshift(hello);
      done();
    };
    socket.on('readable', take);
    if (socket.readableLength > 0) take();
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
    // The runtime would do it behind this turn, where nobody sees what it takes.
    const { _handle: handle } = encrypted;
    if (typeof handle?.receive !== 'function') return;
    for (let bytes = readAll(plain); bytes !== null; bytes = readAll(plain)) handle.receive(bytes);
  }
}

/** What has come so far; null: nothing. */
function readAll(socket: net.Socket): Buffer | null {
  return socket.read() as Buffer | null;
}

/** Whether these bytes hold a record of a handshake, or begin like no such record, which is to be refused as it is. */
function isWholeRecord(bytes: Buffer): boolean {
  if (bytes.length === 0) return false;
  if (bytes[0] !== HANDSHAKE_RECORD) return true;
  if (bytes.length < RECORD_HEADER_BYTES) return false;
  const length = bytes.readUInt16BE(RECORD_HEADER_BYTES - 2);
  return length > RECORD_BYTES_MAX || bytes.length >= RECORD_HEADER_BYTES + length;
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
