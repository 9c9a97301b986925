/**
 * The runtime's TCP handle: what lies below its `net.Socket`, at a fifth of the memory. The runtime does not promise
 * that it stays as it is, so all that is used of it stands here, and whether it looks as expected is asked before use.
 *
 * A handle reads into a buffer it was given, and says how much in a shared table of integers, `state`. A write that the
 * system takes at once is over when the call returns, and its request object was not touched; only one that has to wait
 * keeps the request, and calls its `oncomplete`.
 */

import type net from 'node:net';
import { getSystemErrorName } from 'node:util';
import type { Address, IoError } from './io.ts';

const MAPPED = '::ffff:';

/** In place of the bytes of a read: the peer will send nothing more. */
export const END_OF_FILE = -4095;

export interface TcpHandle {
  /** Called after each read; the result is in `state`. Must return nothing. */
  onread: () => void;
  readStart(): number;
  readStop(): number;
  useUserBuffer(buffer: Uint8Array): void;
  writeBuffer(request: WriteRequest, piece: Uint8Array): number;
  writev(request: WriteRequest, pieces: readonly Uint8Array[], areBuffers: true): number;
  shutdown(request: ShutdownRequest): number;
  /** `done` runs with the handle as `this` when nothing of it is in use any more. */
  close(done: () => void): void;
  setNoDelay(on: boolean): number;
  getpeername(out: AddressOut): number;
  getsockname(out: AddressOut): number;
}

type ListeningHandle = TcpHandle & {
  /** Called with each connection, or with what went wrong. */
  onconnection?: ((status: number, handle: TcpHandle | undefined) => void) | null;
};

export type ListeningServer = net.Server & { _handle?: ListeningHandle | null };

export interface AddressOut {
  address?: string | undefined;
  port?: number | undefined;
}

type Complete = (status: number, handle: TcpHandle) => void;

export interface WriteRequest {
  oncomplete?: Complete;
  /** The memory that is being written, so that it lives until then. */
  pieces?: readonly Uint8Array[];
}

export interface ShutdownRequest {
  oncomplete?: Complete;
}

/** What the runtime exports of its streams. */
export interface StreamBinding {
  readonly WriteWrap: new () => WriteRequest;
  readonly ShutdownWrap: new () => ShutdownRequest;
  readonly streamBaseState: Int32Array;
  /** Where in the state the bytes of a read stand, or a negative error. */
  readonly kReadBytesOrError: number;
  /** Where it stands that the last write was not over when the call returned. */
  readonly kLastWriteWasAsync: number;
}

const HANDLE_METHODS: readonly (keyof TcpHandle)[] = [
  'readStart',
  'readStop',
  'useUserBuffer',
  'writeBuffer',
  'writev',
  'shutdown',
  'close',
  'setNoDelay',
  'getpeername',
  'getsockname',
];

/** The runtime's streams; `null` where it does not give them, or not as expected. */
export const streamBinding: StreamBinding | null = findStreamBinding();

function findStreamBinding(): StreamBinding | null {
  const { binding } = process as { binding?: (name: string) => unknown };
  if (typeof binding !== 'function') return null;
  try {
    const found = binding.call(process, 'stream_wrap');
    return isStreamBinding(found) ? found : null;
  } catch {
    // Refused, or gone: there is another way.
    return null;
  }
}

function isStreamBinding(found: unknown): found is StreamBinding {
  if (typeof found !== 'object' || found === null) return false;
  const { WriteWrap, ShutdownWrap, streamBaseState, ...places } = found as Partial<StreamBinding>;
  const hasPlace = (place: unknown): boolean =>
    Number.isInteger(place) && (place as number) in (streamBaseState as Int32Array);
  return (
    typeof WriteWrap === 'function' &&
    typeof ShutdownWrap === 'function' &&
    ArrayBuffer.isView(streamBaseState) &&
    hasPlace(places.kReadBytesOrError) &&
    hasPlace(places.kLastWriteWasAsync)
  );
}

/** Whether a listening server's handle, and so those of its connections, can be used directly. */
export function isUsableHandle(handle: ListeningServer['_handle']): handle is ListeningHandle {
  if (!handle || typeof handle.onconnection !== 'function' || !('onread' in handle)) return false;
  return HANDLE_METHODS.every((method) => typeof handle[method] === 'function');
}

/** What the system said with a negative status. */
export function systemError(what: string, status: number): IoError {
  const code = getSystemErrorName(status);
  return Object.assign(new Error(`${what} ${code}`), { code });
}

export function addressOf({ address, port }: AddressOut): Address {
  return { host: withoutMapping(address), port: port ?? 0 };
}

/** `::ffff:10.0.0.1` is how a socket that also speaks IPv6 shows an IPv4 peer. */
function withoutMapping(address: string | undefined): string {
  if (address === undefined) return '';
  return address.startsWith(MAPPED) && address.includes('.') ? address.slice(MAPPED.length) : address;
}
