/**
 * Removes messages when they are too old. It looks at the oldest message alone and sleeps until that one is due, so a
 * stream with a million messages costs one timer. Times come from the messages, so a restart changes nothing.
 *
 * Where messages have TTLs they are looked at one by one: some have asked to stay (`Nats-TTL: never`), some leave a delete
 * marker. Those that stay are passed once.
 *
 * Bound: SLICE_MAX messages are looked at in one turn.
 */

import { Buffer } from 'node:buffer';
import type { Io, Timer } from '../../server/io/io.ts';
import { RecordView } from '../store/record.ts';
import { LOADING, type MessageStore, NONE } from '../store/store.ts';
import type { ExpiredMessages } from './expired-messages.ts';

const SLICE_MAX = 1000;
/** No longer, since the wall clock may be set meanwhile. */
const SLEEP_MS_MAX = 60_000;

export class AgeLimit {
  private readonly io: Io;
  private readonly store: MessageStore;
  private readonly expired: ExpiredMessages;
  private readonly view: RecordView;
  private maxAgeMs = 0;
  private looksAtEach = false;
  /** Everything below was looked at: it is on its way out, or stays. */
  private passedBelow = 0;
  /** Everything below was too old and is gone, or on its way out. */
  agedBelow = 0;
  private timer: Timer | null = null;
  private waiting = false;
  /** It waits until messages on their way out are gone. */
  private isHeld = false;

  constructor(io: Io, store: MessageStore, expired: ExpiredMessages) {
    this.io = io;
    this.store = store;
    this.expired = expired;
    this.view = new RecordView(Buffer.alloc(0));
  }

  /** `hasTtls`: messages may have TTLs of their own. */
  setMaxAge(maxAgeMs: number, hasTtls: boolean): void {
    this.maxAgeMs = maxAgeMs;
    this.looksAtEach = hasTtls;
    this.stop();
    this.messagesChanged();
  }

  /** Messages came or went: wake up when the oldest is due. */
  messagesChanged(): void {
    if (this.timer === null && !this.waiting && !this.isHeld && this.maxAgeMs > 0 && this.store.messages > 0)
      this.review();
  }

  /** Messages are gone: others may go. */
  roomMade(): void {
    if (!this.isHeld || this.expired.isFull) return;
    this.isHeld = false;
    this.io.timers.afterTurn(() => this.review());
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = null;
  }

  private review(): void {
    this.timer = null;
    const { store } = this;
    const deadline = this.io.clock.wallMs() - this.maxAgeMs;
    let sequence = Math.max(store.firstSequence, this.passedBelow);
    for (let looked = 0; looked < SLICE_MAX && sequence <= store.lastSequence; looked++) {
      const next = store.next(sequence, null);
      if (next === NONE) {
        sequence = store.lastSequence + 1;
        break;
      }
      const outcome = next === LOADING ? 'loading' : store.read(next, this.view);
      if (outcome === 'loading') {
        this.removeBelow(sequence);
        this.reviewWhenReadable(next === LOADING ? sequence : next);
        return;
      }
      const timeMs = this.view.seconds * 1000 + this.view.nanoseconds / 1e6;
      if (outcome === 'found' && timeMs > deadline) {
        this.removeBelow(next);
        this.sleep(timeMs - deadline);
        return;
      }
      if (outcome === 'found' && this.looksAtEach && !this.letGo()) {
        this.removeBelow(next);
        return;
      }
      sequence = next + 1;
    }
    this.removeBelow(sequence);
    if (sequence <= store.lastSequence) this.io.timers.afterTurn(() => this.review());
  }

  /** The message in view goes, unless it has asked to stay; false when others have to be gone first. */
  private letGo(): boolean {
    const { expired, view } = this;
    if (expired.isFull) {
      this.isHeld = true;
      return false;
    }
    if (!expired.staysForever(view)) expired.expire(view);
    return true;
  }

  private removeBelow(sequence: number): void {
    if (this.looksAtEach) this.passedBelow = sequence;
    else if (sequence > this.store.firstSequence) {
      this.agedBelow = sequence;
      this.store.purgeBelow(sequence);
    }
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
