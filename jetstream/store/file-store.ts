/**
 * The messages of one stream in files. A message is written twice: into the commit log, which makes it durable, and into
 * its block, from which it is read.
 *
 *     append ─► record in the open block's tail ─► frame in the commit log ─durable─► visible
 *     append, payload above LARGE_BYTES ─► record in the block ─► block synced ─► frame with its place ─durable─► visible
 *
 * While a large message waits for its block, the messages behind it wait too, so that frames stand in the log in the
 * order of sequences. What is removed is noted in the log and disappears when that is durable.
 *
 * What happens to visible messages is a queue of steps, each with the log position at which it counts: "everything up to
 * this sequence is there", and removals. Recovery feeds the same steps from the log.
 */

import { strict as assert } from 'node:assert';
import { Buffer } from 'node:buffer';
import type { Done } from '../../server/io/io.ts';
import type { Message } from '../../server/protocol/message.ts';
import { type BlockBytes, Located } from './block-bytes.ts';
import type { BlockIndex } from './block-index.ts';
import { BlockFiles, syncAll } from './block-files.ts';
import { BlockStore } from './block-store.ts';
import type { CommitLog } from './commit-log.ts';
import { FrameKind } from './frame.ts';
import { get32, get48, put32, put48 } from './integers.ts';
import type { MessageBlock } from './message-block.ts';
import { readRangeNow } from './index-rebuild.ts';
import { isIntact, RecordView, recordAt, recordBytes } from './record.ts';
import type { LoggedAsset } from './logged-asset.ts';
import type { StoreFiles } from './store-files.ts';
import type { StoreListener, Time } from './store.ts';
import { StreamCheckpointer } from './stream-checkpointer.ts';
import { recoverStream } from './stream-recovery.ts';
import type { CheckpointHead } from './stream-checkpoint.ts';

export const BLOCK_BYTES_MAX: number = 8 * 1024 * 1024;
/** Records above this go to their block first. */
const LARGE_BYTES = 32 * 1024;
/** What a message counts beyond its record: nats-server's file store has 30 bytes, and 4 more with headers. */
const COUNTED_DELTA = -6;
const COUNTED_HEADERS_DELTA = -2;
const EMPTY = Buffer.alloc(0);
const NO_TIME: Time = { seconds: 0, nanoseconds: 0 };

/** Body of a frame that names the place of a record: block, offset and bytes (u32), sequence (u48). */
const PLACE_BYTES = 18;
const SEQUENCE_BYTES = 6;

/** Something that counts when the log is durable up to `lsn`, behind the messages up to `sequence`. */
interface Step {
  readonly lsn: number;
  readonly sequence: number;
  readonly time: Time;
  readonly removal: { readonly kind: 'remove' | 'purgeBelow'; readonly sequence: number } | null;
}

const GATE_RETRY_MS = 250;
const CHECKPOINT_RETRY_MS = 10;

interface Waiting {
  readonly lsn: number;
  readonly done: () => void;
}

export interface FileStoreContext {
  readonly files: StoreFiles;
  readonly log: CommitLog;
}

/** What the owner of a store keeps with it: saved in its checkpoints, made anew from replayed messages. */
export interface StoreExtension {
  /** The owner's part of a checkpoint that reflects messages up to `lastSequence`. */
  encode(lastSequence: number): Buffer;
  decode(encoded: Buffer): void;
  /** A message was replayed from the log. */
  replayed(record: RecordView): void;
}

export class FileStore extends BlockStore implements LoggedAsset {
  joinedLsn = -1;
  dirtyLsn = -1;
  readonly number: number;
  /** Called when a read failed; the message is still there. */
  onReadError: (sequence: number, error: Error) => void = () => undefined;

  private readonly context: FileStoreContext;
  private readonly steps: Step[] = [];
  /** Position behind the last frame of this store, and who waits for what to be durable. */
  private lastLsn = 0;
  private readonly waiting: Waiting[] = [];
  /** The last message that has its frame in the log, and its time. */
  private loggedSequence: number;
  private loggedTime: Time = NO_TIME;
  /** The last large message that is not in the log yet; 0: none, and nothing waits. */
  private gateSequence = 0;
  /** Times of the messages behind `loggedSequence`, while they wait. */
  private readonly waitingTimes: Time[] = [];
  private readonly removing = new Set<number>();
  private readonly place: Located = new Located(EMPTY);
  private readonly replayView: RecordView = new RecordView(EMPTY);
  readonly blockFiles: BlockFiles;
  private readonly extension: StoreExtension;
  private checkpointer: StreamCheckpointer;

  constructor(
    context: FileStoreContext,
    number: number,
    directory: string,
    listener: StoreListener,
    extension: StoreExtension,
    firstSequence: number,
  ) {
    super(EMPTY, listener, {
      blockBytesMax: BLOCK_BYTES_MAX,
      countedDelta: COUNTED_DELTA,
      countedHeadersDelta: COUNTED_HEADERS_DELTA,
      firstSequence,
    });
    this.context = context;
    this.number = number;
    this.loggedSequence = this.appendedSequence;
    this.extension = extension;
    this.blockFiles = new BlockFiles(context.files, number, directory, this.subjects);
    this.checkpointer = new StreamCheckpointer(this, 0, -1);
  }

