/**
 * What waits to be sent over one connection.
 *
 *     open chunk ──full or end of turn──► sealed chunks ──nothing in flight──► in flight ──written──► pool
 *     (encoders write here)               (oldest first)                       (one socket write)
 *
 * Encoders reserve room and write at `position` of `buffer`. A chunk starts small and its successors grow (1, 4, 16,
 * 64 KiB); the size that was used last is tried first. While a write is in flight the open chunk is filled further
 * instead of being sealed half empty. At most one write is in flight, of at most PIECES_MAX chunks, so that its
 * completions tell how fast the peer takes bytes.
 *
 * Back-pressure. Above HOLD_ABOVE_BYTES a queue that drains holds the producers that feed it: they are not read until
 * it is below HOLD_BELOW_BYTES. A queue drains when its socket took DRAIN_BYTES in the last 50 ms; one that does not
 * holds nobody and is its owner's concern (stall, then close at max_pending).
 */

import { Buffer } from 'node:buffer';
import type { Socket } from '../io/io.ts';
import type { Producer } from '../ports.ts';
import { CHUNK_BYTES_MAX, CHUNK_SIZES, type Chunk } from './chunk-pool.ts';
import type { Outbound } from './outbound.ts';

const NO_BUFFER = Buffer.alloc(0);
const PIECES_MAX = 8;
const SIZE_CLASS_MAX = CHUNK_SIZES.length - 1;

const HOLD_ABOVE_BYTES = 1024 * 1024;
const HOLD_BELOW_BYTES = 512 * 1024;
const DRAIN_BYTES = 512 * 1024;
const DRAIN_WINDOW_MS = 25;
/** Part of max_pending above which the producers of a receiver that does not drain are stalled. */
const NEARLY_FULL = 0.75;

/** What a queue asks of the connection it belongs to. */
export interface QueueOwner {
  readonly socket: Socket;
  /** More than max_pending waits to be sent. */
  pendingExceeded(): void;
  readonly maxPendingBytes: number;
  writeStarted(): void;
  writeDone(): void;
  /** The queue began to hold producers: ask `reviewHolds` again soon. */
  holdsBegan(): void;
}

export class OutboundQueue {
  /** Buffer, position and end of the open chunk; equal positions when there is none. */
  buffer: Buffer = NO_BUFFER;
  position = 0;
  limit = 0;

  private readonly outbound: Outbound;
  private readonly owner: QueueOwner;
  private readonly congestedAboveBytes: number;
  private chunk: Chunk | null = null;
  private readonly sealed: Chunk[] = [];
  private readonly inFlight: Chunk[] = [];
  /** Bytes sealed and in flight. */
  private waitingBytes = 0;
  private sizeClass = 0;
  private scheduled = false;
  private stopped = false;
  private held: Producer[] | null = null;

  private drainWindowStartMs = 0;
  private drainedNow = 0;
  private drainedBefore = 0;

  constructor(outbound: Outbound, owner: QueueOwner) {
    this.outbound = outbound;
    this.owner = owner;
    this.congestedAboveBytes = Math.min(HOLD_ABOVE_BYTES, owner.maxPendingBytes * NEARLY_FULL);
  }

  /** Bytes that the peer has not taken yet. */
  get pendingBytes(): number {
    return this.waitingBytes + (this.chunk === null ? 0 : this.position - this.chunk.start);
  }

  get isWriting(): boolean {
    return this.inFlight.length > 0;
  }

  /** Makes room for `bytes` (at most CHUNK_BYTES_MAX) at `position`; false when the connection ended over it. */
  reserve(bytes: number): boolean {
    if (this.limit - this.position >= bytes) return true;
    if (this.chunk !== null) {
      this.seal(this.chunk);
      if (this.sizeClass < SIZE_CLASS_MAX) this.sizeClass++;
      this.afterSeal();
    }
    if (this.stopped) return false;
    let { sizeClass } = this;
    while ((CHUNK_SIZES[sizeClass] as number) < bytes) sizeClass++;
    this.open(sizeClass);
    return true;
  }

  /** Copies bytes in, over as many chunks as it takes. */
  append(bytes: Uint8Array, start: number, end: number): void {
    let from = start;
    while (from < end) {
      if (this.position === this.limit && !this.reserve(Math.min(end - from, CHUNK_BYTES_MAX))) return;
      const length = Math.min(end - from, this.limit - this.position);
      this.buffer.set(bytes.subarray(from, from + length), this.position);
      this.position += length;
      from += length;
    }
  }

  /** End of turn: hands what there is to the socket unless a write is in flight. */
  flush(): void {
    this.scheduled = false;
    if (this.stopped) return;
    if (this.pendingBytes > this.owner.maxPendingBytes) {
      this.owner.pendingExceeded();
      return;
    }
    if (this.inFlight.length > 0) return;
    if (this.chunk !== null) {
      const { chunk } = this;
      this.seal(chunk);
      if (this.sizeClass > 0 && (chunk.position - chunk.start) * 8 < chunk.end - chunk.start) this.sizeClass--;
    }
    this.send();
  }

