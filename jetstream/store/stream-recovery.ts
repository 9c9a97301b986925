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
import { type BlockFiles, blockOfFile, stemOf } from './block-files.ts';
import type { FileStore } from './file-store.ts';
import { indexOfRecords } from './index-rebuild.ts';
import { type BlockName, MessageBlock } from './message-block.ts';
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
  /** Names of files of blocks that only the older checkpoint names. */
  readonly discarded: readonly string[];
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
  const { directory } = blockFiles;
  if (blockFiles.files.disk.statusNow(directory) === null) {
    if (!logHoldsAll)
      blockFiles.suspectDirectory(`"${directory}" is gone, and the log does not hold all that was in it`);
    return NOTHING;
  }
  blockFiles.files.noteDirectory(directory);
  const [newest, older] = readCheckpoints(blockFiles);
  if (newest === undefined) {
    if (!logHoldsAll) {
      blockFiles.suspectDirectory(`"${directory}" has no checkpoint: what its blocks hold is taken as it is`);
      yield* rebuildFromBlocks(store);
    }
    return NOTHING;
  }
  const { head, extra } = newest.checkpoint;
  store.restoreHead(head);
  for (const [i, summary] of head.blocks.entries()) {
    restoreBlock(store, summary, newest.checkpoint, i);
    yield;
  }
  store.restored();
  const named = new Set(head.blocks.map(stemOf));
  const discarded = (older?.checkpoint.head.blocks ?? []).map(stemOf).filter((each) => !named.has(each));
  removeUnnamed(blockFiles, new Set([...named, ...discarded]), head.nextBlockNumber);
  return { newestLsn: head.lsn, olderLsn: older?.checkpoint.head.lsn ?? 0, extra, slot: newest.slot, discarded };
}

/** The intact checkpoints, the newest first. */
function readCheckpoints(blockFiles: BlockFiles): Found[] {
  const found: Found[] = [];
  for (let slot = 0; slot < CHECKPOINT_SLOTS; slot++) {
    const bytes = readFileTolerantly(blockFiles.files.disk, checkpointPath(blockFiles.directory, slot));
    if (bytes === null) continue;
    const checkpoint = decodeCheckpoint(bytes);
    if (checkpoint !== null) found.push({ slot, checkpoint });
    else blockFiles.files.damage.note(`"${checkpointPath(blockFiles.directory, slot)}" is damaged`);
  }
  return found.sort((a, b) => b.checkpoint.head.lsn - a.checkpoint.head.lsn);
}

function restoreBlock(store: FileStore, summary: BlockSummary, checkpoint: StreamCheckpoint, i: number): void {
  const { blockFiles } = store;
  const { number, generation, firstSequence, lastSequence, end, isOpen, liveMessages, liveBytes } = summary;
  const block = new MessageBlock(number, generation, firstSequence, blockFiles.bytesOf(summary, firstSequence, end));
  block.lastSequence = lastSequence;
  block.isOpen = isOpen;
  block.removed = SequenceBits.decode(checkpoint.removed[i] as Buffer, firstSequence);
  const carried = checkpoint.indexes[i] as Buffer;
  const isCarried = carried.length > 0;
  const file = isCarried ? blockFiles.decodeIndex(number, carried) : blockFiles.readIndexFileNow(block);
  if (!isOpen && !isCarried) noteDamage(blockFiles, block, file === null);
  const isWhole = file !== null && block.removed.count === 0 && file.records === liveMessages;
  // Of a closed block that is whole the index is not needed for now.
  if (isWhole && !isOpen && !isCarried) block.index = null;
  else block.index = file?.index() ?? blockFiles.readIndexFileNow(block)?.index() ?? blockFiles.rebuildIndexNow(block);
  if (isWhole) store.restoreWholeBlock(block, file, liveBytes);
  else store.lost += Math.max(0, liveMessages - store.restoreBlock(block));
  if (isOpen) return;
  block.bytes.closeTail();
  if (isCarried) blockFiles.save(block);
  else if (block.index !== null && blockFiles.isSaved(block)) blockFiles.files.indexes.keep(block);
}

/** What is wrong with the files of a closed block, as far as that shows without reading all of it. */
function noteDamage(blockFiles: BlockFiles, block: MessageBlock, lacksIndex: boolean): void {
  const { disk } = blockFiles.files;
  if (lacksIndex) blockFiles.suspect(block, `"${blockFiles.indexPath(block)}" is damaged or gone, and made anew`);
  const path = blockFiles.path(block);
  const status = disk.statusNow(path);
  if (status === null || status.isDirectory) {
    blockFiles.suspect(block, `"${path}" is gone: what the log does not hold of it is lost`);
  } else if (status.bytes < block.bytes.end) {
    const missing = block.bytes.end - status.bytes;
    blockFiles.suspect(block, `"${path}" ends ${missing} bytes early: what the log does not hold of them is lost`);
  }
}

/**
 * Files of blocks that no checkpoint names: what was discarded before the last one, and what was being written when it
 * all ended. Blocks that are made anew have numbers from `nextBlock` on.
 */
function removeUnnamed(blockFiles: BlockFiles, named: ReadonlySet<string>, nextBlock: number): void {
  const stems = new Set<string>();
  for (const name of blockFiles.files.disk.readDirectoryNow(blockFiles.directory)) {
    const block = blockOfFile(name);
    if (block !== null && block.number < nextBlock) stems.add(stemOf(block));
  }
  blockFiles.removeFiles([...stems].filter((stem) => !named.has(stem)));
}

// ── without a checkpoint ───────────────────────────────────────────────────────────────────────────────────────────

/** Reads every block file there is. */
function* rebuildFromBlocks(store: FileStore): Generator<void> {
  const { blockFiles } = store;
  const blocks: MessageBlock[] = [];
  let lastNumber = 0;
  for (const name of blockNames(blockFiles)) {
    lastNumber = name.number;
    const block = scanBlock(store, name, blocks.at(-1)?.lastSequence ?? 0);
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

/** One generation of each block: the oldest one that is there was whole before another was begun. */
function blockNames(blockFiles: BlockFiles): BlockName[] {
  const names = blockFiles.files.disk.readDirectoryNow(blockFiles.directory).filter((name) => name.endsWith('.blk'));
  const found = new Map<number, BlockName>();
  for (const name of names) {
    const block = blockOfFile(name);
    if (block === null) continue;
    const other = found.get(block.number);
    if (other === undefined || other.generation > block.generation) found.set(block.number, block);
  }
  return [...found.values()].sort((a, b) => a.number - b.number);
}

function scanBlock(store: FileStore, name: BlockName, after: number): MessageBlock | null {
  const { blockFiles } = store;
  const bytes = readFileTolerantly(blockFiles.files.disk, blockFiles.path(name));
  if (bytes === null || bytes.length < BLOCK_HEADER_BYTES) return null;
  const header = decodeBlockHeader(bytes);
  if (header === null || header.block !== name.number || header.firstSequence <= after) return null;
  const { firstSequence } = header;
  const index = indexOfRecords(bytes, firstSequence, bytes.length, store.subjects);
  if (index.slots === 0) return null;
  const blockBytes = blockFiles.bytesOf(name, firstSequence, bytes.length);
  const block = new MessageBlock(name.number, name.generation, firstSequence, blockBytes);
  block.index = index;
  block.lastSequence = index.lastSequence;
  block.isOpen = false;
  block.bytes.closeTail();
  store.replayBlock(index, bytes);
  blockFiles.save(block);
  return block;
}
