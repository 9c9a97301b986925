/**
 * Takes a stream's frames from the log at start, in their order: the same steps as when they were new.
 *
 *     frame of a large message: u32 block, u32 offset in it, then the head of its record with subject and header block
 *
 * Messages of a group are held back until it is known that the group counts (`message-group.ts`).
 *
 * Blocks are filled as they were before, so a large message stands where its frame says; it is not read. Should blocks be
 * laid out otherwise, after damage, it is read from there and stored like any other.
 *
 * Of a stream that is rebuilt without a checkpoint the log may tell less than its former blocks: what it lacks is taken
 * from them, before whatever comes behind it (`stream-rebuild.ts`).
 */

import { Buffer } from 'node:buffer';
import type { BlockRemains } from './block-remains.ts';
import type { FileStore, StoreExtension } from './file-store.ts';
import { FrameKind, holdsRecord } from './frame.ts';
import { get32, get48 } from './integers.ts';
import { GroupReplay } from './message-group.ts';
import { isRecordOf, RecordView } from './record.ts';
import type { Removal } from './step-queue.ts';
import type { Time } from './store.ts';
import type { RebuiltStream } from './stream-rebuild.ts';
import { readRangeTolerantly } from './tolerant-read.ts';

/** What stands before the record's head in the frame of a large message. */
export const PLACE_HEAD_BYTES = 8;
const SEQUENCE_BYTES = 6;
const NO_TIME: Time = { seconds: 0, nanoseconds: 0 };
/** So many messages are taken from former blocks at a time. */
const TAKEN_PER_TURN = 1000;

export class StreamReplay {
  private readonly store: FileStore;
  private readonly extension: StoreExtension;
  private readonly view: RecordView = new RecordView(Buffer.alloc(0));
  private readonly group = new GroupReplay((kind, body) => this.message(kind, body, 0, body.length));

  /** The stream's former blocks; `null` when they are its blocks. */
  private remains: BlockRemains | null = null;
  /** The last sequence that was looked for in them. */
  private askedSequence = 0;
  /** While a group ends: how many of its messages, from the first one on, were looked for in them. */
  private countedFrom = Infinity;
  private counted = 0;
  /** Messages that nothing holds intact; those that go anyway are not lost. */
  private readonly unreadable = new Set<number>();

  constructor(store: FileStore, extension: StoreExtension) {
    this.store = store;
    this.extension = extension;
  }

  /** Takes from the former blocks what was there before the log begins, and from now on what the log lacks. */
  *goesOnFrom({ firstLogged, remains }: RebuiltStream): Generator<void> {
    this.remains = remains;
    for (let count = 1; this.takeRemaining(firstLogged - 1); count++) if (count % TAKEN_PER_TURN === 0) yield;
  }

  frame(kind: number, buffer: Buffer, start: number, end: number): void {
    switch (kind) {
      case FrameKind.message:
      case FrameKind.largeMessage:
        this.look(kind, buffer, start);
        this.group.message(this.view.sequence);
        this.message(kind, buffer, start, end);
        break;
      case FrameKind.groupMessage:
      case FrameKind.largeGroupMessage:
        this.look(kind, buffer, start);
        if (this.isNew) this.group.hold(kind, this.view.sequence, buffer, start, end);
        break;
      case FrameKind.groupEnd:
        this.groupEnd(get48(buffer, start), get48(buffer, start + SEQUENCE_BYTES));
        break;
      case FrameKind.remove:
        this.oneRemoved('remove', get48(buffer, start), buffer[start + SEQUENCE_BYTES] === 1);
        break;
      case FrameKind.lost:
        this.oneRemoved('lost', get48(buffer, start));
        break;
      case FrameKind.purge:
        this.purged(get48(buffer, start), buffer[start + SEQUENCE_BYTES] === 1);
        break;
      default:
        throw new Error(`a frame of kind ${kind} does not belong to a stream`);
    }
  }

  /** The log is read to its end: a group without an end was cut off. */
  ended(): void {
    const { firstSequence } = this.group;
    this.group.drop();
    this.tellUnreadable();
    // What is not whole behind the end of the log may never have been acknowledged.
    this.takeRemainingUpTo(firstSequence - 1);
    this.unreadable.clear();
    this.remains = null;
  }

  /** Frames may be read that are reflected already. */
  private get isNew(): boolean {
    return this.view.sequence > this.store.appendedSequence;
  }

  /** Points the view to the message that the frame is about. */
  private look(kind: number, buffer: Buffer, start: number): void {
    this.view.set(buffer, holdsRecord(kind) ? start : start + PLACE_HEAD_BYTES);
  }

