/**
 * The socket of a link, which may begin to compress while it is open.
 *
 *     connection ──write──► LinkSocket ─┬─────────────────────────► socket
 *                                       └─► StreamEncoder ────────►
 *     connection ◄──data── LinkSocket ◄─┬────────────────────────── socket
 *                                       └─ StreamDecoder ◄─────────
 *
 * Each direction changes once, for good. What was handed to `write` before goes out as it is; what comes in is taken as
 * compressed from the next read on, since a peer that has asked waits for the answer. Where nothing is compressed all of
 * this is one more call.
 *
 * A write becomes one that its peer can read at once, and is in flight as long as the socket says so. The buffer that it
 * is encoded into is its own until then; most writes are taken at once, and so one spare buffer serves nearly all.
 * Of what was read so much is decoded in a turn as a turn may take; the rest, which is less than a read, is kept, and the
 * socket is not read until it has been decoded too.
 *
 * Counters of connections and of bytes that wait are about the content; only the socket sees less.
 */

import { Buffer } from 'node:buffer';
import type { CompressionLevel } from '../server/config/compression.ts';
import { HEADROOM_BYTES } from '../server/io/io.ts';
import type {
  Address,
  DialledPeer,
  IoError,
  Socket,
  SocketHandler,
  Timers,
  TlsContext,
  TlsPeer,
} from '../server/io/io.ts';
import { NO_BYTES, SpareBuffer } from '../server/protocol/spare-buffer.ts';
import { CHUNK_BYTES_MAX } from './s2/frame.ts';
import { type ContentSink, StreamDecoder } from './s2/stream-decoder.ts';
import { StreamEncoder } from './s2/stream-encoder.ts';

/** With what may be left of one block beyond it. */
const CONTENT_BYTES_PER_TURN = 512 * 1024;
const spare = new SpareBuffer();

const ignore = (): void => undefined;

export class LinkSocket implements Socket, SocketHandler, ContentSink {
  /** What goes out is compressed so much; `null`: not at all. */
  level: CompressionLevel | null = null;
  private readonly socket: Socket;
  private readonly timers: Timers;
  private handler: SocketHandler | null = null;
  private encoder: StreamEncoder | null = null;
  private decoder: StreamDecoder | null = null;
  private corrupted: (failure: string) => void = ignore;
  /** Holds what is in flight. */
  private target: Buffer = NO_BYTES;
  /** Read and not decoded yet: nothing more is read until it is. */
  private rest: Buffer | null = null;
  private isRestScheduled = false;

  constructor(socket: Socket, timers: Timers) {
    this.socket = socket;
    this.timers = timers;
  }

  /** Who hears everything about the socket. */
  attach(handler: SocketHandler): void {
    this.handler = handler;
  }

  /** Compresses what is written from now on, so much. */
  compress(level: CompressionLevel): void {
    this.level = level;
    this.encoder ??= new StreamEncoder();
  }

  /** Takes what is read from now on as compressed; `corrupted` hears why it can't be taken any further, if so. */
  decompress(corrupted: (failure: string) => void): void {
    this.corrupted = corrupted;
    this.decoder ??= new StreamDecoder(this, HEADROOM_BYTES);
  }

  /** Takes no pieces of a compressed stream that are longer; `null`: than any may be. */
  limitPieces(bytes: number | null): void {
    if (this.decoder !== null) this.decoder.bodyBytesMax = bytes ?? CHUNK_BYTES_MAX;
  }

  get remote(): Address {
    return this.socket.remote;
  }

  get local(): Address {
    return this.socket.local;
  }

  get tls(): TlsPeer | null {
    return this.socket.tls ?? null;
  }

  /** Shakes hands below: what is read and written from then on is encrypted. False where nothing can be. */
  secure(context: TlsContext, peer: DialledPeer, done: (error: IoError | null) => void): boolean {
    const { encrypt } = this.socket;
    encrypt?.(context, peer, done);
    return encrypt !== undefined;
  }

  write(pieces: readonly Uint8Array[]): void {
    const { encoder, level } = this;
    if (encoder === null) {
      this.socket.write(pieces);
      return;
    }
    let content = 0;
    for (const piece of pieces) content += piece.length;
    if (level === 's2_uncompressed') {
      const target = this.takeTarget(encoder.framedBytesMax(0));
      const used = encoder.frame(pieces, content, target);
      this.socket.write([target.subarray(0, used), ...pieces]);
    } else {
      const target = this.takeTarget(encoder.framedBytesMax(content));
      const used = encoder.compress(pieces, content, target, level === 's2_fast' ? 'fast' : 'thorough');
      this.socket.write([target.subarray(0, used)]);
    }
  }

  resume(): void {
    if (this.rest === null) this.socket.resume();
    else this.scheduleRest();
  }

  end(): void {
    this.socket.end();
  }

  destroy(): void {
    this.socket.destroy();
  }

  connected(): void {
    this.handler?.connected();
  }

  data(buffer: Buffer, start: number, end: number): boolean {
    const { decoder } = this;
    if (decoder === null) return this.content(buffer, start, end);
    const at = decoder.read(buffer, start, end, CONTENT_BYTES_PER_TURN);
    return this.goesOn(decoder, buffer, at, end);
  }

  /** Whether to read further; what has been read and not decoded is kept if not. */
  private goesOn(decoder: StreamDecoder, buffer: Buffer, at: number, end: number): boolean {
    this.rest = null;
    if (decoder.failure !== '') {
      this.corrupted(decoder.failure);
      return false;
    }
    if (at < end) this.rest = Buffer.from(buffer.subarray(at, end));
    if (decoder.isStopped) return false;
    if (at < end) this.scheduleRest();
    return at === end;
  }

  private scheduleRest(): void {
    if (this.isRestScheduled) return;
    this.isRestScheduled = true;
    this.timers.afterTurn(() => this.takeRest());
  }

  private takeRest(): void {
    const { decoder, rest } = this;
    this.isRestScheduled = false;
    if (decoder === null || rest === null) return;
    const at = decoder.read(rest, 0, rest.length, CONTENT_BYTES_PER_TURN);
    if (this.goesOn(decoder, rest, at, rest.length)) this.socket.resume();
  }

  written(): void {
    this.giveTarget();
    this.handler?.written();
  }

  ended(): void {
    this.handler?.ended();
  }

  closed(error: IoError | null): void {
    this.rest = null;
    this.handler?.closed(error);
  }

  /** What was read, without whatever it was compressed with. */
  content(buffer: Buffer, start: number, end: number): boolean {
    return this.handler !== null && this.handler.data(buffer, start, end);
  }

  private takeTarget(bytes: number): Buffer {
    this.target = spare.take(bytes);
    return this.target;
  }

  private giveTarget(): void {
    spare.give(this.target);
    this.target = NO_BYTES;
  }
}
