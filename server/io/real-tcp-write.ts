/**
 * Writing on the runtime's TCP handle. A write that the system takes at once is over when the call returns and keeps
 * nothing: it needs a request object all the same but leaves it as it was, so all connections share a spare one. A write
 * that has to wait keeps its request, and by it the memory it writes from.
 */

import { type StreamBinding, streamBinding, type TcpHandle, type WriteRequest } from './real-tcp-handle.ts';

/** Without the runtime's streams nobody writes this way. */
const stream = streamBinding as StreamBinding;

export type WritableHandle = Pick<TcpHandle, 'writeBuffer' | 'writev'>;

/** Who writes. */
export interface WriteOwner {
  /** A write that had to wait is over; 0: all of it was taken, otherwise the system's error. */
  writeDone(status: number): void;
}

/** In place of a status: whoever writes will hear of it. */
export const WAITS = 1;

/** Whether a handle can be written on this way. */
export function isWritableHandle(handle: unknown): handle is WritableHandle {
  if (streamBinding === null || typeof handle !== 'object' || handle === null) return false;
  const { writeBuffer, writev } = handle as Partial<WritableHandle>;
  return typeof writeBuffer === 'function' && typeof writev === 'function';
}

/** Writes the pieces, at least one, in order: 0 when all is taken, `WAITS`, or the system's error, which is negative. */
export function writePieces(handle: WritableHandle, pieces: readonly Uint8Array[], owner: WriteOwner): number {
  const request = takeRequest();
  const status =
    pieces.length === 1 ? handle.writeBuffer(request, pieces[0] as Uint8Array) : handle.writev(request, pieces, true);
  if (status !== 0) return status;
  if (stream.streamBaseState[stream.kLastWriteWasAsync] === 0) {
    spareRequest = request;
    return 0;
  }
  request.pieces = pieces;
  request.owner = owner;
  return WAITS;
}

type OwnedRequest = WriteRequest & { owner?: WriteOwner };

let spareRequest: OwnedRequest | null = null;

/** A request that no write keeps. */
function takeRequest(): OwnedRequest {
  const spare = spareRequest;
  spareRequest = null;
  if (spare !== null) return spare;
  const request: OwnedRequest = new stream.WriteWrap();
  request.oncomplete = onWritten;
  return request;
}

function onWritten(this: OwnedRequest, status: number): void {
  this.owner?.writeDone(status);
}
