/**
 * TCP sockets of the host.
 *
 * Reading. All sockets read into one static buffer, so that a read allocates nothing:
 *
 *     │ headroom 64 KiB │ read area 64 KiB │     its content dies when the handler returns
 *
 * Dialled sockets take the buffer as an option (`onread`). Accepted ones have no such option, so the listening handle's
 * connections are taken from it directly and the one `net.Socket` is built around each. Where the runtime's internals
 * are not as expected (and for TLS) the ordinary path is used: a socket's data is copied into the static buffer. Both
 * paths are tested.
 *
 * Stopping. A handler that returns false stops its socket's reads; `pause()` alone does not stop a socket that reads
 * into a given buffer. Going on starts the handle again, which may have vanished meanwhile.
 *
 * Ending. A peer that will send nothing more may still read, so its end closes nothing here (`allowHalfOpen`): what waits
 * to be sent still goes out, and the owner ends the socket.
 */

import net from 'node:net';
import { getSystemErrorName } from 'node:util';
import type { Address, IoError, ListenHandler, Listener, Network, Socket, SocketHandler } from './io.ts';
import { HEADROOM_BYTES } from './io.ts';
import { serveHttp } from './real-http.ts';
import { RealListener } from './real-listener.ts';

const READ_BYTES = 65_536;
const MAPPED = '::ffff:';

const readBuffer = Buffer.allocUnsafeSlow(HEADROOM_BYTES + READ_BYTES);
const readArea = readBuffer.subarray(HEADROOM_BYTES);

/** The parts of the runtime's TCP handle that are used here. */
interface TcpHandle {
  reading: boolean;
  readStart(): number;
  setNoDelay(on: boolean): number;
  onconnection?: (status: number, handle: TcpHandle | undefined) => void;
}

type ServerWithHandle = net.Server & { _handle?: TcpHandle | null };

/** A runtime socket that knows whose it is, so that all of them share their listeners. */
type OwnedSocket = net.Socket & { _handle?: TcpHandle | null; owner?: RealSocket };

class RealSocket implements Socket {
  private socket: OwnedSocket | null = null;
  private handler: SocketHandler | null = null;
  private error: IoError | null = null;
  private remoteAddress: Address | null = null;
  private readonly onWritten = (error?: Error | null): void => {
    if (!error) this.handler?.written();
  };

  /** Reads of a socket that reads into the static buffer end here; false stops them. */
  readonly onRead = (bytes: number): boolean =>
    this.handler === null || this.handler.data(readBuffer, HEADROOM_BYTES, HEADROOM_BYTES + bytes);

  bind(socket: OwnedSocket): void {
    this.socket = socket;
    socket.owner = this;
    socket.on('error', onError);
    socket.on('end', onEnd);
    socket.on('close', onClose);
  }

  attach(handler: SocketHandler): void {
    this.handler = handler;
  }

  failed(error: IoError): void {
    this.error = error;
  }

  ended(): void {
    this.handler?.ended();
  }

  closed(): void {
    const { handler } = this;
    this.handler = null;
    this.socket = null;
    handler?.closed(this.error);
  }

  /** The ordinary path: the runtime gives a buffer of its own for each read. */
  take(data: Buffer): void {
    const bytes = data.copy(readArea, 0, 0, Math.min(data.length, READ_BYTES));
    const goesOn = this.onRead(bytes);
    const { socket } = this;
    if (socket === null || socket.destroyed) return;
    if (!goesOn) socket.pause();
    if (bytes === data.length) return;
    const rest = data.subarray(bytes);
    if (goesOn) this.take(rest);
    else socket.unshift(rest);
  }

  get remote(): Address {
    if (this.remoteAddress !== null) return this.remoteAddress;
    const address = { host: withoutMapping(this.socket?.remoteAddress), port: this.socket?.remotePort ?? 0 };
    if (address.port !== 0) this.remoteAddress = address;
    return address;
  }

  get local(): Address {
    return { host: withoutMapping(this.socket?.localAddress), port: this.socket?.localPort ?? 0 };
  }

  write(pieces: readonly Uint8Array[]): void {
    const { socket } = this;
    if (socket === null) return;
    if (pieces.length === 1) {
      socket.write(pieces[0] as Uint8Array, this.onWritten);
      return;
    }
    socket.cork();
    const last = pieces.length - 1;
    for (let i = 0; i < last; i++) socket.write(pieces[i] as Uint8Array);
    socket.write(pieces[last] as Uint8Array, this.onWritten);
    socket.uncork();
  }

  resume(): void {
    const { socket } = this;
    if (socket === null) return;
    const handle = socket._handle;
    if (handle && !handle.reading && !socket.isPaused()) {
      handle.reading = true;
      const status = handle.readStart();
      if (status !== 0) socket.destroy(systemError('read', status));
    } else socket.resume();
  }

  end(): void {
    this.socket?.destroySoon();
  }

  destroy(): void {
    this.socket?.destroy();
  }
}

export class RealNetwork implements Network {
  /** `copying`: use the ordinary path for accepted sockets, as when the runtime's internals have changed. */
  private readonly copying: boolean;

  constructor(options: { copying: boolean } = { copying: false }) {
    this.copying = options.copying;
  }

  listen(address: Address, handler: ListenHandler): Listener {
    const server: ServerWithHandle = net.createServer({ noDelay: true, allowHalfOpen: true });
    server.on('connection', (socket: OwnedSocket) => {
      const real = new RealSocket();
      real.bind(socket);
      real.attach(handler.accepted(real));
      socket.on('data', onData);
    });
    return new RealListener(server, address, {
      listening: (bound) => {
        if (!this.copying) takeConnections(server, handler);
        handler.listening(bound);
      },
      failed: (error) => handler.failed(error),
    });
  }

  connect(address: Address, handler: SocketHandler): Socket {
    const real = new RealSocket();
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

  readonly serveHttp: Network['serveHttp'] = serveHttp;
}

function onError(this: OwnedSocket, error: IoError): void {
  this.owner?.failed(error);
}

function onEnd(this: OwnedSocket): void {
  this.owner?.ended();
}

function onClose(this: OwnedSocket): void {
  this.owner?.closed();
}

function onData(this: OwnedSocket, data: Buffer): void {
  this.owner?.take(data);
}

/** What the system said with a negative status. */
function systemError(what: string, status: number): IoError {
  const code = getSystemErrorName(status);
  return Object.assign(new Error(`${what} ${code}`), { code });
}

/** `::ffff:10.0.0.1` is how a socket that also speaks IPv6 shows an IPv4 peer. */
function withoutMapping(address: string | undefined): string {
  if (address === undefined) return '';
  return address.startsWith(MAPPED) && address.includes('.') ? address.slice(MAPPED.length) : address;
}

/** Takes the listening handle's connections before `net.Server` wraps them. */
function takeConnections(server: ServerWithHandle, handler: ListenHandler): void {
  const listening = server._handle;
  if (!listening || typeof listening.onconnection !== 'function') return;
  listening.onconnection = (status, handle) => {
    if (handle === undefined) {
      handler.failed(systemError('accept', status));
      return;
    }
    const real = new RealSocket();
    handle.setNoDelay(true);
    const options = {
      handle,
      readable: true,
      writable: true,
      allowHalfOpen: true,
      onread: { buffer: readArea, callback: real.onRead },
    };
    const socket = new net.Socket(options as unknown as net.SocketConstructorOpts);
    real.bind(socket);
    real.attach(handler.accepted(real));
    socket.resume();
  };
}
