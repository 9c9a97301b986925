/**
 * Brings a stream's store back at start, up to its last checkpoint; the log's frames follow from there.
 *
 * Of the two checkpoint files the newer intact one counts. Where a block's index is damaged it is made anew from the
 * records; what is not found again is counted as lost. Where there is no checkpoint the log holds everything, unless both
 * are damaged: then the blocks themselves are read, and messages that had been removed come back, which is better than
 * losing those that had not.
 *
 * Blocking, a block at a time, and yields between blocks.
 */

import { BLOCK_HEADER_BYTES, decodeBlockHeader } from './block-header.ts';
import type { BlockFiles } from './block-files.ts';
import type { FileStore } from './file-store.ts';
import { indexOfRecords } from './index-rebuild.ts';
import { MessageBlock } from './message-block.ts';
import { SequenceBits } from './sequence-bits.ts';
import { type BlockSummary, decodeCheckpoint, type StreamCheckpoint } from './stream-checkpoint.ts';
import { readFileTolerantly } from './tolerant-read.ts';

export const CHECKPOINT_SLOTS = 2;

export interface RecoveredStream {
  /** Frames below these positions are reflected in the newest checkpoint and in the one before; 0: none. */
  readonly newestLsn: number;
  readonly olderLsn: number;
  /** What the stream added to its checkpoint. */
  readonly extra: Buffer | null;
  /** The file that holds the checkpoint that was used, -1 for none. */
  readonly slot: number;
  /** Blocks that only the older checkpoint names. */
  readonly discarded: readonly number[];
}

interface Found {
  readonly slot: number;
  readonly checkpoint: StreamCheckpoint;
}

const NOTHING: RecoveredStream = { newestLsn: 0, olderLsn: 0, extra: null, slot: -1, discarded: [] };

export function checkpointPath(directory: string, slot: number): string {
  return `${directory}/state.${slot}`;
}

/** `logHoldsAll`: the log has every frame of the stream, so nothing else is needed. */
export function* recoverStream(store: FileStore, logHoldsAll: boolean): Generator<void, RecoveredStream> {
  const { blockFiles } = store;
  const { disk } = blockFiles.files;
  if (disk.statusNow(blockFiles.directory) === null) return NOTHING;
  blockFiles.files.noteDirectory(blockFiles.directory);
  const [newest, older] = readCheckpoints(blockFiles);
  if (newest === undefined) {
    if (!logHoldsAll) yield* rebuildFromBlocks(store);
    return NOTHING;
  }
  const { head, extra } = newest.checkpoint;
  store.restoreHead(head);
  for (const [i, summary] of head.blocks.entries()) {
    restoreBlock(store, summary, newest.checkpoint, i);
    yield;
  }
  store.restored();
  const named = new Set(head.blocks.map(({ number }) => number));
  const discarded = (older?.checkpoint.head.blocks ?? [])
    .map(({ number }) => number)
    .filter((each) => !named.has(each));
  removeUnnamed(blockFiles, new Set([...named, ...discarded]), head.nextBlockNumber);
  return { newestLsn: head.lsn, olderLsn: older?.checkpoint.head.lsn ?? 0, extra, slot: newest.slot, discarded };
}

/** The intact checkpoints, the newest first. */
function readCheckpoints(blockFiles: BlockFiles): Found[] {
  const found: Found[] = [];
  for (let slot = 0; slot < CHECKPOINT_SLOTS; slot++) {
    const bytes = readFileTolerantly(blockFiles.files.disk, checkpointPath(blockFiles.directory, slot));
    const checkpoint = bytes === null ? null : decodeCheckpoint(bytes);
    if (checkpoint !== null) found.push({ slot, checkpoint });
  }
  return found.sort((a, b) => b.checkpoint.head.lsn - a.checkpoint.head.lsn);
}