  /** The socket took the pieces of the last write. */
  written(): void {
    this.giveBack(this.inFlight);
    this.owner.writeDone();
    if (this.held !== null && this.pendingBytes < HOLD_BELOW_BYTES) this.releaseHeld();
    if (this.sealed.length > 0) this.send();
    else if (this.chunk !== null && !this.scheduled) this.flush();
  }

  /** Nothing more is written: what waits is dropped, and the producers it held go on. */
  stop(): void {
    if (this.stopped) return;
    this.stopped = true;
    if (this.chunk !== null) this.seal(this.chunk);
    this.giveBack(this.sealed);
    this.releaseHeld();
  }

  /** The socket is gone: the memory of what was in flight is free too. */
  discard(): void {
    this.stop();
    this.giveBack(this.inFlight);
  }

  /** Stops reading `producer` while this queue is too full and its receiver keeps up. */
  hold(producer: Producer): void {
    if (this.held === null) {
      this.held = [];
      this.owner.holdsBegan();
    } else if (this.held.includes(producer)) return;
    this.held.push(producer);
    producer.holdCount++;
  }

  /** So much is unsent that producers should feel it. */
  get isCongested(): boolean {
    return this.waitingBytes > this.congestedAboveBytes;
  }

  /** Whether a producer that feeds this queue should be held now. */
  get wantsHold(): boolean {
    return this.waitingBytes > HOLD_ABOVE_BYTES && this.drains;
  }

  get isNearlyFull(): boolean {
    return this.pendingBytes > this.owner.maxPendingBytes * NEARLY_FULL;
  }

  get isFull(): boolean {
    return this.pendingBytes >= this.owner.maxPendingBytes;
  }

  get drains(): boolean {
    this.rollDrainWindow();
    return this.drainedNow + this.drainedBefore >= DRAIN_BYTES;
  }

  /** Lets the held producers go when the receiver no longer keeps up. True while some are held. */
  reviewHolds(): boolean {
    if (this.held === null) return false;
    if (!this.drains) this.releaseHeld();
    return this.held !== null;
  }

  private releaseHeld(): void {
    const { held } = this;
    if (held === null) return;
    this.held = null;
    for (const producer of held) {
      producer.holdCount--;
      if (producer.holdCount === 0) producer.resumeReading();
    }
  }

  private open(sizeClass: number): void {
    const chunk = this.outbound.pool.take(sizeClass);
    this.chunk = chunk;
    this.buffer = chunk.slab.buffer;
    this.position = chunk.start;
    this.limit = chunk.end;
    if (this.scheduled) return;
    this.scheduled = true;
    this.outbound.schedule(this);
  }

  private seal(chunk: Chunk): void {
    chunk.position = this.position;
    const bytes = this.position - chunk.start;
    this.chunk = null;
    this.buffer = NO_BUFFER;
    this.position = 0;
    this.limit = 0;
    this.sealed.push(chunk);
    this.waitingBytes += bytes;
    this.outbound.addUnsent(bytes);
  }

  /** A chunk filled up in the middle of a turn. */
  private afterSeal(): void {
    if (this.waitingBytes > this.owner.maxPendingBytes) this.owner.pendingExceeded();
    else if (this.inFlight.length === 0 && this.sizeClass === SIZE_CLASS_MAX) this.send();
  }

  private send(): void {
    if (this.sealed.length === 0) return;
    const pieces: Uint8Array[] = [];
    const count = Math.min(this.sealed.length, PIECES_MAX);
    for (let i = 0; i < count; i++) {
      const chunk = this.sealed[i] as Chunk;
      this.inFlight.push(chunk);
      pieces.push(chunk.slab.buffer.subarray(chunk.start, chunk.position));
    }
    if (count === this.sealed.length) this.sealed.length = 0;
    else this.sealed.splice(0, count);
    this.owner.writeStarted();
    this.owner.socket.write(pieces);
  }

  private giveBack(chunks: Chunk[]): void {
    let bytes = 0;
    for (const chunk of chunks) {
      bytes += chunk.position - chunk.start;
      this.outbound.pool.give(chunk);
    }
    chunks.length = 0;
    this.waitingBytes -= bytes;
    this.outbound.removeUnsent(bytes);
    if (!this.stopped) this.noteDrained(bytes);
  }

  private noteDrained(bytes: number): void {
    this.rollDrainWindow();
    this.drainedNow += bytes;
  }

  private rollDrainWindow(): void {
    const now = this.outbound.io.clock.monotonicMs();
    const age = now - this.drainWindowStartMs;
    if (age < DRAIN_WINDOW_MS) return;
    this.drainedBefore = age < 2 * DRAIN_WINDOW_MS ? this.drainedNow : 0;
    this.drainedNow = 0;
    this.drainWindowStartMs = now;
  }
}
