/**
 * Writes a stream's checkpoints: captures the state, brings the blocks it names to the device, writes the older of the
 * two checkpoint files, and then removes the files of blocks that no checkpoint names any more.
 */

import { Buffer } from 'node:buffer';
import type { Done } from '../../server/io/io.ts';
import { syncAll } from './block-files.ts';
import type { BlockIndex } from './block-index.ts';
import type { FileStore } from './file-store.ts';
import type { MessageBlock } from './message-block.ts';
import { inOrder } from './steps.ts';
import { type BlockSummary, encodeCheckpoint, type StreamCheckpoint } from './stream-checkpoint.ts';
import { CHECKPOINT_SLOTS, checkpointPath } from './stream-recovery.ts';

const NOTHING = Buffer.alloc(0);

export class StreamCheckpointer {
  private readonly store: FileStore;
  private slot: number;
  /** Both files exist under their names on the device. */
  private written = 0;
  /** Frames of the stream below this position are in the last checkpoint. */
  lsn: number;

  constructor(store: FileStore, lsn: number, slot: number) {
    this.store = store;
    this.lsn = lsn;
    this.slot = slot;
  }

  /** Writes a checkpoint of the present visible state; `extra` is the stream's own part of it. */
  run(extra: Buffer, done: Done): void {
    const { store } = this;
    const { blockFiles } = store;
    const { files, directory } = blockFiles;
    const discarded = blockFiles.takeDiscarded();
    const checkpoint = captureCheckpoint(store, extra);
    const last = store.list.at(store.lastSequence);
    const slot = (this.slot + 1) % CHECKPOINT_SLOTS;
    inOrder(
      [
        (next) => syncAll(last === undefined ? [] : [last], next),
        (next) => blockFiles.settle(next),
        (next) => files.writeFile(checkpointPath(directory, slot), encodeCheckpoint(checkpoint), next),
        (next) => this.syncName(next),
      ],
      (error) => {
        if (error === null) {
          this.slot = slot;
          this.lsn = checkpoint.head.lsn;
          blockFiles.removeFiles(discarded);
        } else blockFiles.returnDiscarded(discarded);
        done(error);
      },
    );
  }

  /** The first write of each file makes its name durable. */
  private syncName(done: Done): void {
    const { files, directory } = this.store.blockFiles;
    if (this.written >= CHECKPOINT_SLOTS) {
      done(null);
      return;
    }
    this.written++;
    files.disk.syncDirectory(directory, done);
  }
}

/** What is needed besides closed blocks to come back to the present visible state. */
function captureCheckpoint(store: FileStore, extra: Buffer): StreamCheckpoint {
  const { firstSequence, lastSequence, lastTime, lost, list } = store;
  const blocks = list.blocks.filter((block) => block.firstSequence <= lastSequence);
  const summaries = blocks.map((block) => summaryOf(block, lastSequence));
  const last = blocks.at(-1);
  const index = summaries.at(-1)?.isOpen === true ? ((last as MessageBlock).index as BlockIndex) : null;
  const following = list.blocks[blocks.length];
  return {
    head: {
      lsn: store.durableLsn,
      firstSequence,
      lastSequence,
      lastTime,
      lost,
      // Blocks that hold nothing visible are made anew from the log, under the same numbers.
      nextBlockNumber: following?.number ?? store.nextBlock,
      blocks: summaries,
    },
    removed: blocks.map((block) => block.removed.encode()),
    openIndex: index === null ? NOTHING : store.blockFiles.encodeIndex(last as MessageBlock, index.upTo(lastSequence)),
    extra,
  };
}

function summaryOf(block: MessageBlock, lastVisible: number): BlockSummary {
  const { number, firstSequence } = block;
  const lastSequence = Math.min(block.lastSequence, lastVisible);
  const isPartial = lastSequence < block.lastSequence;
  const end = isPartial ? (block.index as BlockIndex).endOffset(lastSequence, block.bytes.end) : block.bytes.end;
  return { number, firstSequence, lastSequence, end, isOpen: block.isOpen || isPartial };
}
