/**
 * Brings a stream's store back at start, up to its last checkpoint; the log's frames follow from there.
 *
 * Of the two checkpoint files the newer intact one counts. Where a block's index is damaged it is made anew from the
 * records; where a block is gone its messages are counted as lost. Where no checkpoint can be read although there are
 * blocks, the blocks themselves are read: messages that had been removed come back then, which is better than losing
 * those that had not.
 *
 * Blocking, a block at a time, and yields between blocks.
 */

import type { Buffer } from 'node:buffer';
import { BLOCK_HEADER_BYTES, decodeBlockHeader } from './block-header.ts';
import { decodeBlockIndex } from './block-index-file.ts';
import type { BlockIndex } from './block-index.ts';
import type { BlockFiles } from './block-files.ts';
import type { FileStore } from './file-store.ts';
import { indexOfRecords, readRangeNow } from './index-rebuild.ts';
import { MessageBlock } from './message-block.ts';
import { SequenceBits } from './sequence-bits.ts';
import { type BlockSummary, decodeCheckpoint, type StreamCheckpoint } from './stream-checkpoint.ts';

export const CHECKPOINT_SLOTS = 2;

export interface RecoveredStream {
  /** Frames below this position are reflected already. */
  readonly lsn: number;
  /** What the stream added to its checkpoint. */
  readonly extra: Buffer | null;
  /** The file that holds the checkpoint that was used, -1 for none. */
  readonly slot: number;
  /** No checkpoint could be read although the stream had blocks. */
  readonly rebuilt: boolean;
}

export function checkpointPath(directory: string, slot: number): string {
  return `${directory}/state.${slot}`;
}

export function* recoverStream(store: FileStore): Generator<void, RecoveredStream> {
  const { blockFiles } = store;
  const newest = newestCheckpoint(blockFiles);
  if (newest === null) {
    const rebuilt = yield* rebuildFromBlocks(store, blockFiles);
    return { lsn: 0, extra: null, slot: -1, rebuilt };
  }
  const { checkpoint, slot } = newest;
  store.restoreHead(checkpoint.head);
  for (const [i, summary] of checkpoint.head.blocks.entries()) {
    const block = openBlock(store, blockFiles, summary, checkpoint);
    if (block === null) store.lost += summary.lastSequence - summary.firstSequence + 1;
    else {
      const bits = SequenceBits.decode(checkpoint.removed[i] as Buffer, summary.firstSequence);
      block.removed = bits;
      store.restoreBlock(block);
      if (!block.isOpen) blockFiles.keepResident(block);
    }
    yield;
  }
  return { lsn: checkpoint.head.lsn, extra: checkpoint.extra, slot, rebuilt: false };
}

function newestCheckpoint(blockFiles: BlockFiles): { checkpoint: StreamCheckpoint; slot: number } | null {
  const { disk } = blockFiles.files;
  let newest: { checkpoint: StreamCheckpoint; slot: number } | null = null;
  for (let slot = 0; slot < CHECKPOINT_SLOTS; slot++) {
    const path = checkpointPath(blockFiles.directory, slot);
    if (disk.statusNow(path) === null) continue;
    const checkpoint = decodeCheckpoint(disk.readFileNow(path));
    if (checkpoint === null) continue;
    if (newest === null || checkpoint.head.lsn >= newest.checkpoint.head.lsn) newest = { checkpoint, slot };
  }
  return newest;
}

function openBlock(
  store: FileStore,
  blockFiles: BlockFiles,
  summary: BlockSummary,
  checkpoint: StreamCheckpoint,
): MessageBlock | null {
  const { number, firstSequence, lastSequence, end, isOpen } = summary;
  const status = blockFiles.files.disk.statusNow(blockFiles.path(number));
  if (status === null) return null;
  const block = new MessageBlock(number, firstSequence, blockFiles.bytesOf(number, firstSequence, end));
  block.lastSequence = lastSequence;
  block.isOpen = isOpen;
  const open = isOpen ? decodeBlockIndex(checkpoint.openIndex, store.subjects) : null;
  block.index = open ?? blockFiles.readIndexNow(block, end);
  return block;
}

/** Reads every block file there is; whether there was any. */
function* rebuildFromBlocks(store: FileStore, blockFiles: BlockFiles): Generator<void, boolean> {
  const { disk } = blockFiles.files;
  const { directory } = blockFiles;
  if (disk.statusNow(directory) === null) return false;
  const names = disk.readDirectoryNow(directory).filter((name) => name.endsWith('.blk'));
  let last: MessageBlock | null = null;
  for (const name of names.sort()) {
    const block = scanBlock(store, blockFiles, `${directory}/${name}`, last?.lastSequence ?? 0);
    yield;
    if (block === null) continue;
    block.isOpen = false;
    store.restoreBlock(block);
    last = block;
  }
  if (last === null) return false;
  const firstBlock = store.list.blocks[0];
  store.restoreHead({
    lsn: 0,
    firstSequence: firstBlock?.firstSequence ?? 1,
    lastSequence: last.lastSequence,
    lastTime: null,
    lost: 0,
    nextBlockNumber: last.number + 1,
    blocks: [],
  });
  return true;
}

function scanBlock(store: FileStore, blockFiles: BlockFiles, path: string, after: number): MessageBlock | null {
  const { disk } = blockFiles.files;
  const length = disk.statusNow(path)?.bytes ?? 0;
  const bytes = readRangeNow(disk, path, 0, length);
  const header = bytes === null || length < BLOCK_HEADER_BYTES ? null : decodeBlockHeader(bytes);
  if (bytes === null || header === null || header.firstSequence <= after) return null;
  const { block: number, firstSequence } = header;
  const index: BlockIndex = indexOfRecords(bytes, firstSequence, length, store.subjects);
  if (index.slots === 0) return null;
  const block = new MessageBlock(number, firstSequence, blockFiles.bytesOf(number, firstSequence, length));
  block.index = index;
  block.lastSequence = index.lastSequence;
  return block;
}
