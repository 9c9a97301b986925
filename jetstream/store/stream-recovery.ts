/**
 * Brings a stream's store back at start, up to its last checkpoint; the log's frames follow from there.
 *
 * Of the two checkpoint files the newer intact one counts. Where a block's index is damaged it is made anew from the
 * records; what is not found again is counted as lost. Where there is no checkpoint the log holds everything, unless both
 * are damaged (`stream-rebuild.ts`).
 *
 * Blocking, a block at a time, and yields between blocks.
 */

import { type BlockFiles, blockOfFile, stemOf } from './block-files.ts';
import type { FileStore } from './file-store.ts';
import type { LoggedPast } from './logged-past.ts';
import { MessageBlock } from './message-block.ts';
import { SequenceBits } from './sequence-bits.ts';
import { type BlockSummary, decodeCheckpoint, type StreamCheckpoint } from './stream-checkpoint.ts';
import { rebuildStream, type RebuiltStream } from './stream-rebuild.ts';
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
  /** Names of files of blocks that the next checkpoint does not name. */
  readonly discarded: readonly string[];
  /** How it was rebuilt without a checkpoint; `null`: it was not. */
  readonly rebuilt: RebuiltStream | null;
}

interface Found {
  readonly slot: number;
  readonly checkpoint: StreamCheckpoint;
}

const NOTHING: RecoveredStream = { newestLsn: 0, olderLsn: 0, extra: null, slot: -1, discarded: [], rebuilt: null };

export function checkpointPath(directory: string, slot: number): string {
  return `${directory}/state.${slot}`;
}

/** `past`: where the log has every frame of the stream nothing else is needed. */
export function* recoverStream(store: FileStore, past: LoggedPast): Generator<void, RecoveredStream> {
  const { blockFiles } = store;
  const logHoldsAll = past.holdsAll(store.number);
  const { directory } = blockFiles;
  if (blockFiles.files.disk.statusNow(directory) === null) {
    if (!logHoldsAll)
      blockFiles.suspectDirectory(`"${directory}" is gone, and the log does not hold all that was in it`);
    return NOTHING;
  }
  blockFiles.files.noteDirectory(directory);
  const [newest, older] = readCheckpoints(blockFiles);
  if (newest === undefined) {
    if (logHoldsAll) return NOTHING;
    blockFiles.suspectDirectory(`"${directory}" has no checkpoint: what the log and its blocks hold is taken as it is`);
    const rebuilt = yield* rebuildStream(store, yield* past.firstOf(store.number));
    return { ...NOTHING, discarded: rebuilt.remains.stems, rebuilt };
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
  const olderLsn = older?.checkpoint.head.lsn ?? 0;
  return { newestLsn: head.lsn, olderLsn, extra, slot: newest.slot, discarded, rebuilt: null };
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
