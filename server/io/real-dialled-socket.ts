/**
 * A connection that this side dialled: it reads into the static buffer, and may be encrypted at any time, with whom was
 * dialled and then, through what they decrypt, with who is behind them.
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

/** Among those that the runtime puts into one text. */
const ALTERNATIVE_NAME = /(?:^|, )(?:DNS|IP Address):/;
const WRONG_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';

class RealDialledSocket extends EncryptingSocket {
  readonly encrypt: NonNullable<Socket['encrypt']> = (context, peer, done) => {
    const plain = this.socket;
    if (plain === null) return;
    const encrypted = this.begin(plain, () => wrap(plain, context as RealTlsContext, peer), done);
    encrypted.on('secureConnect', () => {
      const isRefused = peer.isVerified && !encrypted.authorized;
      this.shaken(encrypted, isRefused ? refusal(encrypted) : null);
    });
  };
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

export function dial(address: Address, handler: SocketHandler): Socket {
  const real = new RealDialledSocket();
  const socket = net.connect({
    host: address.host,
    port: address.port,
    noDelay: true,
    allowHalfOpen: true,
    onread: { buffer: readArea, callback: real.onRead },
  });
  real.bind(socket);
  real.attach(handler);
  socket.on('connect', () => handler.connected());
  socket.resume();
  return real;
}
