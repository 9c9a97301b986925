/**
 * The messages of one stream in blocks: how they get there and how they are found and read. Files and memory differ only
 * in where a block's bytes are and in when a message becomes visible; subclasses say so. What is visible, and what goes
 * again, is told in `visible-messages.ts`.
 */

import type { Buffer } from 'node:buffer';
import type { Message } from '../../server/protocol/message.ts';
import { type BlockBytes, Located } from './block-bytes.ts';
import { type BlockIndex, NO_RECORD, SLOTS_MAX } from './block-index.ts';
import { IndexLoads } from './index-loads.ts';
import { MessageBlock } from './message-block.ts';
import { isRecordOf, type RecordView, recordBytes, writeRecord } from './record.ts';
import type { MessageStore, ReadOutcome, StoreLimits, StoreListener, Time } from './store.ts';
import { SubjectSearch } from './subject-search.ts';
import { isEmpty, VisibleMessages } from './visible-messages.ts';

export interface BlockStoreOptions {
  readonly blockBytesMax: number;
  /** Bytes a message counts beyond its record, without and with a header block. */
  readonly countedDelta: number;
  readonly countedHeadersDelta: number;
  readonly firstSequence: number;
}

export abstract class BlockStore extends VisibleMessages implements MessageStore {
  protected readonly options: BlockStoreOptions;
  protected nextBlockNumber = 1;
  private readonly search: SubjectSearch;
  private readonly loads: IndexLoads;
  private readonly located: Located;

  protected constructor(empty: Buffer, listener: StoreListener, options: BlockStoreOptions) {
    super(listener, options.firstSequence);
    this.options = options;
    this.located = new Located(empty);
    this.loads = new IndexLoads(
      (block, done) => this.loadIndex(block, done),
      () => this.resume(),
    );
    this.search = new SubjectSearch(this.list, this.subjects, (missing) => {
      if (missing === null) this.later(() => this.loads.answer());
      else this.loads.need(missing);
    });
  }

  protected abstract newBytes(block: number, firstSequence: number): BlockBytes;
  /** The block takes no more records. */
  protected abstract blockClosed(block: MessageBlock): void;
  /** Brings the index of a block into memory; calls back in any case. */
  protected abstract loadIndex(block: MessageBlock, done: () => void): void;
  /** Runs the callback at the end of this turn. */
  protected abstract later(callback: () => void): void;
  /** Takes the step again that could not be finished. */
  protected abstract resume(): void;
  /** The record of a visible message is damaged. What a read answers until that is dealt with. */
  protected abstract damaged(block: MessageBlock, sequence: number): ReadOutcome;
  /** A read error fails that read only: the message is still there for the next one. */
  protected abstract readFailed(sequence: number, error: Error): void;
  abstract append(message: Message, time: Time, replaces?: number): number;
  abstract beginGroup(): void;
  abstract endGroup(): void;
  abstract setLimits(limits: StoreLimits): void;
  abstract remove(sequence: number, erases?: boolean): boolean;
  abstract purgeBelow(sequence: number): void;
  abstract close(done: () => void): void;
  abstract destroy(done: () => void): void;

  countedBytes(message: Message): number {
    return this.counted(recordBytes(message), message.payloadStart > message.bodyStart);
  }

  skipTo(sequence: number): void {
    if (sequence > this.appendedSequence + 1) this.appendedSequence = sequence - 1;
  }

  // ── appending ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Writes the record into the open block; the block it went to. */
  protected appendRecord(message: Message, sequence: number, time: Time, replaces: number): MessageBlock {
    const bytes = recordBytes(message);
    const block = this.openBlockFor(sequence, bytes);
    const at = block.bytes.reserve(bytes);
    writeRecord(block.bytes.buffer, at, message, sequence, time.seconds, time.nanoseconds, replaces);
    if (replaces > 0) this.replacesOthers(sequence, replaces);
    const subject = this.subjects.intern(message.subject, message.subjectStart, message.subjectEnd);
    const offset = block.bytes.end;
    block.bytes.commit(bytes);
    this.committed(block, sequence, subject, offset, bytes, message.payloadStart > message.bodyStart);
    return block;
  }

  /** Takes over a record that was written before, from the log. */
  appendStored(buffer: Buffer, start: number, end: number, view: RecordView): MessageBlock {
    const bytes = end - start;
    const block = this.openBlockFor(view.sequence, bytes);
    const at = block.bytes.reserve(bytes);
    buffer.copy(block.bytes.buffer, at, start, end);
    const subject = this.subjects.intern(buffer, view.subjectStart, view.subjectEnd);
    const offset = block.bytes.end;
    block.bytes.commit(bytes);
    if (view.replaces > 0) this.replacesOthers(view.sequence, view.replaces);
    this.committed(block, view.sequence, subject, offset, bytes, view.payloadStart > view.subjectEnd);
    return block;
  }

