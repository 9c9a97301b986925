/**
 * The messages of one stream in files. A message is written twice: into the commit log, which makes it durable, and into
 * its block, from which it is read.
 *
 *     append ─► record in the open block's tail ─► frame in the commit log ─durable─► visible
 *     append, record above LARGE_BYTES ─► record in the block ─► block synced ─► frame with its place ─durable─► visible
 *
 * What is removed is noted in the log and disappears when that is durable. What happens to visible messages is a queue of
 * steps, each with the log position at which it counts (`step-queue.ts`). Recovery takes the same steps from the log.
 */

import { Buffer } from 'node:buffer';
import type { Done } from '../../server/io/io.ts';
import type { Message } from '../../server/protocol/message.ts';
import type { BlockBytes } from './block-bytes.ts';
import { BlockFiles } from './block-files.ts';
import { type BlockRoom, isThin } from './block-compaction.ts';
import { type BlockIndex, NO_RECORD } from './block-index.ts';
import { BlockStore } from './block-store.ts';
import { Coverage } from './coverage.ts';
import { DamagedRecords } from './damaged-records.ts';
import type { FileStoreContext, StoreExtension } from './file-store-context.ts';
import type { LoggedAsset } from './logged-asset.ts';
import type { MessageBlock } from './message-block.ts';
import { StreamReplay } from './stream-replay.ts';
import { RecordView, recordBytes, REPLACES_NOTHING } from './record.ts';
import { type Gone, type Step, StepQueue } from './step-queue.ts';
import type { ReadOutcome, StoreLimits, StoreListener, Time } from './store.ts';
import { StreamCheckpointer } from './stream-checkpointer.ts';
import type { CheckpointHead } from './stream-checkpoint.ts';
import { StreamLog } from './stream-log.ts';
import { recoverStream } from './stream-recovery.ts';

/** What a message counts beyond its record: nats-server's file store has 30 bytes, and 4 more with headers. */
const COUNTED_DELTA = -6;
const COUNTED_HEADERS_DELTA = -2;
/** An open block without messages that takes less is left alone on a full disk. */
const IDLE_BYTES_MIN = 4096;
const EMPTY = Buffer.alloc(0);
const NO_TIME: Time = { seconds: 0, nanoseconds: 0 };

/** While the log is read nobody listens: what was told once is not told again. */
const SILENCE: StoreListener = {
  stored() {},
  removed() {},
  purged() {},
};

interface Waiting {
  readonly lsn: number;
  readonly done: () => void;
}

export type { StoreExtension } from './file-store-context.ts';

export class FileStore extends BlockStore implements LoggedAsset {
  joinedLsn = -1;
  lastLsn = 0;
  readonly coverage: Coverage = new Coverage();
  readonly number: number;
  isAhead = false;
  /** Closed or destroyed. */
  isGone = false;
  readonly room: BlockRoom;
  readonly blockFiles: BlockFiles;
  /** Called when a read failed; the message is still there. */
  onReadError: (sequence: number, error: Error) => void = () => undefined;

  private readonly context: FileStoreContext<FileStore>;
  private readonly extension: StoreExtension;
  private readonly toldLater: StoreListener;
  private readonly steps: StepQueue;
  private readonly streamLog: StreamLog;
  private readonly checkpointer: StreamCheckpointer;
  private readonly replay: StreamReplay;
  /** Who waits for what to be durable and done. */
  private readonly waiting: Waiting[] = [];
  /** Who waits for a moment between two steps. */
  private captures: (() => void)[] = [];
  /** Messages whose removal is on its way. */
  private readonly removing = new Set<number>();
  private readonly damagedRecords: DamagedRecords;
  private wantedLimits: StoreLimits;
  private isRecovering: boolean;

  constructor(
    context: FileStoreContext<FileStore>,
    number: number,
    directory: string,
    listener: StoreListener,
    extension: StoreExtension,
    firstSequence: number,
  ) {
    super(EMPTY, listener, {
      blockBytesMax: context.files.sizes.blockBytesMax,
      countedDelta: COUNTED_DELTA,
      countedHeadersDelta: COUNTED_HEADERS_DELTA,
      firstSequence,
    });
    this.context = context;
    this.room = { blockBytesMax: context.files.sizes.blockBytesMax, uncountedBytes: -COUNTED_DELTA };
    this.number = number;
    this.extension = extension;
    this.toldLater = listener;
    this.wantedLimits = this.retention.limits;
    this.isRecovering = context.files.isRecovering;
    if (this.isRecovering) this.listener = SILENCE;
    this.blockFiles = new BlockFiles(context.files, number, directory, this.list, this.subjects);
    this.blockFiles.onRebuilt = (block) => this.recount(block);
    this.blockFiles.lastVisible = () => this.lastSequence;
    this.damagedRecords = new DamagedRecords(this.blockFiles, (sequence) => this.isLost(sequence));
    this.checkpointer = new StreamCheckpointer(this);
    this.replay = new StreamReplay(this, extension);
    this.steps = new StepQueue(
      (step) => this.take(step),
      () => this.answerCaptures(),
      () => this.later(() => this.goOn()),
    );
    this.streamLog = new StreamLog(context, this, this.steps);
    this.streamLog.continueAt(this.lastSequence, NO_TIME);
  }

