/**
 * The messages of one stream in blocks: what is visible, how it is found, and what limits remove. Files and memory differ
 * only in where a block's bytes are and in when a message becomes visible; subclasses say so.
 *
 *     blocks    │ closed │ closed │ closed │ open │
 *               first visible ──────► last visible │ appended, not visible yet
 *
 * Everything visible changes in one order: messages become visible by sequence, and after each step limits are enforced.
 * A file store replays the same steps from its log, so the same state comes out.
 *
 * Removal needs the index of a block. The first block's is always in memory, since limits remove from there; others may
 * have to be loaded, and what waits for that is done then.
 */

import type { Buffer } from 'node:buffer';
import type { Message } from '../../server/protocol/message.ts';
import { type BlockBytes, Located } from './block-bytes.ts';
import { type BlockIndex, NO_RECORD } from './block-index.ts';
import { BlockList } from './block-list.ts';
import { MessageBlock } from './message-block.ts';
import { isIntact, type RecordView, recordAt, recordBytes, writeRecord } from './record.ts';
import {
  LOADING,
  type MessageStore,
  type ReadOutcome,
  type StoreLimits,
  type StoreListener,
  type Time,
} from './store.ts';
import { SubjectIndex } from './subject-index.ts';
import { SubjectSearch } from './subject-search.ts';

export interface BlockStoreOptions {
  readonly blockBytesMax: number;
  /** Bytes a message counts beyond its record, without and with a header block. */
  readonly countedDelta: number;
  readonly countedHeadersDelta: number;
  readonly firstSequence: number;
}

export abstract class BlockStore implements MessageStore {
  readonly subjects: SubjectIndex = new SubjectIndex();
  appendedSequence: number;
  firstSequence: number;
  lastSequence: number;
  messages = 0;
  bytes = 0;
  lost = 0;

  readonly list: BlockList = new BlockList();
  private readonly search: SubjectSearch = new SubjectSearch(this.list, this.subjects);
  protected readonly listener: StoreListener;
  protected readonly options: BlockStoreOptions;
  protected nextBlockNumber = 1;
  lastTime: Time | null = null;
  protected limits: StoreLimits = { maxMessages: 0, maxBytes: 0, maxMessagesPerSubject: 0 };
  private pendingMessages = 0;
  private pendingBytes = 0;
  private readonly located: Located;
  /** A limit could not be enforced before something is loaded. */
  private enforcing = false;

  protected constructor(empty: Buffer, listener: StoreListener, options: BlockStoreOptions) {
    this.listener = listener;
    this.options = options;
    this.firstSequence = options.firstSequence;
    this.lastSequence = options.firstSequence - 1;
    this.appendedSequence = this.lastSequence;
    this.located = new Located(empty);
  }

  protected abstract newBytes(block: number, firstSequence: number): BlockBytes;
  /** The block takes no more records. */
  protected abstract blockClosed(block: MessageBlock): void;
  /** Nothing in the block is visible any more. */
  protected abstract blockEmptied(block: MessageBlock): void;
  /** Brings the index of a block into memory; calls back in any case. */
  protected abstract loadIndex(block: MessageBlock, done: () => void): void;
  abstract append(message: Message, time: Time): number;
  abstract remove(sequence: number): boolean;
  abstract purgeBelow(sequence: number): void;
  abstract close(done: () => void): void;
  abstract destroy(done: () => void): void;

  get appendedMessages(): number {
    return this.messages + this.pendingMessages;
  }

  get appendedBytes(): number {
    return this.bytes + this.pendingBytes;
  }

  countedBytes(message: Message): number {
    return this.counted(recordBytes(message), message.payloadStart > message.bodyStart);
  }

  skipTo(sequence: number): void {
    if (sequence > this.appendedSequence + 1) this.appendedSequence = sequence - 1;
  }

  setLimits(limits: StoreLimits): void {
    const perSubject = limits.maxMessagesPerSubject;
    const tightened = perSubject > 0 && perSubject !== this.limits.maxMessagesPerSubject;
    this.limits = limits;
    if (tightened) {
      for (let subject = 0; subject < this.subjects.size; subject++) this.enforceSubject(subject);
    }
    this.enforceLimits();
  }

  // ── appending ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Writes the record into the open block; the block it went to. */
  protected appendRecord(message: Message, sequence: number, time: Time): MessageBlock {
    const bytes = recordBytes(message);
    const block = this.openBlockFor(sequence, bytes);
    const at = block.bytes.reserve(bytes);
    writeRecord(block.bytes.buffer, at, message, sequence, time.seconds, time.nanoseconds);
    const subject = this.subjects.intern(message.subject, message.subjectStart, message.subjectEnd);
    const hasHeaders = message.payloadStart > message.bodyStart;
    this.committed(block, sequence, subject, bytes, hasHeaders);
    return block;
  }

  /** Takes over a record that was written before, from the log. */
  protected appendStored(buffer: Buffer, start: number, end: number, view: RecordView): MessageBlock {
    const bytes = end - start;
    const block = this.openBlockFor(view.sequence, bytes);
    const at = block.bytes.reserve(bytes);
    buffer.copy(block.bytes.buffer, at, start, end);
    const subject = this.subjects.intern(buffer, view.subjectStart, view.subjectEnd);
    this.committed(block, view.sequence, subject, bytes, view.payloadStart > view.subjectEnd);
    return block;
  }