  /**
   * Takes over a large message whose record stands in its block already; false when something else stands there. What is
   * missing before it, after damage, leaves a gap, so that whatever follows is where it was.
   */
  appendPlaced(view: RecordView, blockNumber: number, offset: number): boolean {
    const block = this.blockNumbered(blockNumber, view.sequence);
    if (block === null || block.bytes.end > offset) return false;
    const subject = this.subjects.intern(view.buffer, view.subjectStart, view.subjectEnd);
    const gap = offset - block.bytes.end;
    if (gap > 0 && view.sequence > block.lastSequence + 1) {
      // The gap counts as a removed message, lest it be counted with the one before it.
      (block.index as BlockIndex).add(block.lastSequence + 1, block.bytes.end, subject, false);
      block.removed.add(block.lastSequence + 1);
    }
    block.bytes.skip(gap + view.bytes);
    if (view.replaces > 0) this.replacesOthers(view.sequence, view.replaces);
    this.committed(block, view.sequence, subject, offset, view.bytes, view.payloadStart > view.subjectEnd);
    return true;
  }

  /** The open block if it has this number, or a new one; `null` when it is an earlier one. */
  private blockNumbered(number: number, sequence: number): MessageBlock | null {
    const { last } = this.list;
    if (last?.isOpen === true && last.number === number) return last;
    if (number < this.nextBlockNumber) return null;
    if (last?.isOpen === true) this.closeBlock(last);
    this.nextBlockNumber = number;
    return this.newBlock(sequence);
  }

  private committed(
    block: MessageBlock,
    sequence: number,
    subject: number,
    offset: number,
    bytes: number,
    hasHeaders: boolean,
  ): void {
    (block.index as BlockIndex).add(sequence, offset, subject, hasHeaders);
    block.lastSequence = sequence;
    block.hiddenMessages++;
    this.appended(subject, sequence, this.counted(bytes, hasHeaders));
  }

  private openBlockFor(sequence: number, bytes: number): MessageBlock {
    const { last } = this.list;
    if (last?.isOpen === true) {
      const fits = last.bytes.end + bytes <= this.options.blockBytesMax;
      if (fits && sequence - last.firstSequence < SLOTS_MAX) return last;
      this.closeBlock(last);
    }
    return this.newBlock(sequence);
  }

  private newBlock(sequence: number): MessageBlock {
    const number = this.nextBlockNumber++;
    const block = new MessageBlock(number, 0, sequence, this.newBytes(number, sequence));
    this.list.blocks.push(block);
    return block;
  }

  /**
   * Everything below the sequence is going to go. A block that holds nothing else takes no more records, so that it can
   * go too; the answer tells whether there was one. Where records are put depends on what was appended and logged alone,
   * never on when something disappears: so they are put at the same places when the log is replayed.
   */
  closeBelow(sequence: number): boolean {
    const { last } = this.list;
    if (last?.isOpen !== true || last.lastSequence >= sequence) return false;
    this.closeBlock(last);
    return true;
  }

  /** The open block, if there is one, takes no more records. */
  closeOpen(): boolean {
    return this.closeBelow(Infinity);
  }

  private closeBlock(block: MessageBlock): void {
    block.isOpen = false;
    block.bytes.closeTail();
    if (isEmpty(block)) this.dropBlock(block);
    else this.blockClosed(block);
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
    if (located.fromDisk && !isRecordOf(sequence, located.buffer, located.at, bytes))
      return this.damaged(block, sequence);
    into.set(located.buffer, located.at);
    return 'found';
  }

  whenReadable(sequence: number, done: () => void): void {
    const block = this.list.at(sequence);
    if (block === undefined) this.later(done);
    else if (block.index === null) {
      this.loads.need(block);
      this.loads.wait(() => this.recordReadable(block, sequence, done));
    } else this.recordReadable(block, sequence, done);
  }

  /** Overwrites what a removed message holds, if its block is still there. */
  protected eraseRecord(sequence: number): void {
    const block = this.list.at(sequence);
    const offset = block?.index?.offset(sequence) ?? NO_RECORD;
    if (block !== undefined && offset !== NO_RECORD) block.bytes.erase(offset, block.recordBytes(sequence));
  }

  private recordReadable(block: MessageBlock, sequence: number, done: () => void): void {
    const offset = block.index?.offset(sequence) ?? NO_RECORD;
    const isThere = offset !== NO_RECORD && !block.removed.has(sequence);
    if (isThere && !block.bytes.locate(offset, block.recordBytes(sequence), this.located)) {
      block.bytes.load(offset, block.recordBytes(sequence), (error) => {
        if (error !== null) this.readFailed(sequence, error);
        done();
      });
    } else if (this.loads.isEmpty) this.later(done);
    else this.loads.wait(done);
  }

  next(sequence: number, accepts: ((subject: number) => boolean) | null): number {
    return this.search.next(Math.max(sequence, this.firstSequence), this.lastSequence, accepts);
  }

  lastOf(subject: number, atMost: number): number {
    return this.search.last(subject, this.firstSequence, Math.min(atMost, this.lastSequence));
  }

  override firstOf(subject: number): number {
    return this.search.first(subject, this.lastSequence);
  }

  /** Brings the block's index into memory; then the step that needs it is taken again. */
  protected override need(block: MessageBlock): false {
    this.loads.need(block);
    return false;
  }

  protected override counted(bytes: number, hasHeaders: boolean): number {
    return bytes + (hasHeaders ? this.options.countedHeadersDelta : this.options.countedDelta);
  }
}