  // ── appending ────────────────────────────────────────────────────────────────────────────────────────────────────

  override append(message: Message, time: Time, replaces: number = REPLACES_NOTHING): number {
    const sequence = this.appendedSequence + 1;
    this.context.files.bytesGiven += message.bodyEnd - message.bodyStart;
    const block = this.appendRecord(message, sequence, time, replaces);
    this.streamLog.append(message, block, sequence, recordBytes(message), time);
    return sequence;
  }

  override beginGroup(): void {
    this.streamLog.beginGroup(this.appendedSequence + 1);
  }

  override endGroup(): void {
    this.streamLog.endGroup(this.appendedSequence);
  }

  override remove(sequence: number, erases = false): boolean {
    if (this.isVisible(sequence) === false || this.removing.has(sequence)) return false;
    this.removing.add(sequence);
    this.streamLog.remove('remove', sequence, erases);
    return true;
  }

  override purgeBelow(sequence: number): void {
    this.streamLog.purge(sequence);
    this.appendedSequence = Math.max(this.appendedSequence, sequence - 1);
  }

  override setLimits(limits: StoreLimits): void {
    this.wantedLimits = limits;
    const lsn = this.isRecovering ? 0 : this.context.log.durableLsn;
    const step: Step = { lsn, sequence: 0, time: NO_TIME, removal: null, limits };
    if (this.isAhead) return;
    if (this.isRecovering) this.takeNow(step);
    else {
      this.steps.insert(step);
      this.apply();
    }
  }

  // ── what is durable ──────────────────────────────────────────────────────────────────────────────────────────────

  sealed(lsn: number): void {
    this.streamLog.sealed(lsn);
  }

  durable(): void {
    this.apply();
  }

  abandoned(): void {
    // Nobody is told of what did not become durable.
    this.waiting.length = 0;
  }

  /** Calls back when everything asked of this store so far is durable and done. */
  whenDurable(done: () => void): void {
    this.streamLog.gate.whenOpen(() => {
      this.waiting.push({ lsn: this.lastLsn, done });
      this.apply();
    });
  }

  private apply(): void {
    if (this.isRecovering) return;
    if (this.steps.apply(this.context.log.durableLsn)) this.answerCaptures();
    if (this.context.files.writeError !== null || this.context.log.segments.error !== null) this.makeRoom();
    const { waiting } = this;
    while (waiting.length > 0 && (waiting[0] as Waiting).lsn <= this.steps.appliedLsn)
      (waiting.shift() as Waiting).done();
  }

  /** Where nothing can be written, an open block that holds little goes, or is written anew: both need it closed. */
  makeRoom(): void {
    const { last } = this.list;
    if (last === undefined || !last.isOpen || last.hiddenMessages > 0 || this.isRecovering) return;
    const isIdle = last.liveMessages === 0 && last.bytes.end > IDLE_BYTES_MIN;
    if (isIdle || isThin(last, this.room)) this.streamLog.closeBlock();
  }

  /** Takes a step; false when it has to be taken again. */
  private take({ sequence, time, removal, limits }: Step): boolean {
    if (!this.makeVisible(sequence, time)) return false;
    if (limits !== null) {
      if (this.retention.limits !== limits) this.retention.set(limits);
      if (!this.retention.enforce()) return false;
    }
    return (removal === null || this.takeRemoval(removal)) && this.settleFirst();
  }

  private takeRemoval({ kind, sequence, erases }: Gone): boolean {
    if (kind === 'purge') return sequence === 0 || this.purgeVisible(sequence);
    const { messages } = this;
    if (!this.removeVisible(sequence)) return false;
    if (kind === 'lost') this.lost += messages - this.messages;
    if (erases) this.eraseRecord(sequence);
    this.removing.delete(sequence);
    return true;
  }

  protected override resume(): void {
    this.apply();
  }

  protected override later(callback: () => void): void {
    this.context.files.timers.afterTurn(callback);
  }

  override goesOn(): boolean {
    if (!this.isRecovering) this.steps.rest();
    return this.isRecovering;
  }

  private goOn(): void {
    this.steps.goOn();
    this.apply();
  }

  // ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────

  override whenReadable(sequence: number, done: () => void): void {
    if (!this.damagedRecords.wait(sequence, done)) super.whenReadable(sequence, done);
  }

  override damaged(block: MessageBlock, sequence: number): ReadOutcome {
    if (this.removing.has(sequence)) return 'missing';
    this.damagedRecords.found(block, sequence);
    return 'loading';
  }

