/**
 * Messages that live in memory: the same blocks without files and log. What was appended in a turn becomes visible at
 * its end.
 */

import { Buffer } from 'node:buffer';
import type { Timers } from '../../server/io/io.ts';
import type { Message } from '../../server/protocol/message.ts';
import { type BlockBytes, MemoryBlockBytes } from './block-bytes.ts';
import { type BlockRoom, compact, findRun, isThin } from './block-compaction.ts';
import type { BlockIndex } from './block-index.ts';
import { BlockStore } from './block-store.ts';
import { MessageBlock } from './message-block.ts';
import { RECORD_OVERHEAD_BYTES, REPLACES_NOTHING } from './record.ts';
import type { ReadOutcome, StoreLimits, StoreListener, Time } from './store.ts';

const BLOCK_BYTES_MAX = 1024 * 1024;
/** What nats-server counts for a message in memory besides subject, headers and payload. */
const COUNTED_OVERHEAD = 16;
const EMPTY = Buffer.alloc(0);

export class MemoryStore extends BlockStore {
  private readonly timers: Timers;
  private turnScheduled = false;
  private readonly room: BlockRoom;
  private readonly thin = new Set<MessageBlock>();
  private appendedTime: Time = { seconds: 0, nanoseconds: 0 };

  constructor(timers: Timers, listener: StoreListener, firstSequence: number, blockBytesMax: number = BLOCK_BYTES_MAX) {
    const delta = COUNTED_OVERHEAD - RECORD_OVERHEAD_BYTES;
    super(EMPTY, listener, { blockBytesMax, countedDelta: delta, countedHeadersDelta: delta, firstSequence });
    this.timers = timers;
    this.room = { blockBytesMax, uncountedBytes: -delta };
  }

  override append(message: Message, time: Time, replaces: number = REPLACES_NOTHING): number {
    const sequence = this.appendedSequence + 1;
    this.appendRecord(message, sequence, time, replaces);
    this.appendedTime = time;
    if (!this.turnScheduled) {
      this.turnScheduled = true;
      this.timers.afterTurn(() => this.endTurn());
    }
    return sequence;
  }

  override beginGroup(): void {
    // What was appended in a turn becomes visible together in any case.
  }

  override endGroup(): void {
    // As above.
  }

  override setLimits(limits: StoreLimits): void {
    this.retention.set(limits);
    this.retention.enforce();
  }

  override remove(sequence: number, erases = false): boolean {
    if (this.isVisible(sequence) !== true) return false;
    this.removeVisible(sequence);
    if (erases) this.eraseRecord(sequence);
    return true;
  }

  override purgeBelow(sequence: number): void {
    this.endTurn();
    this.closeBelow(sequence);
    this.purgeVisible(sequence);
  }

  override close(done: () => void): void {
    this.endTurn();
    done();
  }

  override destroy(done: () => void): void {
    for (const block of this.list.blocks) block.bytes.drop();
    this.list.blocks.length = 0;
    done();
  }

  private endTurn(): void {
    this.turnScheduled = false;
    this.makeVisible(this.appendedSequence, this.appendedTime);
  }

  protected override later(callback: () => void): void {
    this.timers.afterTurn(callback);
  }

  override goesOn(): boolean {
    return true;
  }

  protected override resume(): void {
    // Nothing ever waits: indexes of blocks in memory are never given back.
  }

  protected override newBytes(): BlockBytes {
    return new MemoryBlockBytes(EMPTY);
  }

  protected override blockClosed(): void {
    // Nothing to write: the block stays where it is.
  }

  protected override blockEmptied(block: MessageBlock): void {
    this.thin.delete(block);
    block.bytes.drop();
  }

  protected override blockThinned(block: MessageBlock): void {
    if (this.thin.has(block) || !isThin(block, this.room)) return;
    if (this.thin.size === 0) this.timers.afterTurn(() => this.compactNext());
    this.thin.add(block);
  }

  /** Writes one block a turn anew; whoever looks at a message has copied it by then. */
  private compactNext(): void {
    const [block] = this.thin;
    if (block === undefined) return;
    this.thin.delete(block);
    if (this.thin.size > 0) this.timers.afterTurn(() => this.compactNext());
    const run = findRun(this.list.blocks.slice(this.list.positionOf(block.firstSequence)), this.room, isClosed);
    if (run[0] === block) this.replace(run);
  }

  private replace(run: readonly MessageBlock[]): void {
    const indexes = run.map((each) => each.index as BlockIndex);
    const work = compact(run, indexes, contentsOf(run), this.room, (firstSequence) => ({
      stream: 0,
      block: 0,
      firstSequence,
    }));
    let step = work.next();
    while (step.done !== true) step = work.next();
    if (!('index' in step.value)) return;
    const { index, bytes } = step.value;
    const [first] = run as [MessageBlock];
    const block = new MessageBlock(
      first.number,
      first.generation + 1,
      index.firstSequence,
      new MemoryBlockBytes(bytes),
    );
    block.index = index;
    block.lastSequence = index.lastSequence;
    block.isOpen = false;
    block.bytes.commit(bytes.length);
    block.bytes.closeTail();
    for (const old of run) {
      block.liveMessages += old.liveMessages;
      block.liveBytes += old.liveBytes;
      this.thin.delete(old);
    }
    this.list.replace(run, block);
    for (const old of run) old.bytes.drop();
  }

  protected override loadIndex(_block: MessageBlock, done: () => void): void {
    done();
  }

  protected override damaged(): ReadOutcome {
    return 'missing';
  }

  protected override readFailed(): void {
    // Memory is read without errors.
  }
}

function isClosed(block: MessageBlock): boolean {
  return !block.isOpen && block.hiddenMessages === 0 && block.liveMessages > 0;
}

/** The bytes of blocks in memory, where they are. */
function contentsOf(run: readonly MessageBlock[]): Buffer[] {
  return run.map((block) => (block.bytes as MemoryBlockBytes).buffer);
}
