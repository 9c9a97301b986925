/**
 * A stream as the store knows it: hears what becomes visible and what goes, remembers message ids, and keeps a list of
 * what it was told, which has to agree with the store at all times.
 */
import type { Captured } from '../../jetstream/store/captured.ts';
import type { FileStore, StoreExtension } from '../../jetstream/store/file-store.ts';
import type { RecordView } from '../../jetstream/store/record.ts';
import type { MessageStore, StoreListener } from '../../jetstream/store/store.ts';
import { DedupWindow } from '../../jetstream/stream/dedup-window.ts';
import { idOf } from './store-messages.ts';

export class StoreSubject implements StoreListener, StoreExtension {
  store: MessageStore | null = null;
  /** Sequences that are visible as far as it was told. */
  readonly told: Set<number> = new Set();
  /** It was told of messages when not all of their indexes were in memory: `told` lacks some. */
  isVague = false;
  readonly ids: DedupWindow = new DedupWindow();
  /** What was told, for tests that compare it. */
  readonly events: string[] = [];
  toldLast = 0;
  onStored: (fromSequence: number, toSequence: number) => void = () => undefined;
  onRemoved: (sequence: number) => void = () => undefined;
  onPurged: (belowSequence: number) => void = () => undefined;

  get fileStore(): FileStore {
    return this.store as FileStore;
  }

  stored(fromSequence: number, toSequence: number): void {
    const { store } = this;
    if (store === null) throw new Error('told before there was a store');
    if (fromSequence <= this.toldLast || toSequence < fromSequence) {
      throw new Error(`told of ${fromSequence} to ${toSequence} after ${this.toldLast}`);
    }
    if (toSequence > store.lastSequence) throw new Error(`told of ${toSequence}, which is not visible`);
    this.toldLast = toSequence;
    for (let at = fromSequence; at <= toSequence; at++) {
      const next = store.next(at, null);
      if (next < 0) this.isVague = true;
      if (next <= 0 || next > toSequence) break;
      this.told.add(next);
      at = next;
    }
    this.events.push(`stored ${fromSequence}-${toSequence}`);
    this.onStored(fromSequence, toSequence);
  }

  removed(sequence: number, subject: number): void {
    if (!this.told.delete(sequence) && !this.isVague)
      throw new Error(`told that ${sequence} is gone, and never that it was there`);
    if (subject < 0) throw new Error('told of a removal without its subject');
    this.events.push(`removed ${sequence}`);
    this.onRemoved(sequence);
  }

  purged(belowSequence: number): void {
    for (const each of this.told) if (each < belowSequence) this.told.delete(each);
    this.events.push(`purged ${belowSequence}`);
    this.onPurged(belowSequence);
  }

  /** Whether it was told of exactly these sequences; they are taken over. */
  knows(sequences: readonly number[]): boolean {
    const isKnown = sequences.every((each) => this.told.has(each)) && this.told.size === sequences.length;
    const isRight = isKnown || (this.isVague && [...this.told].every((each) => sequences.includes(each)));
    this.told.clear();
    for (const each of sequences) this.told.add(each);
    this.isVague = false;
    return isRight;
  }

  capture(lastSequence: number): Captured {
    return this.ids.capture(lastSequence);
  }

  decode(encoded: Buffer): Generator<void> {
    return this.ids.decode(encoded);
  }

  replayed(record: RecordView): void {
    const id = idOf(record.buffer.toString('latin1', record.bodyStart, record.payloadStart));
    if (id !== null) this.ids.add(id, record.sequence, record.seconds * 1000);
  }
}