  // ── appending ────────────────────────────────────────────────────────────────────────────────────────────────────

  override append(message: Message, time: Time): number {
    const sequence = this.appendedSequence + 1;
    const bytes = recordBytes(message);
    const block = this.appendRecord(message, sequence, time);
    const waits = this.gateSequence > 0;
    if (bytes > LARGE_BYTES) {
      this.gateSequence = sequence;
      this.waitingTimes.push(time);
      if (!waits) this.syncGate();
    } else if (waits) this.waitingTimes.push(time);
    else this.logRecord(block, sequence, bytes, time);
    this.context.log.press(message.producer);
    return sequence;
  }

  override remove(sequence: number): boolean {
    if (this.isVisible(sequence) === false || this.removing.has(sequence)) return false;
    this.removing.add(sequence);
    this.logRemoval('remove', sequence);
    return true;
  }

  override purgeBelow(sequence: number): void {
    this.logRemoval('purgeBelow', sequence);
  }

  /** Copies the record, which is in memory, into a frame of the log. */
  private logRecord(block: MessageBlock, sequence: number, bytes: number, time: Time): void {
    const { log } = this.context;
    const offset = (block.index as BlockIndex).offset(sequence);
    assert(block.bytes.locate(offset, bytes, this.place), 'a record just appended is in memory');
    const at = log.begin(bytes);
    this.place.buffer.copy(log.buffer, at, this.place.at, this.place.at + bytes);
    this.lastLsn = log.end(at + bytes, FrameKind.message, this.number, this);
    this.loggedSequence = sequence;
    this.loggedTime = time;
  }

  /** Notes in the log where a record stands whose block is on the device. */
  private logPlace(block: MessageBlock, sequence: number, time: Time): void {
    const { log } = this.context;
    const at = log.begin(PLACE_BYTES);
    put32(log.buffer, at, block.number);
    put32(log.buffer, at + 4, (block.index as BlockIndex).offset(sequence));
    put32(log.buffer, at + 8, block.recordBytes(sequence));
    put48(log.buffer, at + 12, sequence);
    this.lastLsn = log.end(at + PLACE_BYTES, FrameKind.largeMessage, this.number, this);
    this.loggedSequence = sequence;
    this.loggedTime = time;
  }

  private logRemoval(kind: 'remove' | 'purgeBelow', sequence: number): void {
    const { log } = this.context;
    const at = log.begin(SEQUENCE_BYTES);
    put48(log.buffer, at, sequence);
    const frameKind = kind === 'remove' ? FrameKind.remove : FrameKind.purge;
    const lsn = log.end(at + SEQUENCE_BYTES, frameKind, this.number, this);
    this.lastLsn = lsn;
    const removal = { kind, sequence };
    this.steps.push({ lsn, sequence: this.loggedSequence, time: this.loggedTime, removal });
  }

  /** Syncs the blocks of everything that waits; then it can be logged. */
  private syncGate(): void {
    const upTo = this.appendedSequence;
    const blocks = this.list.blocks.filter((block) => block.lastSequence > this.loggedSequence);
    syncAll(blocks, (error) => {
      if (error !== null) {
        this.context.files.noteError(error);
        this.context.files.timers.after(GATE_RETRY_MS, () => this.syncGate());
        return;
      }
      this.logWaiting(upTo, true);
      if (this.gateSequence > upTo) {
        this.syncGate();
        return;
      }
      this.gateSequence = 0;
      this.logWaiting(this.appendedSequence, false);
    });
  }

  private logWaiting(upTo: number, synced: boolean): void {
    while (this.loggedSequence < upTo) {
      const sequence = this.list.next(this.loggedSequence + 1, upTo, null);
      if (sequence <= 0) return;
      const block = this.list.at(sequence) as MessageBlock;
      const time = this.waitingTimes.shift() as Time;
      if (synced) this.logPlace(block, sequence, time);
      else this.logRecord(block, sequence, block.recordBytes(sequence), time);
    }
  }

  override close(done: () => void): void {
    for (const block of this.list.blocks) this.blockFiles.release(block);
    done();
  }

  override destroy(done: () => void): void {
    for (const block of this.list.blocks) block.bytes.drop();
    this.list.blocks.length = 0;
    this.blockFiles.removeDirectory(done);
  }

  // ── durability ───────────────────────────────────────────────────────────────────────────────────────────────────

  sealed(lsn: number): void {
    this.steps.push({ lsn, sequence: this.loggedSequence, time: this.loggedTime, removal: null });
  }

  /** Calls back when everything logged for this store so far is durable. */
  whenDurable(done: () => void): void {
    if (this.lastLsn <= this.context.log.durableLsn) done();
    else this.waiting.push({ lsn: this.lastLsn, done });
  }

