/**
 * What waits to be sent over one connection.
 *
 *     open chunk ──full or end of turn──► sealed chunks ──nothing in flight──► in flight ──written──► pool
 *     (encoders write here)               (oldest first)                       (one socket write)
 *
 * Encoders reserve room and write at `position` of `buffer`. A chunk starts small and its successors grow (1, 4, 16,
 * 64 KiB); the size that was used last is tried first. While a write is in flight the open chunk is filled further
 * instead of being sealed half empty. At most one write is in flight, of at most PIECES_MAX chunks, so that its
 * completions tell how fast the peer takes bytes. A socket that takes a write at once says so inside the call.
 *
 * Sealed chunks and those in flight are lists linked through the chunks: most queues are empty most of the time, and
 * there can be many.
 *
 * Back-pressure. Above HOLD_ABOVE_BYTES a queue that drains holds the producers that feed it: they are not read until
 * it is below HOLD_BELOW_BYTES, and then go on a few at a time, lest all of them fill it in one turn. A queue drains when
 * its socket took DRAIN_BYTES in the last 200 ms, in which a busy machine may leave a reader alone for a while; one that
 * does not holds nobody and is its owner's concern (stall, then close at max_pending).
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
const DRAIN_BYTES = 2 * 1024 * 1024;
const DRAIN_WINDOW_MS = 100;
/** So many producers go on in one turn. */
const RELEASED_PER_TURN = 16;
/** Part of max_pending above which the producers of a receiver that does not drain are stalled. */
const NEARLY_FULL = 0.75;

/** What a queue asks of the connection it belongs to. */
export interface QueueOwner {
  readonly socket: Socket;
  /** More than max_pending waits to be sent. */
  pendingExceeded(): void;
  readonly maxPendingBytes: number;
  writeStarts(): void;
  /** The socket did not take all of it at once. */
  writeWaits(): void;
  /** What had to wait has been taken. */
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
  private firstSealed: Chunk | null = null;
  private lastSealed: Chunk | null = null;
  private firstInFlight: Chunk | null = null;
  /** Bytes sealed and in flight. */
  private waitingBytes = 0;
  private sizeClass = 0;
  private scheduled = false;
  private stopped = false;
  private isSending = false;
  private held: Producer[] | null = null;
  private isReleasing = false;

  /** A write is in flight. */
  private isWriting: boolean;

  /** Whole milliseconds, here and below: a fraction would be an object of its own. */
  private drainWindowStartMs = 0;
  private drainedNow = 0;
  private drainedBefore = 0;

  /** `isWriting`: the owner has a write of its own in flight; `written` tells when it was taken. */
  constructor(outbound: Outbound, owner: QueueOwner, isWriting: boolean) {
    this.outbound = outbound;
    this.owner = owner;
    this.isWriting = isWriting;
    this.congestedAboveBytes = Math.min(HOLD_ABOVE_BYTES, owner.maxPendingBytes * NEARLY_FULL);
  }

  /** Bytes that the peer has not taken yet. */
  get pendingBytes(): number {
    return this.waitingBytes + (this.chunk === null ? 0 : this.position - this.chunk.start);
  }

