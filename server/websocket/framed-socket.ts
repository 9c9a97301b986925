/**
 * A connection that speaks WebSocket, as a socket on which everything else goes as on any other. How both ends have come to
 * agree on that is the matter of those who build on it: the end that dialled and the one that was dialled.
 *
 *     fresh ──open──► open ──end / close of the other end──► closing ──► closed
 *
 *     owner ──write──► [deflate] ──► FrameEncoder ──────────► socket
 *     owner ◄──data── [Inflater] ◄── FrameDecoder ◄────────── socket
 *
 * Sending. At most one write is in flight below, of content or of a control frame; of control frames only the last pong
 * and the close wait, so pings in a flood cost nothing but their reading. What is compressed is deflated a message of
 * DEFLATED_BYTES_MAX at a time, one in a turn: servers refuse messages that inflate to more than max_payload.
 *
 * Receiving. Plain content goes to the owner from where it was read. Compressed content is inflated beside the main
 * thread, and the rest of the read waits until that is done; the socket is not read meanwhile. So the memory held is a
 * read and what the inflater has of one, whatever the other end sends.
 */

import { Buffer } from 'node:buffer';
import { deflateRawSync, constants } from 'node:zlib';
import { HEADROOM_BYTES } from '../io/io.ts';
import type {
  Address,
  Inflater,
  InflaterHandler,
  Io,
  IoError,
  Socket,
  SocketHandler,
  Timer,
  TlsPeer,
  WebSocketPeer,
} from '../io/io.ts';
import { closeAnswer, closeContent, CloseStatus } from './close-frame.ts';
import { type ControlCode, OpCode } from './frame.ts';
import { FrameDecoder, type FrameSink } from './frame-decoder.ts';
import { FrameEncoder } from './frame-encoder.ts';

const DEFLATED_BYTES_MAX = 64 * 1024;
/** Less is not worth it. */
const DEFLATED_BYTES_MIN = 64;
/** What a flush adds to a message, and RFC 7692 takes away. */
const FLUSH_BYTES = 4;
/** For the close to go out to an end that reads nothing. */
const CLOSE_MS = 1000;
const NO_BYTES = Buffer.alloc(0);
const NO_PIECES: readonly Uint8Array[] = [];

const SAID_NOTHING: WebSocketPeer = { forwardedFor: '', cookies: null };

const ignore = (): void => undefined;

/** What both ends will do. */
export interface FrameTerms {
  readonly deflates: boolean;
  /** What is sent is masked. */
  readonly masks: boolean;
  /** What is received is masked. */
  readonly expectsMasks: boolean;
}

type InFlight = 'nothing' | 'content' | 'part of content' | 'control';

export class FramedSocket implements Socket, SocketHandler, FrameSink, InflaterHandler {
  /** Hears why the stream can't be taken any further, if so. */
  onBroken: (failure: string) => void = ignore;
  readonly webSocket: WebSocketPeer = SAID_NOTHING;
  protected readonly socket: Socket;
  protected readonly io: Io;
  protected handler: SocketHandler | null = null;
  private terms: FrameTerms | null = null;

  private readonly encoder: FrameEncoder;
  private inFlight: InFlight = 'nothing';
  /** Written by the owner, and not handed to the socket yet; it begins at `waitingFrom`. */
  private waiting: readonly Uint8Array[] = NO_PIECES;
  private waitingFrom = 0;
  private deflatedBytesMax = DEFLATED_BYTES_MAX;
  private pong: Buffer | null = null;
  private close: Buffer | null = null;
  private isEnding = false;

  private readonly decoder: FrameDecoder = new FrameDecoder(this);
  private inflater: Inflater | null = null;
  private isInflating = false;
  /** The owner, or an inflater, takes nothing more for now. */
  private hasStopped = false;
  /** Read and not decoded yet, from `restFrom` on: nothing more is read until it is. */
  private rest: Buffer | null = null;
  private restFrom = 0;
  private isRestScheduled = false;
  private closing: Timer | null = null;
  private isOver = false;

  constructor(socket: Socket, io: Io) {
    this.socket = socket;
    this.io = io;
    this.encoder = new FrameEncoder(io.random);
  }

  /** Who hears everything about it. */
  attach(handler: SocketHandler): void {
    this.handler = handler;
  }

