/**
 * What is visible of a stream's messages, and what goes again: by limits, on request, or all at once.
 *
 *     blocks    │ closed │ closed │ closed │ open │
 *               first visible ──────► last visible │ appended, not visible yet
 *
 * Everything visible changes in one order: messages become visible by sequence, and after each one limits are enforced.
 * Listeners hear of a message before they hear that it is gone. A file store replays the same steps from its log, so the
 * same state comes out.
 *
 * A step that needs a block's index which is not in memory does nothing more, answers false, and is taken again when the
 * index is there: nothing overtakes it.
 */

import type { BlockIndexFile } from './block-index-file.ts';
import type { BlockIndex } from './block-index.ts';
import { BlockList } from './block-list.ts';
import type { MessageBlock } from './message-block.ts';
import { REPLACES_ALL, REPLACES_ITSELF } from './record.ts';
import { Retention, type Retained } from './retention.ts';
import type { StoreListener, Time } from './store.ts';
import { SubjectIndex } from './subject-index.ts';

const PURGED_PER_TURN = 10_000;

interface Replacing {
  readonly sequence: number;
  readonly replaces: number;
}

export abstract class VisibleMessages implements Retained {
  readonly subjects: SubjectIndex = new SubjectIndex();
  readonly list: BlockList = new BlockList();
  appendedSequence: number;
  firstSequence: number;
  lastSequence: number;
  messages = 0;
  bytes = 0;
  lost = 0;
  lastTime: Time | null = null;

  protected readonly retention: Retention = new Retention(this);
  protected listener: StoreListener;
  /** Messages on their way that replace others, oldest first. */
  private readonly replacing: Replacing[] = [];
  private pendingMessages = 0;
  private pendingBytes = 0;
  /** `firstSequence` is a lower bound: the first message behind it was not looked for yet. */
  private isFirstVague = false;

  protected constructor(listener: StoreListener, firstSequence: number) {
    this.listener = listener;
    this.firstSequence = firstSequence;
    this.lastSequence = firstSequence - 1;
    this.appendedSequence = this.lastSequence;
  }

  /** Starts to bring the block's index into memory. */
  protected abstract need(block: MessageBlock): false;
  /** Between the blocks of a long step: true to go on, false when the step will be taken again in another turn. */
  abstract goesOn(): boolean;
  /** A message was taken away from a closed block that holds others still. */
  protected abstract blockThinned(block: MessageBlock): void;
  /** Nothing in the block is visible any more. */
  protected abstract blockEmptied(block: MessageBlock): void;
  /** Bytes that a record counts against limits. */
  protected abstract counted(bytes: number, hasHeaders: boolean): number;
  abstract firstOf(subject: number): number;

  get appendedMessages(): number {
    return this.messages + this.pendingMessages;
  }

  get appendedBytes(): number {
    return this.bytes + this.pendingBytes;
  }

  /** A message was appended; it will become visible. */
  protected appended(subject: number, sequence: number, bytes: number): void {
    this.subjects.appended(subject, sequence);
    this.appendedSequence = sequence;
    this.pendingMessages++;
    this.pendingBytes += bytes;
  }

  /** When the message becomes visible that is appended next, others go, or it goes itself: `replaces` says which. */
  protected replacesOthers(sequence: number, replaces: number): void {
    this.replacing.push({ sequence, replaces });
  }

  // ── visibility ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** Everything appended up to `sequence` becomes visible, in order; `time` is that of the last one. */
  protected makeVisible(sequence: number, time: Time): boolean {
    if (!this.retention.enforce()) return false;
    if (sequence <= this.lastSequence) return true;
    const { blocks } = this.list;
    let told = this.lastSequence;
    let at = this.list.positionOf(told + 1);
    for (let each = told + 1; each <= sequence; each++) {
      let block = blocks[at];
      while (block !== undefined && each > block.lastSequence && at + 1 < blocks.length) block = blocks[++at];
      if (block === undefined || each > block.lastSequence) break;
      // Skipped sequences between two blocks are not looked at one by one.
      if (each < block.firstSequence) each = block.firstSequence;
      if (each > sequence || !block.has(each)) continue;
      const subject = this.show(block, each);
      const isOver = this.retention.added(subject);
      if (!(this.replacing.length > 0 && this.replaces(each, subject)) && !isOver) continue;
      this.listener.stored(told + 1, each);
      told = each;
      if (!this.retention.enforce()) return false;
      // Blocks may be gone now.
      at = this.list.positionOf(each);
    }
    this.lastTime = time;
    if (told < this.lastSequence) this.listener.stored(told + 1, this.lastSequence);
    return true;
  }

