/**
 * Writes a stream's checkpoints: captures the state, brings the blocks it names to the device, writes the older of the
 * two checkpoint files, and then removes what no checkpoint names any more.
 */

import { Buffer } from 'node:buffer';
import type { Done } from '../../server/io/io.ts';
import { runSliced } from '../../server/io/slicer.ts';
import type { BlockIndex } from './block-index.ts';
import type { FileStore } from './file-store.ts';
import { syncAll } from './large-gate.ts';
import type { MessageBlock } from './message-block.ts';
import { inOrder, type Step } from './steps.ts';
import { type BlockSummary, type CheckpointHead, checkpointFile } from './stream-checkpoint.ts';
import type { PieceFile } from './piece-writer.ts';
import type { Captured } from './captured.ts';
import { CHECKPOINT_SLOTS, checkpointPath, type RecoveredStream } from './stream-recovery.ts';

const NOTHING = Buffer.alloc(0);

interface CapturedStream {
  readonly head: CheckpointHead;
  readonly removed: readonly Buffer[];
  readonly extra: Captured;
  /** By block of `head`: what is to be carried of its index, which takes no more records; `null` when it has a file. */
  readonly indexes: readonly (BlockIndex | null)[];
  /** Blocks it names that may not be on the device yet. */
  readonly unsynced: readonly MessageBlock[];
}

export class StreamCheckpointer {
  private readonly store: FileStore;
  private slot = -1;
  /** The checkpoint that was found at start may be seen and not be on the device. */
  private isDoubtful = false;
  private isRunning = false;
  private whenIdle: (() => void)[] = [];
  /** Files of blocks that only the older checkpoint names. */
  private discarded: readonly string[] = [];

  constructor(store: FileStore) {
    this.store = store;
  }

  restored(found: RecoveredStream): void {
    this.slot = found.slot;
    this.isDoubtful = found.slot >= 0;
    this.discarded = found.discarded;
  }

  /** Calls back when no checkpoint is being written. */
  whenFree(then: () => void): void {
    if (this.isRunning) this.whenIdle.push(then);
    else then();
  }

  /** Files are left of blocks that the newest checkpoint does not name. */
  get hasDiscarded(): boolean {
    return this.discarded.length > 0 || this.store.blockFiles.hasDiscarded;
  }

  /** Writes a checkpoint of the present visible state, which is that at `lsn`; `extra` is the stream's own part of it. */
  run(extra: Captured, lsn: number, done: Done): void {
    const { store } = this;
    const { blockFiles } = store;
    const { files, directory } = blockFiles;
    this.isRunning = true;
    const discarded = blockFiles.takeDiscarded();
    const captured = capture(store, extra, lsn);
    const slot = (this.slot + 1) % CHECKPOINT_SLOTS;
    inOrder(
      [
        (next) => this.makeSure(next),
        (next) => syncAll(captured.unsynced, next),
        (next) =>
          runSliced(files.io, encode(store, captured), (file) =>
            files.replaceCopy(checkpointPath(directory, slot), file, next),
          ),
        (next) => files.syncNames(directory, next),
      ],
      (error) => {
        if (error === null) {
          this.slot = slot;
          store.coverage.checkpointed(lsn, store.lastLsn);
          blockFiles.removeFiles(this.discarded);
          this.discarded = discarded;
        } else blockFiles.returnDiscarded(discarded);
        this.isRunning = false;
        done(error);
        this.whenIdle.shift()?.();
      },
    );
  }

  /** While one checkpoint is overwritten the other one has to stand. */
  private makeSure(done: Done): void {
    if (!this.isDoubtful) {
      done(null);
      return;
    }
    const { files, directory } = this.store.blockFiles;
    const steps: Step[] = [
      (next) => files.syncFile(checkpointPath(directory, this.slot), next),
      (next) => files.syncNames(directory, next),
    ];
    inOrder(steps, (error) => {
      if (error === null) this.isDoubtful = false;
      done(error);
    });
  }
}

/** What is needed besides index files to come back to the present visible state. */
function capture(store: FileStore, extra: Captured, lsn: number): CapturedStream {
  const { firstSequence, lastSequence, lastTime, lost, limits, list, blockFiles } = store;
  const blocks = list.blocks.filter((block) => block.firstSequence <= lastSequence);
  const carries = (block: MessageBlock): boolean => !blockFiles.isSaved(block) || block.lastSequence > lastSequence;
  const following = list.blocks[blocks.length];
  const head: CheckpointHead = {
    lsn,
    firstSequence,
    lastSequence,
    lastTime,
    lost,
    limits,
    // Blocks that hold nothing visible are made anew from the log, under the same numbers.
    nextBlockNumber: following?.number ?? store.nextBlock,
    blocks: blocks.map((block) => summaryOf(block, lastSequence)),
  };
  return {
    head,
    // More may be removed before this is written, and more added.
    removed: blocks.map((block) => Buffer.from(block.removed.encode())),
    indexes: blocks.map((block) => (carries(block) ? fixedIndex(block, lastSequence) : null)),
    extra,
    unsynced: blocks.filter(carries),
  };
}

function fixedIndex(block: MessageBlock, lastSequence: number): BlockIndex {
  const index = block.index as BlockIndex;
  return block.isOpen || block.lastSequence > lastSequence ? index.upTo(lastSequence) : index;
}

function* encode({ blockFiles }: FileStore, captured: CapturedStream): Generator<void, PieceFile> {
  const { head, removed, extra } = captured;
  const indexes: Buffer[] = [];
  for (const [i, index] of captured.indexes.entries()) {
    const block = head.blocks[i] as BlockSummary;
    indexes.push(index === null ? NOTHING : yield* blockFiles.encodeIndex(block, index));
  }
  return checkpointFile({ head, removed, indexes, extra });
}

function summaryOf(block: MessageBlock, lastVisible: number): BlockSummary {
  const { number, generation, firstSequence, liveMessages, liveBytes } = block;
  const lastSequence = Math.min(block.lastSequence, lastVisible);
  const isPartial = lastSequence < block.lastSequence;
  const end = isPartial ? (block.index as BlockIndex).endOffset(lastSequence, block.bytes.end) : block.bytes.end;
  return {
    number,
    generation,
    firstSequence,
    lastSequence,
    end,
    isOpen: block.isOpen || isPartial,
    liveMessages,
    liveBytes,
  };
}
