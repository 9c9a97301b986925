/**
 * Takes a stream's frames from the log at start, in their order: the same steps as when they were new.
 *
 *     frame of a large message: u32 block, u32 offset in it, then the head of its record with subject and header block
 *
 * Messages of a group are held back until it is known that the group counts (`message-group.ts`).
 *
 * Blocks are filled as they were before, so a large message stands where its frame says; it is not read. Should blocks be
 * laid out otherwise, after damage, it is read from there and stored like any other.
 */

import { Buffer } from 'node:buffer';
import type { FileStore, StoreExtension } from './file-store.ts';
import { FrameKind, holdsRecord } from './frame.ts';
import { get32, get48 } from './integers.ts';
import { GroupReplay } from './message-group.ts';
import { isRecordOf, RecordView } from './record.ts';
import type { Removal } from './step-queue.ts';
import type { Time } from './store.ts';
import { readRangeTolerantly } from './tolerant-read.ts';

/** What stands before the record's head in the frame of a large message. */
export const PLACE_HEAD_BYTES = 8;
const SEQUENCE_BYTES = 6;
const NO_TIME: Time = { seconds: 0, nanoseconds: 0 };

export class StreamReplay {
  private readonly store: FileStore;
  private readonly extension: StoreExtension;
  private readonly view: RecordView = new RecordView(Buffer.alloc(0));
  private readonly group = new GroupReplay((kind, body) => this.message(kind, body, 0, body.length));

  constructor(store: FileStore, extension: StoreExtension) {
    this.store = store;
    this.extension = extension;
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
        this.group.removed(get48(buffer, start));
        this.removed('remove', get48(buffer, start), buffer[start + SEQUENCE_BYTES] === 1);
        break;
      case FrameKind.lost:
        this.group.removed(get48(buffer, start));
        this.removed('lost', get48(buffer, start));
        break;
      case FrameKind.purge:
        this.group.purged(get48(buffer, start));
        if (buffer[start + SEQUENCE_BYTES] === 1) this.store.closeOpen();
        this.removed('purge', get48(buffer, start));
        break;
      default:
        throw new Error(`a frame of kind ${kind} does not belong to a stream`);
    }
  }

  /** The log is read to its end: a group without an end was cut off. */
  ended(): void {
    this.group.drop();
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
    if (holdsRecord(kind)) this.whole(buffer, start, end);
    else this.placed(get32(buffer, start), get32(buffer, start + 4));
  }

  private groupEnd(firstSequence: number, lastSequence: number): void {
    const isNew = lastSequence > this.store.appendedSequence;
    const missing = this.group.end(firstSequence, lastSequence);
    if (isNew) this.store.lost += missing;
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
    const { bytes, sequence } = view;
    const { blockFiles } = store;
    const record = readRangeTolerantly(
      blockFiles.files.disk,
      blockFiles.path({ number: block, generation: 0 }),
      offset,
      bytes,
    );
    if (record?.length !== bytes || !isRecordOf(sequence, record, 0, bytes)) {
      store.lost++;
      return;
    }
    view.set(record, 0);
    this.whole(record, 0, bytes);
  }

  private appeared(): void {
    const { sequence, seconds, nanoseconds } = this.view;
    this.store.takeNow({ lsn: 0, sequence, time: { seconds, nanoseconds }, removal: null, limits: null });
    this.extension.replayed(this.view);
  }

  private removed(kind: Removal, sequence: number, erases = false): void {
    this.store.takeNow({ lsn: 0, sequence: 0, time: NO_TIME, removal: { kind, sequence, erases }, limits: null });
  }
}