  /** Whether the message that became visible replaces others, which are to go then. */
  private replaces(sequence: number, subject: number): boolean {
    const { replacing, retention } = this;
    // Those of messages that were damaged, or purged on their way, never come.
    while ((replacing[0]?.sequence ?? sequence) < sequence) replacing.shift();
    if (replacing[0]?.sequence !== sequence) return false;
    const { replaces } = replacing.shift() as Replacing;
    if (replaces === REPLACES_ITSELF) retention.replacesItself(sequence);
    else if (replaces === REPLACES_ALL) retention.replacesAll(sequence);
    else retention.replacesSubject(subject);
    return true;
  }

  /** Makes one message visible; the number of its subject. */
  private show(block: MessageBlock, sequence: number): number {
    const index = block.index as BlockIndex;
    const subject = index.subject(sequence);
    const bytes = this.counted(block.recordBytes(sequence), index.hasHeaders(sequence));
    if (this.messages === 0) {
      this.firstSequence = sequence;
      this.isFirstVague = false;
    }
    block.hiddenMessages--;
    block.liveMessages++;
    block.liveBytes += bytes;
    this.messages++;
    this.bytes += bytes;
    this.pendingMessages--;
    this.pendingBytes -= bytes;
    this.lastSequence = sequence;
    this.subjects.added(subject, sequence);
    return subject;
  }

  // ── removal ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Whether the message is visible; `null` when its block's index is needed to tell. */
  protected isVisible(sequence: number): boolean | null {
    if (sequence < this.firstSequence || sequence > this.lastSequence) return false;
    const block = this.list.at(sequence);
    if (block === undefined || sequence < block.firstSequence || sequence > block.lastSequence) return false;
    if (block.removed.has(sequence)) return false;
    if (block.index === null) return null;
    block.wasUsed = true;
    return block.has(sequence);
  }

  /** Removes the message if it is visible; false when that has to be taken again. */
  removeVisible(sequence: number): boolean {
    if (!this.settleFirst()) return false;
    const visible = this.isVisible(sequence);
    if (visible === false) return true;
    const block = this.list.at(sequence) as MessageBlock;
    if (visible === null) return this.need(block);
    const subject = this.takeAway(block, block.index as BlockIndex, sequence);
    if (sequence === this.firstSequence) this.firstIsBehind();
    this.dropIfEmpty(block);
    this.listener.removed(sequence, subject);
    return true;
  }

  /** Removes all visible messages below `below`; false when that has to be taken again. */
  purgeVisible(below: number): boolean {
    if (below > this.lastSequence) this.clearVisible(below);
    else {
      for (let block = this.blockToPurge(below); block !== undefined; block = this.blockToPurge(below)) {
        if (block.index === null) return this.need(block);
        this.purgeBlock(block, block.index, below);
        if (!this.goesOn()) return false;
      }
      if (this.firstSequence < below) this.firstIsBehind(below);
      if (!this.settleFirst()) return false;
    }
    this.listener.purged(below);
    return true;
  }

  /** The first block that has visible messages below `below`. */
  private blockToPurge(below: number): MessageBlock | undefined {
    const { blocks } = this.list;
    for (let at = this.list.positionOf(this.firstSequence); at < blocks.length; at++) {
      const block = blocks[at] as MessageBlock;
      if (block.firstSequence >= below) return undefined;
      if (block.liveMessages > 0 && Math.max(block.firstSequence, this.firstSequence) < below) return block;
    }
    return undefined;
  }

  /** Removes the first messages of the block that are below `below`, as many as go in one turn. */
  private purgeBlock(block: MessageBlock, index: BlockIndex, below: number): void {
    const start = Math.max(block.firstSequence, this.firstSequence);
    const end = Math.min(below, block.lastSequence + 1, this.lastSequence + 1, start + PURGED_PER_TURN);
    for (let each = start; each < end; each++) {
      if (block.has(each)) this.takeAway(block, index, each);
    }
    this.firstIsBehind(end);
    this.dropIfEmpty(block);
  }

  /** Takes a message out of every count; its subject. */
  private takeAway(block: MessageBlock, index: BlockIndex, sequence: number): number {
    const subject = index.subject(sequence);
    const bytes = this.counted(block.recordBytes(sequence), index.hasHeaders(sequence));
    block.removed.add(sequence);
    block.liveMessages--;
    block.liveBytes -= bytes;
    this.messages--;
    this.bytes -= bytes;
    this.subjects.removed(subject, sequence);
    if (!block.isOpen) this.blockThinned(block);
    return subject;
  }