  private committed(block: MessageBlock, sequence: number, subject: number, bytes: number, hasHeaders: boolean): void {
    const offset = block.bytes.end;
    block.bytes.commit(bytes);
    (block.index as BlockIndex).add(sequence, offset, subject, hasHeaders);
    block.lastSequence = sequence;
    this.subjects.appended(subject, sequence);
    this.appendedSequence = sequence;
    this.pendingMessages++;
    this.pendingBytes += this.counted(bytes, hasHeaders);
  }

  private openBlockFor(sequence: number, bytes: number): MessageBlock {
    const { last } = this.list;
    if (last?.isOpen === true) {
      const fits = last.bytes.end + bytes <= this.options.blockBytesMax;
      // An index has a slot per sequence: a gap wider than a block's worth begins a new one.
      if (last.lastSequence < last.firstSequence || (fits && sequence - last.lastSequence < SLOT_GAP_MAX)) return last;
      this.closeBlock(last);
    }
    const number = this.nextBlockNumber++;
    const block = new MessageBlock(number, sequence, this.newBytes(number, sequence));
    this.list.blocks.push(block);
    return block;
  }

  private closeBlock(block: MessageBlock): void {
    block.isOpen = false;
    block.bytes.closeTail();
    this.blockClosed(block);
  }

  // ── visibility ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** Everything appended up to `sequence` becomes visible, in order; `time` is that of the last one. */
  protected makeVisible(sequence: number, time: Time): void {
    if (sequence <= this.lastSequence) return;
    const from = this.lastSequence + 1;
    const { blocks } = this.list;
    let at = this.list.positionOf(this.lastSequence + 1);
    for (let each = this.lastSequence + 1; each <= sequence; each++) {
      let block = blocks[at];
      while (block !== undefined && each > block.lastSequence && at + 1 < blocks.length) block = blocks[++at];
      if (block?.has(each) !== true) continue;
      const count = blocks.length;
      this.show(block, each);
      // Limits may have dropped blocks.
      if (blocks.length < count) at = this.list.positionOf(each);
    }
    this.lastTime = time;
    this.enforceLimits();
    this.listener.stored(from, this.lastSequence);
  }

  private show(block: MessageBlock, sequence: number): void {
    const index = block.index as BlockIndex;
    const subject = index.subject(sequence);
    const bytes = this.counted(block.recordBytes(sequence), index.hasHeaders(sequence));
    if (this.messages === 0) this.firstSequence = sequence;
    block.liveMessages++;
    block.liveBytes += bytes;
    this.messages++;
    this.bytes += bytes;
    this.pendingMessages--;
    this.pendingBytes -= bytes;
    this.lastSequence = sequence;
    this.subjects.added(subject, sequence);
    this.enforceSubject(subject);
  }

  // ── removal ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Whether the message is visible; its block's index is loaded if need be. `null` while it is. */
  protected isVisible(sequence: number): boolean | null {
    if (sequence < this.firstSequence || sequence > this.lastSequence) return false;
    const block = this.list.at(sequence);
    if (block === undefined || sequence > block.lastSequence) return false;
    if (block.index === null) return null;
    return block.has(sequence);
  }

  /** Removes one visible message; when its index is not in memory, as soon as it is. */
  protected removeVisible(sequence: number): void {
    const block = this.list.at(sequence);
    if (block === undefined || sequence > this.lastSequence) return;
    if (block.index === null) {
      this.loadIndex(block, () => {
        if (block.index !== null) this.removeVisible(sequence);
      });
      return;
    }
    if (!block.has(sequence)) return;
    const subject = block.index.subject(sequence);
    const bytes = this.counted(block.recordBytes(sequence), block.index.hasHeaders(sequence));
    block.removed.add(sequence);
    block.liveMessages--;
    block.liveBytes -= bytes;
    this.messages--;
    this.bytes -= bytes;
    this.subjects.removed(subject, sequence);
    if (sequence === this.firstSequence) this.advanceFirst(block);
    else this.dropIfEmpty(block);
    this.listener.removed(sequence, subject);
  }

  /** Removes all visible messages below `below`. */
  protected purgeVisible(below: number): void {
    if (below > this.lastSequence) {
      this.clearVisible();
      this.listener.purged(below);
      return;
    }
    while (this.messages > 0 && this.firstSequence < below) {
      const before = this.firstSequence;
      this.removeVisible(before);
      if (this.firstSequence === before) {
        const block = this.list.at(before) as MessageBlock;
        this.loadIndex(block, () => this.purgeVisible(below));
        return;
      }
    }
    if (this.messages === 0) this.firstSequence = Math.max(this.firstSequence, below);
    this.listener.purged(below);
  }

