/**
 * When the oldest message of a spool was published. It stands in the message's record, which may be on disk alone: then the
 * time of the one that was the oldest before is told until the record has been read, so that there is a time as long as
 * there is a message. Messages that go are looked at once in LOOK_MS at most, for each look may read from the disk.
 *
 *     unknown ──stored, the spool was opened──► known ──gone──► known, of one before ──read──► known
 *        ▲                                        └──────────── no message is left ──────────────┐
 *        └───────────────────────────────────────────────────────────────────────────────────────┘
 */

import { Buffer } from 'node:buffer';
import type { Clock } from '../../server/io/io.ts';
import { RecordView } from '../store/record.ts';
import type { MessageStore } from '../store/store.ts';
import { timeMs } from '../stream/stream-clock.ts';

const LOOK_MS = 1000;

export class OldestMessage {
  private readonly store: MessageStore;
  private readonly clock: Clock;
  /** Which one is known; 0: none. */
  private sequence = 0;
  private knownMs: number | null = null;
  private isLoading = false;
  private lookedMs = 0;

  constructor(store: MessageStore, clock: Clock) {
    this.store = store;
    this.clock = clock;
    this.look();
  }

  /** Wall time in milliseconds; `null`: there is no message, or the spool was opened just now. */
  get wallMs(): number | null {
    this.look();
    return this.knownMs;
  }

  /** Messages came or went. */
  changed(): void {
    if (this.knownMs === null || this.store.messages === 0) this.look();
    else if (this.clock.monotonicMs() - this.lookedMs >= LOOK_MS) this.look();
  }

  private look(): void {
    const { store } = this;
    if (store.messages === 0) {
      this.sequence = 0;
      this.knownMs = null;
      return;
    }
    const first = store.firstSequence;
    if (this.isLoading || first === this.sequence) return;
    this.lookedMs = this.clock.monotonicMs();
    if (this.read(first) !== 'loading') return;
    this.isLoading = true;
    store.whenReadable(first, () => {
      this.isLoading = false;
      // The message may have gone meanwhile; one that can't be read is not read again.
      if (store.firstSequence !== first) this.look();
      else if (this.read(first) !== 'found') this.sequence = first;
    });
  }

  private read(sequence: number): ReturnType<MessageStore['read']> {
    const view = new RecordView(Buffer.alloc(0));
    const outcome = this.store.read(sequence, view);
    if (outcome === 'found') {
      this.sequence = sequence;
      this.knownMs = timeMs(view);
    }
    return outcome;
  }
}