  private isLost(sequence: number): void {
    if (this.isVisible(sequence) === false || this.removing.has(sequence)) return;
    this.removing.add(sequence);
    this.streamLog.remove('lost', sequence);
  }

  protected override readFailed(sequence: number, error: Error): void {
    this.onReadError(sequence, error);
  }

  // ── checkpoints ──────────────────────────────────────────────────────────────────────────────────────────────────

  flush(done: () => void): void {
    this.streamLog.gate.whenOpen(done);
  }

  checkpoint(done: Done): void {
    this.checkpointer.whenFree(() => this.startCheckpoint(done));
  }

  private startCheckpoint(done: Done): void {
    this.captures.push(() => {
      const lsn = this.streamLog.reflectedLsn(this.steps.appliedLsn);
      this.checkpointer.run(this.extension.capture(this.lastSequence), lsn, done);
    });
    this.apply();
  }

  /** Between two steps what is visible is what the log says. */
  private answerCaptures(): void {
    if (this.captures.length === 0) return;
    const { captures } = this;
    this.captures = [];
    for (const capture of captures) capture();
  }

  /** Files are left of blocks that the newest checkpoint does not name. */
  get hasDiscarded(): boolean {
    return this.checkpointer.hasDiscarded;
  }

  get nextBlock(): number {
    return this.nextBlockNumber;
  }

  get limits(): StoreLimits {
    return this.retention.limits;
  }

  // ── recovery ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Brings the store back to its last checkpoint; the log's frames follow. */
  *recover(): Generator<void> {
    const found = yield* recoverStream(this, this.context.past);
    this.checkpointer.restored(found);
    this.coverage.restored(found.newestLsn, found.olderLsn);
    if (found.rebuilt !== null) yield* this.replay.goesOnFrom(found.rebuilt);
    if (found.extra !== null) yield* this.extension.decode(found.extra);
  }

  /** A frame of this stream, read from the log at start. */
  applyFrame(kind: number, buffer: Buffer, start: number, end: number): void {
    this.replay.frame(kind, buffer, start, end);
  }

  /** The log is read: from now on things happen. */
  recovered(): void {
    this.replay.ended();
    this.isRecovering = false;
    this.listener = this.toldLater;
    this.streamLog.continueAt(this.lastSequence, this.lastTime ?? NO_TIME);
    this.blockFiles.recovered();
    if (this.retention.limits !== this.wantedLimits) this.setLimits(this.wantedLimits);
    if (this.messages > 0) this.listener.stored(this.firstSequence, this.lastSequence);
    this.apply();
  }

  /** Takes a step at start, where whatever has to be loaded is loaded at once. */
  takeNow(step: Step): void {
    let isTaken = this.take(step);
    while (!isTaken) isTaken = this.take(step);
  }

  /** Takes over the state of a checkpoint, whose blocks follow. */
  restoreHead(head: CheckpointHead): void {
    this.firstSequence = head.firstSequence;
    this.lastSequence = head.lastSequence;
    this.appendedSequence = head.lastSequence;
    this.lastTime = head.lastTime;
    this.lost = head.lost;
    this.nextBlockNumber = head.nextBlockNumber;
    if (head.limits !== null) this.retention.set(head.limits);
  }

  /** Every block is taken over. */
  restored(): void {
    this.firstIsBehind(this.firstSequence);
    this.takeNow({ lsn: 0, sequence: 0, time: NO_TIME, removal: null, limits: null });
  }

  /** Notes the messages of a block that is read instead of a checkpoint. */
  replayBlock(index: BlockIndex, bytes: Buffer): void {
    const view = new RecordView(bytes);
    for (let each = index.firstSequence; each <= index.lastSequence; each++) {
      if (index.offset(each) === NO_RECORD) continue;
      view.set(bytes, index.offset(each));
      this.extension.replayed(view);
    }
  }

  // ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────────

  protected override newBytes(block: number, firstSequence: number): BlockBytes {
    return this.blockFiles.bytesOf({ number: block, generation: 0 }, firstSequence, 0);
  }

  protected override blockClosed(block: MessageBlock): void {
    this.blockFiles.save(block);
  }

  protected override blockThinned(block: MessageBlock): void {
    if (isThin(block, this.room)) this.context.compactor.note(this);
  }

  protected override blockEmptied(block: MessageBlock): void {
    this.blockFiles.discard(block);
  }

  protected override loadIndex(block: MessageBlock, done: () => void): void {
    this.blockFiles.loadIndex(block, done);
  }

  override close(done: () => void): void {
    this.isGone = true;
    for (const block of this.list.blocks) this.blockFiles.release(block);
    done();
  }

  override destroy(done: () => void): void {
    this.isGone = true;
    this.streamLog.gate.drop();
    for (const block of this.list.blocks) block.bytes.drop();
    this.list.blocks.length = 0;
    this.blockFiles.removeDirectory(done);
  }
}