  private clearVisible(): void {
    const { lastSequence } = this;
    for (const block of this.list.blocks.slice()) {
      if (block.firstSequence > lastSequence) break;
      if (block.isOpen && block.lastSequence > lastSequence) {
        // Its newer records are on their way to become visible.
        for (let each = block.firstSequence; each <= lastSequence; each++) if (block.has(each)) block.removed.add(each);
        block.liveMessages = 0;
        block.liveBytes = 0;
      } else this.dropBlock(block);
    }
    this.messages = 0;
    this.bytes = 0;
    this.subjects.clearCounts();
    this.firstSequence = lastSequence + 1;
  }

  /** The first message, which stood in `from`, is gone: the next one is found, and blocks before it are dropped. */
  private advanceFirst(from: MessageBlock | undefined): void {
    let sequence = this.firstSequence + 1;
    let block = from;
    while (block !== undefined && this.messages > 0 && sequence <= this.lastSequence) {
      if (sequence > block.lastSequence) {
        const passed = block;
        this.dropIfEmpty(passed);
        block = this.list.at(sequence);
        if (block === passed) break;
        if (block !== undefined && sequence < block.firstSequence) sequence = block.firstSequence;
        continue;
      }
      if (block.index === null) {
        this.loadIndex(block, () => this.enforceLimits());
        break;
      }
      if (block.has(sequence)) break;
      sequence++;
    }
    if (this.messages === 0) {
      sequence = this.lastSequence + 1;
      if (block !== undefined) this.dropIfEmpty(block);
    }
    this.firstSequence = sequence;
  }

  private dropIfEmpty(block: MessageBlock): void {
    if (!block.isOpen && block.liveMessages === 0 && block.lastSequence <= this.lastSequence) this.dropBlock(block);
  }

  private dropBlock(block: MessageBlock): void {
    this.list.remove(block);
    block.isOpen = false;
    this.blockEmptied(block);
  }

  private enforceSubject(subject: number): void {
    const max = this.limits.maxMessagesPerSubject;
    if (max <= 0) return;
    while (this.subjects.count(subject) > max) {
      const first = this.search.first(subject, this.lastSequence);
      if (first <= 0) {
        if (first === LOADING) this.retryWhenLoaded(this.subjects.first(subject), () => this.enforceSubject(subject));
        return;
      }
      this.removeVisible(first);
    }
  }

  private enforceLimits(): void {
    while (this.messages > 0 && this.isOverLimit) {
      const first = this.firstSequence;
      const visible = this.isVisible(first);
      if (visible === null) {
        this.retryWhenLoaded(first, () => this.enforceLimits());
        return;
      }
      if (visible) this.removeVisible(first);
      else this.advanceFirst(this.list.at(first));
    }
  }

  private get isOverLimit(): boolean {
    const { maxMessages, maxBytes } = this.limits;
    return (maxMessages > 0 && this.messages > maxMessages) || (maxBytes > 0 && this.bytes > maxBytes);
  }

  private retryWhenLoaded(sequence: number, retry: () => void): void {
    if (this.enforcing) return;
    this.enforcing = true;
    this.whenReadable(sequence, () => {
      this.enforcing = false;
      retry();
    });
  }

  // ── finding and reading ──────────────────────────────────────────────────────────────────────────────────────────

  read(sequence: number, into: RecordView): ReadOutcome {
    const visible = this.isVisible(sequence);
    if (visible === null) return 'loading';
    if (!visible) return 'missing';
    const block = this.list.at(sequence) as MessageBlock;
    const offset = (block.index as BlockIndex).offset(sequence);
    const bytes = block.recordBytes(sequence);
    const { located } = this;
    if (!block.bytes.locate(offset, bytes, located)) return 'loading';
    if (located.fromDisk && !isWhole(located.buffer, located.at, bytes)) {
      this.lost++;
      this.removeVisible(sequence);
      return 'missing';
    }
    into.set(located.buffer, located.at);
    return 'found';
  }

  whenReadable(sequence: number, done: () => void): void {
    const block = this.list.at(sequence);
    if (block === undefined) {
      done();
      return;
    }
    if (block.index === null) {
      this.loadIndex(block, done);
      return;
    }
    const offset = block.index.offset(sequence);
    if (offset === NO_RECORD) {
      done();
      return;
    }
    block.bytes.load(offset, block.recordBytes(sequence), (error) => {
      if (error !== null) this.readFailed(sequence, error);
      done();
    });
  }

  /** A read error fails that read only: the message is still there for the next one. */
  protected abstract readFailed(sequence: number, error: Error): void;

  next(sequence: number, accepts: ((subject: number) => boolean) | null): number {
    return this.list.next(Math.max(sequence, this.firstSequence), this.lastSequence, accepts);
  }

  lastOf(subject: number, atMost: number): number {
    return this.search.last(subject, this.firstSequence, Math.min(atMost, this.lastSequence));
  }

  protected counted(bytes: number, hasHeaders: boolean): number {
    return bytes + (hasHeaders ? this.options.countedHeadersDelta : this.options.countedDelta);
  }
}

/** A block's index has a slot per sequence. */
const SLOT_GAP_MAX = 65_536;

function isWhole(buffer: Buffer, at: number, bytes: number): boolean {
  return recordAt(buffer, at, at + bytes) === bytes && isIntact(buffer, at);
}
