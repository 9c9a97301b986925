/**
 * Removes messages when they are too old. It looks at the oldest message alone and sleeps until that one is due, so a
 * stream with a million messages costs one timer. Times come from the messages, so a restart changes nothing.
 *
 * Bound: SLICE_MAX messages are looked at in one turn.
 */

import type { Io, Timer } from '../../server/io/io.ts';
import { RecordView } from '../store/record.ts';
import type { MessageStore } from '../store/store.ts';

const SLICE_MAX = 1000;
const SLEEP_MS_MAX = 3_600_000;

export class AgeLimit {
  private readonly io: Io;
  private readonly store: MessageStore;
  private readonly view: RecordView;
  private maxAgeMs: number;
  private timer: Timer | null = null;
  private waiting = false;

  constructor(io: Io, store: MessageStore, maxAgeMs: number) {
    this.io = io;
    this.store = store;
    this.maxAgeMs = maxAgeMs;
    this.view = new RecordView(Buffer.alloc(0));
  }

  setMaxAge(maxAgeMs: number): void {
    this.maxAgeMs = maxAgeMs;
    this.stop();
    this.messagesChanged();
  }

  /** Messages came or went: wake up when the oldest is due. */
  messagesChanged(): void {
    if (this.timer === null && !this.waiting && this.maxAgeMs > 0 && this.store.messages > 0) this.review();
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = null;
  }

  private review(): void {
    this.timer = null;
    const { store } = this;
    const deadline = this.io.clock.wallMs() - this.maxAgeMs;
    let sequence = store.firstSequence;
    for (let looked = 0; looked < SLICE_MAX && sequence <= store.lastSequence; looked++) {
      const outcome = store.read(sequence, this.view);
      if (outcome === 'loading') {
        this.removeBelow(sequence);
        this.reviewWhenReadable(sequence);
        return;
      }
      const timeMs = this.view.seconds * 1000 + this.view.nanoseconds / 1e6;
      if (outcome === 'found' && timeMs > deadline) {
        this.removeBelow(sequence);
        this.sleep(timeMs - deadline);
        return;
      }
      sequence++;
    }
    this.removeBelow(sequence);
    if (sequence <= store.lastSequence) this.io.timers.afterTurn(() => this.review());
  }

  private removeBelow(sequence: number): void {
    if (sequence > this.store.firstSequence) this.store.purgeBelow(sequence);
  }

  private reviewWhenReadable(sequence: number): void {
    this.waiting = true;
    this.store.whenReadable(sequence, () => {
      this.waiting = false;
      this.review();
    });
  }

  private sleep(ms: number): void {
    this.timer = this.io.timers.after(Math.min(Math.max(1, ms), SLEEP_MS_MAX), () => this.review());
  }
}
