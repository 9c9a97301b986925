/**
 * The owner of a socket in tests: it keeps all that the socket tells it, in order, and fails when it is told something
 * after the end.
 */
import type { IoError, Socket, SocketHandler } from '../../server/io/io.ts';

export type SocketEvent = 'connected' | 'data' | 'written' | 'ended' | 'closed';

export class SocketRecorder implements SocketHandler {
  socket: Socket | null = null;
  /** All but `data`, which is counted in `reads`. */
  readonly events: SocketEvent[] = [];
  readonly buffers: Set<Buffer> = new Set<Buffer>();
  readonly readSizes: number[] = [];
  error: IoError | null = null;
  /** What `data` answers. */
  readsOn = true;
  /** Runs inside `data`, after the bytes were kept. */
  onData: () => void = () => undefined;
  /** Runs inside `written`. */
  onWritten: () => void = () => undefined;
  /** Runs inside `ended`. */
  onEnded: () => void = () => undefined;
  private readonly chunks: Buffer[] = [];
  private byteCount = 0;

  connected(): void {
    this.note('connected');
  }

  data(buffer: Buffer, start: number, end: number): boolean {
    if (this.isClosed) throw new Error('data after closed');
    this.buffers.add(buffer);
    this.readSizes.push(end - start);
    this.chunks.push(Buffer.from(buffer.subarray(start, end)));
    this.byteCount += end - start;
    this.onData();
    return this.readsOn;
  }

  written(): void {
    this.note('written');
    this.onWritten();
  }

  ended(): void {
    this.note('ended');
    this.onEnded();
  }

  closed(error: IoError | null): void {
    this.error = error;
    this.note('closed');
  }

  count(event: SocketEvent): number {
    return this.events.filter((each) => each === event).length;
  }

  get isClosed(): boolean {
    return this.events.at(-1) === 'closed';
  }

  get bytesRead(): number {
    return this.byteCount;
  }

  get received(): Buffer {
    return Buffer.concat(this.chunks);
  }

  private note(event: SocketEvent): void {
    if (this.isClosed) throw new Error(`${event} after closed`);
    this.events.push(event);
  }
}

/** `length` bytes in which each position is recognizable, so that a lost, repeated or swapped piece shows. */
export function patterned(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  for (let i = 0; i < length; i++) bytes[i] = (i ^ (i >> 8) ^ (i >> 16)) & 0xff;
  return bytes;
}