  durable(lsn: number): void {
    const { steps } = this;
    let done = 0;
    for (; done < steps.length && (steps[done] as Step).lsn <= lsn; done++) {
      const { sequence, time, removal } = steps[done] as Step;
      this.makeVisible(sequence, time);
      if (removal !== null) this.applyRemoval(removal.kind, removal.sequence);
    }
    steps.splice(0, done);
    while (this.waiting.length > 0 && (this.waiting[0] as Waiting).lsn <= lsn) (this.waiting.shift() as Waiting).done();
  }

  private applyRemoval(kind: 'remove' | 'purgeBelow', sequence: number): void {
    if (kind === 'purgeBelow') this.purgeVisible(sequence);
    else {
      this.removing.delete(sequence);
      this.removeVisible(sequence);
    }
  }

  // ── recovery ─────────────────────────────────────────────────────────────────────────────────────────────────────

  flush(): void {
    // Messages go to the log as they come.
  }

  get checkpointLsn(): number {
    return this.checkpointer.lsn;
  }

  checkpoint(done: Done): void {
    if (this.blockFiles.isLoading) {
      // A removal waits for its block's index: what is visible now is not all that the log says.
      this.context.files.timers.after(CHECKPOINT_RETRY_MS, () => this.checkpoint(done));
      return;
    }
    this.checkpointer.run(this.extension.encode(this.lastSequence), done);
  }

  /** Brings the store back to its last checkpoint; the log's frames follow. */
  *recover(): Generator<void> {
    const { lsn, extra, slot } = yield* recoverStream(this);
    this.checkpointer = new StreamCheckpointer(this, lsn, slot);
    if (extra !== null) this.extension.decode(extra);
  }

  /** A frame of this stream, read from the log at start. */
  applyFrame(kind: number, buffer: Buffer, start: number, end: number): void {
    switch (kind) {
      case FrameKind.message:
        this.replayRecord(buffer, start, end);
        break;
      case FrameKind.largeMessage:
        this.replayPlace(buffer, start);
        break;
      case FrameKind.remove:
        this.removeVisible(get48(buffer, start));
        break;
      case FrameKind.purge:
        this.purgeVisible(get48(buffer, start));
        break;
      default:
        throw new Error(`a frame of kind ${kind} does not belong to a stream`);
    }
  }

  private replayRecord(buffer: Buffer, start: number, end: number): void {
    const view = this.replayView;
    view.set(buffer, start);
    if (view.sequence <= this.appendedSequence) return;
    const { sequence, seconds, nanoseconds } = view;
    this.appendStored(buffer, start, end, view);
    this.loggedSequence = sequence;
    this.loggedTime = { seconds, nanoseconds };
    this.makeVisible(sequence, this.loggedTime);
    this.extension.replayed(view);
  }

  private replayPlace(buffer: Buffer, start: number): void {
    const sequence = get48(buffer, start + 12);
    if (sequence <= this.appendedSequence) return;
    const path = this.blockFiles.path(get32(buffer, start));
    const bytes = get32(buffer, start + 8);
    const record = readRangeNow(this.context.files.disk, path, get32(buffer, start + 4), bytes);
    if (record !== null && recordAt(record, 0, bytes) === bytes && isIntact(record, 0))
      this.replayRecord(record, 0, bytes);
    else this.lost++;
  }

  // ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────────

  protected override newBytes(block: number, firstSequence: number): BlockBytes {
    return this.blockFiles.bytesOf(block, firstSequence, 0);
  }

  protected override blockClosed(block: MessageBlock): void {
    this.blockFiles.save(block);
  }

  protected override blockEmptied(block: MessageBlock): void {
    this.blockFiles.discard(block);
  }

  protected override loadIndex(block: MessageBlock, done: () => void): void {
    this.blockFiles.loadIndex(block, done);
  }

  protected override readFailed(sequence: number, error: Error): void {
    this.onReadError(sequence, error);
  }

  // ── checkpoint ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** Position up to which the visible state reflects the log. */
  get durableLsn(): number {
    return this.context.log.durableLsn;
  }

  get nextBlock(): number {
    return this.nextBlockNumber;
  }

  /** Takes over the state of a checkpoint, whose blocks follow. */
  restoreHead(head: CheckpointHead): void {
    this.firstSequence = head.firstSequence;
    this.lastSequence = head.lastSequence;
    this.appendedSequence = head.lastSequence;
    this.loggedSequence = head.lastSequence;
    this.lastTime = head.lastTime;
    this.loggedTime = head.lastTime ?? NO_TIME;
    this.lost = head.lost;
    this.nextBlockNumber = head.nextBlockNumber;
  }

  /** Takes over a block: counts its messages. */
  restoreBlock(block: MessageBlock): void {
    const index = block.index as BlockIndex;
    for (let sequence = index.firstSequence; sequence <= block.lastSequence; sequence++) {
      if (!block.has(sequence)) continue;
      const bytes = this.counted(block.recordBytes(sequence), index.hasHeaders(sequence));
      block.liveMessages++;
      block.liveBytes += bytes;
      this.messages++;
      this.bytes += bytes;
      this.subjects.added(index.subject(sequence), sequence);
    }
    this.list.blocks.push(block);
  }
}
