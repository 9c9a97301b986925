/**
 * A connection as a socket on the runtime's `net.Socket`: every one that was dialled (`real-dialled-socket.ts`), and
 * accepted ones where the handle below cannot be used.
 *
 * Reading. Dialled sockets take the static read buffer as an option (`onread`). Accepted ones have no such option: what
 * the runtime read is copied into it, in parts if need be.
 *
 * Stopping. A handler that returns false stops its socket's reads; `pause()` alone does not stop a socket that reads
 * into a given buffer. Going on starts the handle again, which may have vanished meanwhile.
 *
 * Ending. A peer that will send nothing more may still read, so its end closes nothing here (`allowHalfOpen`): what waits
 * to be sent still goes out, and the owner ends the socket.
 */

import type net from 'node:net';
import type { Address, IoError, ListenHandler, Socket, SocketHandler } from './io.ts';
import { HEADROOM_BYTES } from './io.ts';
import { READ_BYTES, readArea, readBuffer } from './real-read-buffer.ts';
import { addressOf, systemError } from './real-tcp-handle.ts';

/** The part of the handle below that going on needs. */
interface ReadingHandle {
  reading: boolean;
  readStart(): number;
}

/** A runtime socket that knows whose it is, so that all of them share their listeners. */
export type OwnedSocket = net.Socket & { _handle?: ReadingHandle | null; owner?: RuntimeSocket };

/** Those that can be encrypted build on it (`real-tls-socket.ts`). */
export class RuntimeSocket implements Socket {
  protected socket: OwnedSocket | null = null;
  protected handler: SocketHandler | null = null;
  private error: IoError | null = null;
  private remoteAddress: Address | null = null;
  private readonly onWritten = (error?: Error | null): void => {
    if (!error) this.handler?.written();
  };

  /** Reads of a socket that reads into the static buffer end here; false stops them. */
  readonly onRead = (bytes: number): boolean =>
    this.handler === null || this.handler.data(readBuffer, HEADROOM_BYTES, HEADROOM_BYTES + bytes);

  bind(socket: OwnedSocket): void {
    socket.on('close', onClose);
    this.own(socket);
  }

  /** Reads, writes and hears of errors through this socket from now on. */
  protected own(socket: OwnedSocket): void {
    this.socket = socket;
    socket.owner = this;
    socket.on('error', onError);
    socket.on('end', onEnd);
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

  /** The runtime gave a buffer of its own. */
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
    const address = addressOf({ address: this.socket?.remoteAddress, port: this.socket?.remotePort });
    if (address.port !== 0) this.remoteAddress = address;
    return address;
  }

  get local(): Address {
    return addressOf({ address: this.socket?.localAddress, port: this.socket?.localPort });
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

/** Reads what the runtime gives, in buffers of its own. */
export function readData(socket: net.Socket): void {
  socket.on('data', onData);
}

/** Makes the socket of a connection that the runtime accepted and wrapped, and its owner. */
export function openWrapped(socket: net.Socket, listen: ListenHandler): void {
  const real = new RuntimeSocket();
  real.bind(socket);
  real.attach(listen.accepted(real));
  readData(socket);
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