  /** Speaks WebSocket from now on. */
  protected open(terms: FrameTerms): void {
    this.terms = terms;
    this.encoder.masks = terms.masks;
    this.decoder.expectsMasks = terms.expectsMasks;
    this.decoder.mayBeCompressed = terms.deflates;
  }

  /** Bytes that are none of a frame: the way to WebSocket. Counts as a write until `written`. */
  protected writeRaw(bytes: Uint8Array): void {
    this.inFlight = 'control';
    this.socket.write([bytes]);
  }

  /** Compressed messages inflate to no more than this. */
  limitMessages(bytes: number): void {
    this.deflatedBytesMax = Math.min(bytes, DEFLATED_BYTES_MAX);
  }

  /** Both ends compress in WebSocket's own way. */
  get isCompressed(): boolean {
    return this.terms?.deflates ?? false;
  }

  get isMasked(): boolean {
    return this.terms?.masks ?? true;
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

  // ── sending ──────────────────────────────────────────────────────────────────────────────────────────────────────

  write(pieces: readonly Uint8Array[]): void {
    this.waiting = pieces;
    this.waitingFrom = 0;
    if (this.inFlight === 'nothing') this.sendNext();
  }

  /** The next that waits, control frames first. */
  private sendNext(): void {
    const { pong } = this;
    if (this.isOver) return;
    if (pong !== null) {
      this.pong = null;
      this.send('control', OpCode.pong, [pong], false);
    } else if (this.waiting.length > 0) this.sendContent();
    else if (this.close !== null) {
      const { close } = this;
      this.close = null;
      this.send('control', OpCode.close, [close], false);
    } else if (this.isEnding) this.socket.end();
  }

  private sendContent(): void {
    const { waiting } = this;
    if (!this.isCompressed) {
      this.waiting = NO_PIECES;
      this.send('content', OpCode.binary, waiting, false);
      return;
    }
    const part = this.takePart();
    const state = this.waiting.length > 0 ? 'part of content' : 'content';
    let bytes = 0;
    for (const piece of part) bytes += piece.length;
    if (bytes <= DEFLATED_BYTES_MIN) this.send(state, OpCode.binary, part, false);
    else this.send(state, OpCode.binary, [deflate(part)], true);
  }

  /** Takes from what waits as much as one compressed message may hold. */
  private takePart(): Uint8Array[] {
    const part: Uint8Array[] = [];
    let room = this.deflatedBytesMax;
    let index = 0;
    for (; index < this.waiting.length && room > 0; index++) {
      const piece = this.waiting[index] as Uint8Array;
      const from = this.waitingFrom;
      const taken = piece.subarray(from, from + room);
      part.push(taken);
      room -= taken.length;
      this.waitingFrom = 0;
      if (from + taken.length === piece.length) continue;
      this.waitingFrom = from + taken.length;
      break;
    }
    this.waiting = index === this.waiting.length ? NO_PIECES : this.waiting.slice(index);
    return part;
  }

  private send(what: InFlight, code: number, pieces: readonly Uint8Array[], isCompressed: boolean): void {
    this.inFlight = what;
    this.socket.write(this.encoder.frame(code, pieces, isCompressed));
  }

  written(): void {
    const was = this.inFlight;
    this.encoder.release();
    this.inFlight = 'nothing';
    if (was === 'part of content') {
      // The next part has a turn of its own.
      this.inFlight = 'part of content';
      this.io.timers.afterTurn(() => {
        this.inFlight = 'nothing';
        this.sendNext();
      });
      return;
    }
    if (was === 'content') this.handler?.written();
    // What the owner has written meanwhile may be in flight already.
    if (this.inFlight === 'nothing') this.sendNext();
  }

  end(): void {
    if (this.isEnding) return;
    this.isEnding = true;
    if (this.terms === null) {
      this.socket.end();
      return;
    }
    this.close ??= this.farewell();
    this.closing = this.io.timers.after(CLOSE_MS, () => this.destroy());
    if (this.inFlight === 'nothing') this.sendNext();
  }

  destroy(): void {
    this.forget();
    this.socket.destroy();
  }

  // ── receiving ────────────────────────────────────────────────────────────────────────────────────────────────────

  resume(): void {
    if (this.isInflating) this.inflater?.resume();
    else if (this.rest === null) this.socket.resume();
    else this.scheduleRest();
  }

  connected(): void {
    this.handler?.connected();
  }

  data(buffer: Buffer, start: number, end: number): boolean {
    return this.terms !== null && this.take(buffer, start, end);
  }

  /** Whether to read further; what has been read and not decoded is kept if not. */
  protected take(buffer: Buffer, start: number, end: number): boolean {
    const { decoder } = this;
    if (this.isOver) return false;
    this.hasStopped = false;
    const at = decoder.read(buffer, start, end);
    if (decoder.failure !== '') {
      this.break(decoder.failure);
      return false;
    }
    if (at === end && !this.hasStopped) {
      this.rest = null;
      return true;
    }
    this.keep(buffer, at, end);
    return false;
  }

  private keep(buffer: Buffer, start: number, end: number): void {
    this.restFrom = start;
    if (buffer === this.rest) return;
    this.restFrom = start === end ? 0 : HEADROOM_BYTES;
    this.rest = start === end ? NO_BYTES : Buffer.allocUnsafe(HEADROOM_BYTES + end - start);
    buffer.copy(this.rest, this.restFrom, start, end);
  }

  content(buffer: Buffer, start: number, end: number, isCompressed: boolean, isLast: boolean): boolean {
    if (!isCompressed) this.hasStopped = start < end && !this.give(buffer, start, end);
    else if (start < end || isLast) {
      this.hasStopped = true;
      this.isInflating = true;
      this.inflater ??= this.io.inflater?.(this) ?? null;
      this.inflater?.write(Buffer.from(buffer.subarray(start, end)), isLast);
    }
    return !this.hasStopped;
  }

  inflated(buffer: Buffer, start: number, end: number): boolean {
    return this.give(buffer, start, end);
  }

  taken(): void {
    this.isInflating = false;
    this.takeRest();
  }

  failed(error: IoError): void {
    this.isInflating = false;
    this.break(`compressed message: ${error.message}`);
  }

  control(code: ControlCode, content: Buffer): boolean {
    if (code === OpCode.ping) {
      this.pong = content;
      if (this.inFlight === 'nothing') this.sendNext();
    }
    this.hasStopped = code === OpCode.close;
    if (code !== OpCode.close) return true;
    // The other end closes: it is told the same, and nothing that comes behind counts.
    const answer = closeAnswer(content);
    if (typeof answer === 'string') this.break(answer);
    else {
      this.close ??= answer;
      this.handler?.ended();
    }
    return false;
  }

  /** What the other end is told when this one closes. */
  protected farewell(): Buffer {
    return closeContent(CloseStatus.normal, '');
  }

  ended(): void {
    this.handler?.ended();
  }

  closed(error: IoError | null): void {
    this.forget();
    this.handler?.closed(error);
  }

  private give(buffer: Buffer, start: number, end: number): boolean {
    return this.handler !== null && this.handler.data(buffer, start, end);
  }

  private scheduleRest(): void {
    if (this.isRestScheduled) return;
    this.isRestScheduled = true;
    this.io.timers.afterTurn(() => {
      this.isRestScheduled = false;
      this.takeRest();
    });
  }

  private takeRest(): void {
    const { rest, restFrom } = this;
    if (this.isOver || rest === null || this.isInflating) return;
    if (this.take(rest, restFrom, rest.length)) this.socket.resume();
  }

  /** Ends the stream for a rule that was broken. */
  protected break(failure: string, status: number = CloseStatus.protocolError): void {
    this.close ??= closeContent(status, failure);
    this.onBroken(failure);
  }

  private forget(): void {
    this.isOver = true;
    this.closing?.cancel();
    this.rest = null;
    this.waiting = NO_PIECES;
    this.inflater?.close();
    this.inflater = null;
  }
}

function deflate(pieces: readonly Uint8Array[]): Buffer {
  const content = pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
  const { Z_BEST_SPEED, Z_SYNC_FLUSH } = constants;
  const flushed = deflateRawSync(content, { level: Z_BEST_SPEED, finishFlush: Z_SYNC_FLUSH });
  return flushed.subarray(0, flushed.length - FLUSH_BYTES);
}