  private message(kind: number, buffer: Buffer, start: number, end: number): void {
    this.look(kind, buffer, start);
    if (!this.isNew) return;
    // The view showed others meanwhile.
    if (this.takeRemainingUpTo(this.view.sequence - 1)) this.look(kind, buffer, start);
    if (holdsRecord(kind)) this.whole(buffer, start, end);
    else this.placed(get32(buffer, start), get32(buffer, start + 4));
  }

  private groupEnd(firstSequence: number, lastSequence: number): void {
    const isNew = lastSequence > this.store.appendedSequence;
    this.countedFrom = firstSequence;
    this.counted = 0;
    const missing = this.group.end(firstSequence, lastSequence);
    if (isNew) {
      this.takeRemainingUpTo(lastSequence);
      this.store.lost += missing - this.counted;
    }
    this.countedFrom = Infinity;
  }

  private oneRemoved(kind: 'remove' | 'lost', sequence: number, erases = false): void {
    this.group.removed(sequence);
    // Of the former blocks it must not come back later.
    this.takeRemainingUpTo(sequence);
    if (kind === 'remove') this.unreadable.delete(sequence);
    this.removed(kind, sequence, erases);
  }

  private purged(below: number, closesBlock: boolean): void {
    this.group.purged(below);
    for (const each of this.unreadable) if (each < below) this.unreadable.delete(each);
    if (closesBlock) this.store.closeOpen();
    this.removed('purge', below);
  }

  private whole(buffer: Buffer, start: number, end: number): void {
    this.store.appendStored(buffer, start, end, this.view);
    this.appeared();
  }

  private placed(block: number, offset: number): void {
    const { store, view } = this;
    if (store.appendPlaced(view, block, offset)) {
      this.appeared();
      return;
    }
    const { sequence } = view;
    const record = this.recordAt(block, offset) ?? this.remains?.record(sequence) ?? null;
    if (record === null) this.unreadable.add(sequence);
    else this.taken(record);
  }

  /** The record of the large message in view, where it was written first. */
  private recordAt(block: number, offset: number): Buffer | null {
    const { bytes, sequence } = this.view;
    const { blockFiles } = this.store;
    const path = blockFiles.path({ number: block, generation: 0 });
    const record = readRangeTolerantly(blockFiles.files.disk, path, offset, bytes);
    return record?.length === bytes && isRecordOf(sequence, record, 0, bytes) ? record : null;
  }

  private taken(record: Buffer): void {
    this.view.set(record, 0);
    this.whole(record, 0, record.length);
  }

  private appeared(): void {
    const { sequence, seconds, nanoseconds } = this.view;
    this.store.takeNow({ lsn: 0, sequence, time: { seconds, nanoseconds }, removal: null, limits: null });
    this.extension.replayed(this.view);
  }

  private removed(kind: Removal, sequence: number, erases = false): void {
    this.store.takeNow({ lsn: 0, sequence: 0, time: NO_TIME, removal: { kind, sequence, erases }, limits: null });
  }

  // ── what the log lacks ───────────────────────────────────────────────────────────────────────────────────────────

  /** Takes what the former blocks have up to this sequence and behind all that is there; whether there was anything. */
  private takeRemainingUpTo(last: number): boolean {
    let isAny = false;
    while (this.takeRemaining(last)) isAny = true;
    return isAny;
  }

  /** Takes the next one of them; false when there is none. */
  private takeRemaining(last: number): boolean {
    const { remains, store } = this;
    if (remains === null) return false;
    const sequence = remains.next(Math.max(store.appendedSequence, this.askedSequence), last);
    if (sequence === 0) return false;
    this.askedSequence = sequence;
    if (sequence >= this.countedFrom) this.counted++;
    const record = remains.record(sequence);
    if (record === null) this.unreadable.add(sequence);
    else this.taken(record);
    return true;
  }

  private tellUnreadable(): void {
    const { store, unreadable } = this;
    const { maxMessages, maxBytes } = store.limits;
    // What limits have taken since would be gone anyway.
    const from = maxMessages > 0 || maxBytes > 0 ? store.firstSequence : 0;
    const lost = [...unreadable].filter((each) => each >= from);
    unreadable.clear();
    if (lost.length === 0) return;
    store.lost += lost.length;
    const others = lost.length === 1 ? '' : ` and ${lost.length - 1} more`;
    const { files, directory } = store.blockFiles;
    files.damage.note(`Message ${lost[0]}${others} in "${directory}" can't be read any more: lost`);
  }
}
