/**
 * An accepted connection as a socket directly on the runtime's TCP handle, because there can be many thousands of them,
 * most of them silent.
 *
 *     reading ◄──resume / data answers false──► stopped
 *        └───────────────┬─────────────────────────┘
 *              end()     │     destroy(), an error
 *                ▼       │            ▼
 *              ending ───┴──────► closing ──► closed        the owner hears of the last step
 *
 * Invariants: `handle` is null from the beginning of closing on, and what the runtime still calls then is ignored. At
 * most one write is in flight. A write that the system takes at once is reported inside the call (`real-tcp-write.ts`).
 *
 * The runtime holds a handle until it is closed, and the handle its socket: nobody else has to hold either.
 *
 * A peer that sends faster than it is read would have the turn for itself: the runtime reads up to 32 times in a row. Behind
 * READS_PER_TURN everybody else comes first.
 */

import type { Address, IoError, ListenHandler, Socket, SocketHandler } from './io.ts';
import { HEADROOM_BYTES } from './io.ts';
import { READ_BYTES, readArea, readBuffer } from './real-read-buffer.ts';
import {
  type AddressOut,
  addressOf,
  END_OF_FILE,
  type StreamBinding,
  streamBinding,
  systemError,
  type TcpHandle,
} from './real-tcp-handle.ts';
import { WAITS, type WriteOwner, writePieces } from './real-tcp-write.ts';

/** Without the runtime's streams nobody makes a socket of this kind. */
const stream = streamBinding as StreamBinding;

const READS_PER_TURN = 4;

type OwnedHandle = TcpHandle & { owner: HandleSocket };

/** `waiting`: the system has not taken all yet. `untold`: it has, before there was anybody to tell. */
type WriteState = 'none' | 'waiting' | 'untold';

class HandleSocket implements Socket, WriteOwner {
  private handle: OwnedHandle | null;
  private handler: SocketHandler | null = null;
  private error: IoError | null = null;
  private readonly remoteHost: string;
  private readonly remotePort: number;
  private writeState: WriteState = 'none';
  private isReading = false;
  /** Reads of this turn that filled the buffer, so that another one follows at once. */
  private fullReads = 0;
  /** It has stopped for the rest of the turn, on its own. */
  private isYielding = false;
  private isEnding = false;
  private hasPeerEnded = false;

  constructor(handle: OwnedHandle) {
    this.handle = handle;
    const { host, port } = peerOf(handle);
    this.remoteHost = host;
    this.remotePort = port;
  }

  /** Begins to read, for this owner. It may have written, or given up, already. */
  open(handler: SocketHandler): void {
    this.handler = handler;
    const { handle } = this;
    if (handle === null) return;
    handle.onread = onRead;
    handle.useUserBuffer(readArea);
    this.resume();
    if (this.writeState !== 'untold') return;
    this.writeState = 'none';
    handler.written();
  }

  get remote(): Address {
    return { host: this.remoteHost, port: this.remotePort };
  }

  get local(): Address {
    const out: AddressOut = {};
    const status = this.handle?.getsockname(out);
    return status === 0 ? addressOf(out) : { host: '', port: 0 };
  }

  write(pieces: readonly Uint8Array[]): void {
    const { handle } = this;
    if (handle === null) return;
    const status = writePieces(handle, pieces, this);
    if (status < 0) {
      this.fail(systemError('write', status));
      return;
    }
    if (status === WAITS) {
      this.writeState = 'waiting';
      return;
    }
    if (this.handler === null) this.writeState = 'untold';
    else this.handler.written();
  }

  resume(): void {
    const { handle } = this;
    if (handle === null || this.isReading || this.hasPeerEnded) return;
    this.isReading = true;
    this.isYielding = false;
    this.fullReads = 0;
    const status = handle.readStart();
    if (status !== 0) this.fail(systemError('read', status));
  }

  end(): void {
    if (this.isEnding || this.handle === null) return;
    this.isEnding = true;
    if (this.writeState !== 'waiting') this.shutdown(this.handle);
  }

  destroy(): void {
    const { handle } = this;
    if (handle === null) return;
    this.handle = null;
    handle.close(onClosed);
  }

  readDone(result: number): void {
    const { handle, handler } = this;
    if (handle === null || handler === null) return;
    if (result > 0) {
      this.fullReads = result === READ_BYTES ? this.fullReads + 1 : 0;
      if (!handler.data(readBuffer, HEADROOM_BYTES, HEADROOM_BYTES + result)) this.stopReading();
      else if (this.fullReads === READS_PER_TURN) this.yieldTurn();
    } else if (result === END_OF_FILE) {
      this.hasPeerEnded = true;
      handler.ended();
    } else if (result < 0) this.fail(systemError('read', result));
  }

  writeDone(status: number): void {
    const { handle, handler } = this;
    if (handle === null) return;
    this.writeState = 'none';
    if (status !== 0) this.fail(systemError('write', status));
    else {
      // Whoever ends the socket in here has ended it; it was waiting for this write only if it was to end before.
      const ends = this.isEnding;
      handler?.written();
      if (ends && this.handle !== null) this.shutdown(handle);
    }
  }

  closed(): void {
    const { handler } = this;
    this.handler = null;
    handler?.closed(this.error);
  }

  private stopReading(): void {
    const { handle } = this;
    if (handle === null) return;
    this.isReading = false;
    this.isYielding = false;
    handle.readStop();
  }

  private yieldTurn(): void {
    this.stopReading();
    this.isYielding = true;
    setImmediate(() => {
      // Whoever stopped or resumed it meanwhile has the last word.
      if (this.isYielding) this.resume();
    });
  }

  /** Tells the peer that nothing more comes, and closes. */
  private shutdown(handle: OwnedHandle): void {
    const request = new stream.ShutdownWrap();
    request.oncomplete = onShutdown;
    // Not connected any more, or done already: then there is nothing to wait for.
    if (handle.shutdown(request) !== 0) this.destroy();
  }

  private fail(error: IoError): void {
    this.error = error;
    this.destroy();
  }
}

/** Makes the socket of a connection that was accepted, and its owner. */
export function openAccepted(handle: TcpHandle, listen: Pick<ListenHandler, 'accepted'>): void {
  handle.setNoDelay(true);
  const owned = handle as OwnedHandle;
  const socket = new HandleSocket(owned);
  owned.owner = socket;
  socket.open(listen.accepted(socket));
}

/** Most connections come from few hosts, one after the other: they share the text. */
let lastHost = '';

function peerOf(handle: TcpHandle): Address {
  const out: AddressOut = {};
  // One that was reset already has no peer.
  if (handle.getpeername(out) !== 0) return { host: '', port: 0 };
  const { host, port } = addressOf(out);
  if (host !== lastHost) lastHost = host;
  return { host: lastHost, port };
}

// What the runtime calls. It looks at what `onRead` returns: nothing.

function onRead(this: TcpHandle): void {
  (this as OwnedHandle).owner.readDone(stream.streamBaseState[stream.kReadBytesOrError] as number);
}

function onShutdown(_status: number, handle: TcpHandle): void {
  (handle as OwnedHandle).owner.destroy();
}

function onClosed(this: TcpHandle): void {
  (this as OwnedHandle).owner.closed();
}
