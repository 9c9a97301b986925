/**
 * A connection that this side dialled: it reads into the static buffer, and may be encrypted at any time, with whom was
 * dialled and then, through what they decrypt, with who is behind them.
 *
 *     dialling ──connected──► in clear: written directly on the TCP handle ──encrypt──► as `EncryptingSocket` has it
 *
 * In clear the runtime's socket stays for reading and for what is rare: errors, the end and closing. Its stream keeps
 * nothing that waits to be written, and the handle itself sends what it has before its end. A write of which the outcome
 * comes after the socket was destroyed is nobody's any more. Where the handle is not as expected, the runtime's socket
 * writes too.
 *
 * The certificate of the other end is checked here and not by the runtime's socket, which would be gone, and the
 * certificate with it, before anybody could say which one was refused. As in Go, a name has to be among the certificate's
 * alternative names; its common name does not count.
 */

import net from 'node:net';
import type tls from 'node:tls';
import type { Address, DialledPeer, IoError, Socket, SocketHandler } from './io.ts';
import { EncryptingSocket, type RealTlsContext } from './real-encrypting-socket.ts';
import { readArea } from './real-read-buffer.ts';
import type { OwnedSocket } from './real-runtime-socket.ts';
import { systemError } from './real-tcp-handle.ts';
import { isWritableHandle, WAITS, type WritableHandle, type WriteOwner, writePieces } from './real-tcp-write.ts';

/** Among those that the runtime puts into one text. */
const ALTERNATIVE_NAME = /(?:^|, )(?:DNS|IP Address):/;
const WRONG_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';

class RealDialledSocket extends EncryptingSocket implements WriteOwner {
  /** What is written on: only while connected and in clear. */
  private handle: WritableHandle | null = null;

  /** It is connected: what is written from now on goes past the runtime's socket, if its handle allows that. */
  openHandle(handle: unknown): void {
    if (isWritableHandle(handle)) this.handle = handle;
  }

  readonly encrypt: NonNullable<Socket['encrypt']> = (context, peer, done) => {
    const plain = this.socket;
    if (plain === null) return;
    this.handle = null;
    const encrypted = this.begin(plain, () => wrap(plain, context as RealTlsContext, peer), done);
    encrypted.on('secureConnect', () => {
      const isRefused = peer.isVerified && !encrypted.authorized;
      this.shaken(encrypted, isRefused ? refusal(encrypted) : null);
    });
  };

  override write(pieces: readonly Uint8Array[]): void {
    const { handle, socket } = this;
    if (handle === null) super.write(pieces);
    else if (socket !== null && socket.writable) {
      const status = writePieces(handle, pieces, this);
      if (status !== WAITS) this.writeDone(status);
    }
  }

  writeDone(status: number): void {
    const { socket } = this;
    if (socket === null || socket.destroyed) return;
    if (status === 0) this.handler?.written();
    else socket.destroy(systemError('write', status));
  }
}

function wrap(plain: net.Socket, { secure }: RealTlsContext, { host }: DialledPeer): tls.TLSSocket {
  const { connect, checkServerIdentity } = process.getBuiltinModule('node:tls');
  return connect({
    socket: plain,
    secureContext: secure,
    host,
    ...(net.isIP(host) === 0 ? { servername: host } : {}),
    rejectUnauthorized: false,
    checkServerIdentity: (name, certificate) => {
      const fault = checkServerIdentity(name, certificate);
      if (fault !== undefined || ALTERNATIVE_NAME.test(certificate.subjectaltname ?? '')) return fault;
      return Object.assign(new Error('the certificate has no alternative names'), { code: WRONG_NAME });
    },
  });
}

/** The runtime tells the code of what it found alone. */
function refusal({ authorizationError }: tls.TLSSocket): IoError {
  const code = String(authorizationError);
  return Object.assign(new Error(`the certificate was refused: ${code}`), { code });
}

/** `takesHandles` false: the runtime's socket is used for everything. */
export function dial(address: Address, handler: SocketHandler, takesHandles: boolean): Socket {
  const real = new RealDialledSocket();
  const socket: OwnedSocket = net.connect({
    host: address.host,
    port: address.port,
    noDelay: true,
    allowHalfOpen: true,
    onread: { buffer: readArea, callback: real.onRead },
  });
  real.bind(socket);
  real.attach(handler);
  socket.on('connect', () => {
    if (takesHandles) real.openHandle(socket._handle);
    handler.connected();
  });
  socket.resume();
  return real;
}
