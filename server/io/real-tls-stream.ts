/**
 * Reading and writing of an encrypted connection, directly on the runtime's TLS handle once hands are shaken. The runtime's
 * socket above it stays, for what is rare: errors of TLS, the end, and closing.
 *
 *     TCP read (64 KiB) ─► decrypted, a record after the other (16 KiB) ─► static read buffer ─► the owner
 *     the owner's pieces ─► one sequence of full records ─► as few TCP writes as the system takes
 *
 * Without it every record costs a buffer, which the collector of garbage then pays for: at 1 KiB messages more than half
 * of the CPU.
 *
 * Invariants: at most one write is in flight, and its request keeps the memory it writes from. The handle goes on with the
 * records of one TCP read after it was stopped: these are kept, by the size of a read no more than 64 KiB, and come
 * first when it goes on. Behind READ_BYTES_PER_TURN of one connection everybody else comes first.
 */

import type { IoError } from './io.ts';
import { HEADROOM_BYTES } from './io.ts';
import { readArea, readBuffer } from './real-read-buffer.ts';
import { END_OF_FILE, type StreamBinding, streamBinding, systemError, type WriteRequest } from './real-tcp-handle.ts';

/** What is used of the handle; it lies on the TCP handle. */
interface TlsHandle {
  onread: () => void;
  owner?: TlsStream;
  readStart(): number;
  readStop(): number;
  useUserBuffer(buffer: Uint8Array): void;
  writeBuffer(request: WriteRequest, piece: Uint8Array): number;
  writev(request: WriteRequest, pieces: readonly Uint8Array[], areBuffers: true): number;
}

export interface TlsStreamOwner {
  /** Bytes `[start, end)`; false stops reading. */
  data(buffer: Buffer, start: number, end: number): boolean;
  written(): void;
  ended(): void;
  /** The connection is of no more use. */
  broken(error: IoError): void;
}

const HANDLE_METHODS = ['readStart', 'readStop', 'useUserBuffer', 'writeBuffer', 'writev'] as const;
const READ_BYTES_PER_TURN = 256 * 1024;

const stream = streamBinding as StreamBinding;

/** Whether the handle of an encrypted socket is as expected. */
export function isUsableTlsHandle(handle: unknown): handle is TlsHandle {
  if (streamBinding === null || typeof handle !== 'object' || handle === null || !('onread' in handle)) return false;
  return HANDLE_METHODS.every((method) => typeof (handle as Partial<TlsHandle>)[method] === 'function');
}

/** `stopped`: by the owner. `yielding`: for the rest of the turn, on its own. */
type Reading = 'on' | 'stopped' | 'yielding';

export class TlsStream {
  private readonly handle: TlsHandle;
  private owner: TlsStreamOwner | null;
  private reading: Reading = 'on';
  private readBytes = 0;
  /** Decrypted after reading was stopped. */
  private kept: Buffer[] = [];
  /** It has, after that; the owner hears of it when it goes on. */
  private hasPeerEnded = false;
  private isWriting = false;
  private whenWritten: (() => void) | null = null;

  /** Takes over a handle that reads already. */
  constructor(handle: TlsHandle, owner: TlsStreamOwner) {
    this.handle = handle;
    this.owner = owner;
    handle.owner = this;
    handle.onread = onRead;
    handle.useUserBuffer(readArea);
  }

  write(pieces: readonly Uint8Array[]): void {
    const request = new stream.WriteWrap();
    request.oncomplete = onWritten;
    request.pieces = pieces;
    this.isWriting = true;
    const { handle } = this;
    const [first] = pieces;
    const status =
      pieces.length === 1 ? handle.writeBuffer(request, first as Uint8Array) : handle.writev(request, pieces, true);
    if (status !== 0) this.owner?.broken(systemError('write', status));
  }

  resume(): void {
    if (this.reading === 'on' || this.owner === null) return;
    if (this.kept.length === 0) this.goOn();
    else {
      this.reading = 'yielding';
      setImmediate(() => this.deliverKept());
    }
  }

  /** Calls back when nothing is being written, which may be now. */
  afterWriting(done: () => void): void {
    if (this.isWriting) this.whenWritten = done;
    else done();
  }

  /** Tells the owner nothing any more. */
  release(): void {
    this.owner = null;
    this.kept = [];
  }

  readDone(result: number): void {
    const { owner } = this;
    if (owner === null) return;
    if (result > 0) this.take(owner, result);
    else if (result === END_OF_FILE) {
      if (this.reading === 'on') owner.ended();
      else this.hasPeerEnded = true;
    } else if (result < 0) owner.broken(systemError('read', result));
  }

  writeDone(status: number): void {
    const { owner, whenWritten } = this;
    this.isWriting = false;
    if (owner === null) return;
    if (status !== 0) {
      owner.broken(systemError('write', status));
      return;
    }
    this.whenWritten = null;
    owner.written();
    whenWritten?.();
  }

  private take(owner: TlsStreamOwner, bytes: number): void {
    if (this.reading !== 'on') {
      this.kept.push(Buffer.from(readArea.subarray(0, bytes)));
      return;
    }
    this.readBytes += bytes;
    if (!owner.data(readBuffer, HEADROOM_BYTES, HEADROOM_BYTES + bytes)) this.stop('stopped');
    else if (this.readBytes >= READ_BYTES_PER_TURN) {
      this.stop('yielding');
      setImmediate(() => this.deliverKept());
    }
  }

  private stop(reading: Reading): void {
    this.reading = reading;
    this.handle.readStop();
  }

  /** What was decrypted meanwhile comes first. */
  private deliverKept(): void {
    while (this.owner !== null && this.reading === 'yielding') {
      const next = this.kept.shift();
      if (next === undefined) {
        this.goOn();
        return;
      }
      next.copy(readArea);
      if (!this.owner.data(readBuffer, HEADROOM_BYTES, HEADROOM_BYTES + next.length)) this.reading = 'stopped';
    }
  }

  private goOn(): void {
    const { owner } = this;
    this.reading = 'on';
    this.readBytes = 0;
    if (owner === null) return;
    if (this.hasPeerEnded) {
      this.hasPeerEnded = false;
      owner.ended();
      return;
    }
    const status = this.handle.readStart();
    if (status !== 0) owner.broken(systemError('read', status));
  }
}

// What the runtime calls. It looks at what `onRead` returns: nothing.

function onRead(this: TlsHandle): void {
  this.owner?.readDone(stream.streamBaseState[stream.kReadBytesOrError] as number);
}

function onWritten(status: number, handle: unknown): void {
  (handle as TlsHandle).owner?.writeDone(status);
}