  /** Every visible message goes, and sequences go on at `next` if that is higher. */
  private clearVisible(next: number): void {
    const { lastSequence } = this;
    for (const block of this.list.blocks.slice()) {
      if (block.firstSequence > lastSequence) break;
      if (block.isOpen || block.hiddenMessages > 0) {
        for (let each = block.firstSequence; each <= lastSequence; each++) if (block.has(each)) block.removed.add(each);
        block.liveMessages = 0;
        block.liveBytes = 0;
      } else this.dropBlock(block);
    }
    this.messages = 0;
    this.bytes = 0;
    this.subjects.clearCounts();
    this.firstSequence = Math.max(lastSequence + 1, next);
    this.lastSequence = this.firstSequence - 1;
    this.appendedSequence = Math.max(this.appendedSequence, this.lastSequence);
    this.isFirstVague = false;
  }

  /** The block's index was made anew: what is not in it any more is lost. */
  protected recount(block: MessageBlock): void {
    const { liveMessages, liveBytes } = block;
    this.count(block);
    this.lost += liveMessages - block.liveMessages;
    this.messages -= liveMessages - block.liveMessages;
    this.bytes -= liveBytes - block.liveBytes;
    this.isFirstVague = true;
  }

  /** Counts the visible messages of a block whose index is in memory. */
  protected count(block: MessageBlock): void {
    const index = block.index as BlockIndex;
    block.liveMessages = 0;
    block.liveBytes = 0;
    const end = Math.min(block.lastSequence, this.lastSequence);
    for (let each = index.firstSequence; each <= end; each++) {
      if (!block.has(each)) continue;
      block.liveMessages++;
      block.liveBytes += this.counted(block.recordBytes(each), index.hasHeaders(each));
    }
  }

  // ── taking over what a checkpoint says ──────────────────────────────────────────────────────────────────────────

  /** Takes over a block; the number of its visible messages. One that has none any more is left alone. */
  restoreBlock(block: MessageBlock): number {
    this.count(block);
    const { liveMessages } = block;
    if (liveMessages === 0 && !block.isOpen) return 0;
    this.list.blocks.push(block);
    this.messages += liveMessages;
    this.bytes += block.liveBytes;
    const index = block.index as BlockIndex;
    for (let each = index.firstSequence; each <= block.lastSequence; each++) {
      if (block.has(each)) this.subjects.added(index.subject(each), each);
    }
    return liveMessages;
  }

  /** Takes over a block from which nothing was removed; what it holds stands in its index file. */
  restoreWholeBlock(block: MessageBlock, file: BlockIndexFile, liveBytes: number): void {
    block.liveBytes = liveBytes;
    file.eachSubject((subject, records, first, last) => {
      block.liveMessages += records;
      this.subjects.addedRange(subject, records, first, last);
    });
    this.list.blocks.push(block);
    this.messages += block.liveMessages;
    this.bytes += liveBytes;
  }

  // ── the first message ────────────────────────────────────────────────────────────────────────────────────────────

  /** The first message stands at `from` or behind it. */
  protected firstIsBehind(from: number = this.firstSequence + 1): void {
    this.firstSequence = from;
    this.isFirstVague = true;
    this.settleFirst();
  }

  settleFirst(): boolean {
    if (!this.isFirstVague) return true;
    if (this.messages === 0) this.firstSequence = this.lastSequence + 1;
    else {
      const block = this.firstLive();
      if (block === undefined) this.firstSequence = this.lastSequence + 1;
      else {
        this.firstSequence = Math.max(this.firstSequence, block.firstSequence);
        if (block.index === null) return this.need(block);
        while (!block.has(this.firstSequence) && this.firstSequence < block.lastSequence) this.firstSequence++;
      }
    }
    this.isFirstVague = false;
    return true;
  }

  /** The first block that has visible messages. */
  private firstLive(): MessageBlock | undefined {
    const { blocks } = this.list;
    let at = this.list.positionOf(this.firstSequence);
    while (at < blocks.length && (blocks[at] as MessageBlock).liveMessages === 0) at++;
    return blocks[at];
  }

  private dropIfEmpty(block: MessageBlock): void {
    if (!block.isOpen && isEmpty(block)) this.dropBlock(block);
  }

  protected dropBlock(block: MessageBlock): void {
    this.list.remove(block);
    block.isOpen = false;
    this.blockEmptied(block);
  }
}

/** Nothing in the block is visible, or will be. */
export function isEmpty(block: MessageBlock): boolean {
  return block.liveMessages === 0 && block.hiddenMessages === 0;
}