function restoreBlock(store: FileStore, summary: BlockSummary, checkpoint: StreamCheckpoint, i: number): void {
  const { blockFiles } = store;
  const { number, firstSequence, lastSequence, end, isOpen, liveMessages } = summary;
  const block = new MessageBlock(number, firstSequence, blockFiles.bytesOf(number, firstSequence, end));
  block.lastSequence = lastSequence;
  block.isOpen = isOpen;
  block.removed = SequenceBits.decode(checkpoint.removed[i] as Buffer, firstSequence);
  const carried = checkpoint.indexes[i] as Buffer;
  const index = carried.length === 0 ? null : blockFiles.decodeIndex(number, carried);
  block.index = index ?? blockFiles.readIndexNow(block);
  const live = store.restoreBlock(block);
  store.lost += Math.max(0, liveMessages - live);
  if (isOpen) return;
  block.bytes.closeTail();
  if (index !== null) blockFiles.save(block);
  else if (blockFiles.isSaved(block)) blockFiles.files.indexes.keep(block);
}

/**
 * Files of blocks that no checkpoint names: what was discarded before the last one, and what was being written when it
 * all ended. Blocks that are made anew have numbers from `nextBlock` on.
 */
function removeUnnamed(blockFiles: BlockFiles, named: ReadonlySet<number>, nextBlock: number): void {
  const numbers = new Set<number>();
  for (const name of blockFiles.files.disk.readDirectoryNow(blockFiles.directory)) {
    const number = /^(\d{6,})\.(blk|idx)$/.exec(name)?.[1];
    if (number !== undefined) numbers.add(Number(number));
  }
  blockFiles.removeFiles([...numbers].filter((number) => number < nextBlock && !named.has(number)));
}

// ── without a checkpoint ───────────────────────────────────────────────────────────────────────────────────────────

/** Reads every block file there is. */
function* rebuildFromBlocks(store: FileStore): Generator<void> {
  const { blockFiles } = store;
  const blocks: MessageBlock[] = [];
  let lastNumber = 0;
  for (const number of blockNumbers(blockFiles)) {
    lastNumber = number;
    const block = scanBlock(store, number, blocks.at(-1)?.lastSequence ?? 0);
    if (block !== null) blocks.push(block);
    yield;
  }
  const first = blocks[0];
  const last = blocks.at(-1);
  store.restoreHead({
    lsn: 0,
    firstSequence: first?.firstSequence ?? store.firstSequence,
    lastSequence: last?.lastSequence ?? store.lastSequence,
    lastTime: null,
    lost: 0,
    limits: null,
    nextBlockNumber: lastNumber + 1,
    blocks: [],
  });
  for (const block of blocks) store.restoreBlock(block);
  store.restored();
}

function blockNumbers(blockFiles: BlockFiles): number[] {
  const names = blockFiles.files.disk.readDirectoryNow(blockFiles.directory);
  const numbers = names.flatMap((name) => /^(\d{6,})\.blk$/.exec(name)?.[1] ?? []);
  return numbers.map(Number).sort((a, b) => a - b);
}

function scanBlock(store: FileStore, number: number, after: number): MessageBlock | null {
  const { blockFiles } = store;
  const bytes = readFileTolerantly(blockFiles.files.disk, blockFiles.path(number));
  if (bytes === null || bytes.length < BLOCK_HEADER_BYTES) return null;
  const header = decodeBlockHeader(bytes);
  if (header === null || header.block !== number || header.firstSequence <= after) return null;
  const { firstSequence } = header;
  const index = indexOfRecords(bytes, firstSequence, bytes.length, store.subjects);
  if (index.slots === 0) return null;
  const block = new MessageBlock(number, firstSequence, blockFiles.bytesOf(number, firstSequence, bytes.length));
  block.index = index;
  block.lastSequence = index.lastSequence;
  block.isOpen = false;
  block.bytes.closeTail();
  store.replayBlock(index, bytes);
  blockFiles.save(block);
  return block;
}