  /** Makes room for `bytes` (at most CHUNK_BYTES_MAX) at `position`; false when the connection ended over it. */
  reserve(bytes: number): boolean {
    if (this.limit - this.position >= bytes) return true;
    if (this.chunk !== null) {
      this.seal(this.chunk);
      if (this.sizeClass < SIZE_CLASS_MAX) this.sizeClass++;
      this.afterSeal();
      // Whoever heard that it was taken may have begun the next one.
      if (this.chunk !== null) return this.reserve(bytes);
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
    if (this.isWriting) return;
    if (this.chunk !== null) {
      const { chunk } = this;
      this.seal(chunk);
      if (this.sizeClass > 0 && chunk.bytes * 8 < chunk.end - chunk.start) this.sizeClass--;
    }
    this.send();
  }

  /** The socket took the pieces of the last write. */
  written(): void {
    const chunks = this.firstInFlight;
    this.isWriting = false;
    this.firstInFlight = null;
    if (chunks !== null) this.noteDrained(this.giveBack(chunks));
    if (this.held !== null) this.releaseSome();
    if (this.isSending) return;
    this.owner.writeDone();
    if (this.firstSealed !== null) this.send();
    // A turn that ended meanwhile left the open chunk to us.
    if (this.chunk !== null && !this.scheduled) this.flush();
  }

  /** Nothing more is written: what waits is dropped, and the producers it held go on. */
  stop(): void {
    if (this.stopped) return;
    this.stopped = true;
    if (this.chunk !== null) this.seal(this.chunk);
    const chunks = this.firstSealed;
    this.firstSealed = null;
    this.lastSealed = null;
    if (chunks !== null) this.giveBack(chunks);
    this.releaseHeld();
  }

  /** The socket is gone: the memory of what was in flight is free too. */
  discard(): void {
    this.stop();
    const chunks = this.firstInFlight;
    this.firstInFlight = null;
    if (chunks !== null) this.giveBack(chunks);
  }

  /** Stops reading `producer` while this queue is too full and its receiver keeps up. */
  hold(producer: Producer): void {
    if (this.held === null) {
      this.held = [];
      this.owner.holdsBegan();
    } else if (this.held.at(-1) === producer || this.held.includes(producer)) return;
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

  /** Lets those go on that were held first, and more in the next turn, as long as not much waits. */
  private releaseSome(): void {
    if (this.held === null || this.pendingBytes >= HOLD_BELOW_BYTES) return;
    if (this.held.length <= RELEASED_PER_TURN) {
      this.releaseHeld();
      return;
    }
    for (const producer of this.held.splice(0, RELEASED_PER_TURN)) release(producer);
    if (this.isReleasing) return;
    this.isReleasing = true;
    this.outbound.io.timers.afterTurn(() => {
      this.isReleasing = false;
      this.releaseSome();
    });
  }

  private releaseHeld(): void {
    const { held } = this;
    if (held === null) return;
    this.held = null;
    for (const producer of held) release(producer);
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
    this.chunk = null;
    this.buffer = NO_BUFFER;
    this.position = 0;
    this.limit = 0;
    if (this.lastSealed === null) this.firstSealed = chunk;
    else this.lastSealed.next = chunk;
    this.lastSealed = chunk;
    this.waitingBytes += chunk.bytes;
    this.outbound.addUnsent(chunk.bytes);
  }

  /** A chunk filled up in the middle of a turn. */
  private afterSeal(): void {
    if (this.waitingBytes > this.owner.maxPendingBytes) this.owner.pendingExceeded();
    else if (!this.isWriting && this.sizeClass === SIZE_CLASS_MAX) this.send();
  }

  /** Writes what is sealed as long as the socket takes it at once. */
  private send(): void {
    this.isSending = true;
    while (this.firstSealed !== null && !this.isWriting) this.write(this.takePieces(this.firstSealed));
    this.isSending = false;
  }

  private write(pieces: readonly Uint8Array[]): void {
    this.isWriting = true;
    this.owner.writeStarts();
    this.owner.socket.write(pieces);
    // `written` may have run in there.
    if (this.isWriting) this.owner.writeWaits();
  }

  /** Moves the oldest chunks from the sealed ones to those in flight. */
  private takePieces(first: Chunk): Uint8Array[] {
    const pieces: Uint8Array[] = [];
    let last = first;
    for (let chunk: Chunk | null = first; chunk !== null && pieces.length < PIECES_MAX; chunk = chunk.next) {
      pieces.push(chunk.slab.buffer.subarray(chunk.start, chunk.position));
      last = chunk;
    }
    this.firstInFlight = first;
    this.firstSealed = last.next;
    if (last.next === null) this.lastSealed = null;
    last.next = null;
    return pieces;
  }

  /** Gives a list of chunks back to the pool; the bytes they held. */
  private giveBack(first: Chunk): number {
    let bytes = 0;
    for (let chunk: Chunk | null = first; chunk !== null;) {
      const { next }: Chunk = chunk;
      bytes += chunk.bytes;
      this.outbound.pool.give(chunk);
      chunk = next;
    }
    this.waitingBytes -= bytes;
    this.outbound.removeUnsent(bytes);
    return bytes;
  }

  private noteDrained(bytes: number): void {
    if (this.stopped) return;
    this.rollDrainWindow();
    this.drainedNow += bytes;
  }

  private rollDrainWindow(): void {
    const now = Math.floor(this.outbound.io.clock.monotonicMs());
    const age = now - this.drainWindowStartMs;
    if (age < DRAIN_WINDOW_MS) return;
    this.drainedBefore = age < 2 * DRAIN_WINDOW_MS ? this.drainedNow : 0;
    this.drainedNow = 0;
    this.drainWindowStartMs = now;
  }
}

function release(producer: Producer): void {
  producer.holdCount--;
  if (producer.holdCount === 0) producer.resumeReading();
}
