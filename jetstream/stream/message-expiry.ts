/**
 * Lets messages go whose own TTL is over. Deadlines come from the messages' times, so a restart changes nothing: what is
 * not in a checkpoint is read from the log again.
 *
 * Deadlines that are close together are dealt with together, SLICE_MAX in a turn. Bound: there are at most as many
 * deadlines as twice the stream's messages and SPARE_MAX: beyond that those of messages that are gone are swept away.
 */

import { Buffer } from 'node:buffer';
import type { Io, Timer } from '../../server/io/io.ts';
import { RecordView } from '../store/record.ts';
import type { MessageStore, Time } from '../store/store.ts';
import type { ExpiredMessages } from './expired-messages.ts';
import { ExpiryQueue } from './expiry-queue.ts';

const SLICE_MAX = 1000;
const SLEEP_MS_MIN = 50;
/** No longer, since the wall clock may be set meanwhile. */
const SLEEP_MS_MAX = 60_000;
const SPARE_MAX = 1024;

export class MessageExpiry {
  private readonly queue = new ExpiryQueue();
  private readonly io: Io;
  private readonly store: MessageStore;
  private readonly expired: ExpiredMessages;
  private readonly view = new RecordView(Buffer.alloc(0));
  private timer: Timer | null = null;
  /** When the timer is due. */
  private dueMs = Infinity;
  private isRunning = false;
  /** It waits for a message to be read. */
  private isWaiting = false;

  constructor(io: Io, store: MessageStore, expired: ExpiredMessages) {
    this.io = io;
    this.store = store;
    this.expired = expired;
  }

  /** The message, which is being stored, goes so many seconds after its time. */
  add(sequence: number, time: Time, seconds: number): void {
    this.queue.add(time.seconds * 1000 + time.nanoseconds / 1e6 + seconds * 1000, sequence);
    this.wake();
  }

  start(): void {
    this.isRunning = true;
    this.wake();
  }

  stop(): void {
    this.isRunning = false;
    this.sleepUntil(Infinity);
  }

  /** Messages became visible or went. */
  messagesChanged(): void {
    if (this.queue.size > 0) this.wake();
  }

  /** The deadlines of messages up to `lastSequence`, for a checkpoint; those that are on their way out are due. */
  encode(lastSequence: number): Buffer {
    const leaving = new ExpiryQueue();
    for (const sequence of this.expired.sequences) leaving.add(0, sequence);
    return Buffer.concat([this.queue.encode(lastSequence), leaving.encode(lastSequence)]);
  }

  /** Takes over the deadlines of a checkpoint. */
  decode(encoded: Buffer): void {
    this.queue.decode(encoded);
  }

  private wake(): void {
    if (!this.isRunning || this.isWaiting) return;
    if (this.isCrowded) this.sleepUntil(this.io.clock.wallMs());
    else this.sleepUntil(this.queue.nextMs);
  }

  private get isCrowded(): boolean {
    const { queue, store } = this;
    return queue.isSweeping || queue.size > store.appendedMessages * 2 + SPARE_MAX;
  }

  /** Wakes up then, or a little later, but not later than planned before. */
  private sleepUntil(dueMs: number): void {
    if (dueMs === this.dueMs || (this.timer !== null && dueMs > this.dueMs && dueMs < Infinity)) return;
    this.timer?.cancel();
    this.timer = null;
    this.dueMs = dueMs;
    if (dueMs === Infinity) return;
    const ms = Math.min(Math.max(SLEEP_MS_MIN, dueMs - this.io.clock.wallMs()), SLEEP_MS_MAX);
    this.timer = this.io.timers.after(ms, () => this.review());
  }

  private review(): void {
    this.timer = null;
    this.dueMs = Infinity;
    if (!this.isRunning) return;
    if (this.isCrowded) this.queue.sweep(SLICE_MAX, (sequence) => this.mayBeThere(sequence));
    const now = this.io.clock.wallMs();
    for (let looked = 0; looked < SLICE_MAX && this.queue.nextMs <= now; looked++) {
      if (!this.takeNext()) return;
    }
    if (this.queue.nextMs <= now || this.isCrowded) this.io.timers.afterTurn(() => this.review());
    else this.wake();
  }

  /** The next message in the queue goes; false when that has to wait for something. */
  private takeNext(): boolean {
    const { store, queue, expired } = this;
    const sequence = queue.nextSequence;
    // `messagesChanged` tells when that changes.
    if (sequence > store.lastSequence || expired.isFull) return false;
    const outcome = store.read(sequence, this.view);
    if (outcome === 'loading') {
      this.reviewWhenReadable(sequence);
      return false;
    }
    queue.shift();
    if (outcome === 'found') expired.expire(this.view);
    return true;
  }

  /** It may take several times: first the index of the message's block, then the message. The store rests after failures. */
  private reviewWhenReadable(sequence: number): void {
    this.isWaiting = true;
    this.store.whenReadable(sequence, () => {
      this.isWaiting = false;
      this.review();
    });
  }

  private mayBeThere(sequence: number): boolean {
    return sequence > this.store.lastSequence || this.store.read(sequence, this.view) !== 'missing';
  }
}
