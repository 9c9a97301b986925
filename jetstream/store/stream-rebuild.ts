/**
 * Rebuilds a stream both of whose checkpoints are damaged from what is left: its blocks, and the log, which holds the last
 * messages. Blocks are written behind, each in its own time: when the power went, some may lack their end or be empty
 * while one behind them is whole. So a message that stands in the log is taken from there, and never looked for in a block:
 *
 *     blocks   │ 31 … 44 │ 45 46 47 │ empty │ empty │ 92 │
 *     log                    46 ── 47 ── 48 ─ ?? ─ 50 ── … ── 91 ──► end
 *              └─ kept ──┘ └─────────── remains ───────────┘
 *
 * Blocks that end before the log begins are kept as they are, up to one that was being written anew: what stands in one
 * of its files may be missing in the other, and so may blocks that were joined with it. The others remain outside the
 * store (`block-remains.ts`): what the log does not tell of, like 45, what is damaged in it, like 49, and what is behind
 * its end, like 92, is appended from them anew, each before what follows it in the log. Messages whose removal is not in
 * the log come back, which is better than losing those that were not removed.
 *
 * A file may hold records behind its block's last one: they were written behind in a former life, never acknowledged, and
 * their sequences given to others, which stand in the blocks that follow. The index of the block tells where it ends:
 *
 *     block 7   │ 40 … 60 │ 95 … 99 left behind │       its index: 40 … 60
 *     block 8   │ 61 … 120 │
 *
 * Blocking, a block at a time, and yields between blocks.
 */

import type { Buffer } from 'node:buffer';
import { type BlockFiles, blockOfFile } from './block-files.ts';
import { BLOCK_HEADER_BYTES, decodeBlockHeader } from './block-header.ts';
import { type BlockIndex, NO_RECORD } from './block-index.ts';
import { BlockRemains } from './block-remains.ts';
import type { FileStore } from './file-store.ts';
import { indexOfRecords } from './index-rebuild.ts';
import { get48 } from './integers.ts';
import { type BlockName, MessageBlock } from './message-block.ts';
import { recordAt, SEQUENCE_AT } from './record.ts';
import { readFileTolerantly, readRangeTolerantly } from './tolerant-read.ts';

export interface RebuiltStream {
  /** From this message on the log tells of all that it ever told of; Infinity: it tells of none. */
  readonly firstLogged: number;
  readonly remains: BlockRemains;
}

interface ReadBlock {
  readonly name: BlockName;
  readonly bytes: Buffer;
  readonly index: BlockIndex;
}

/** Reads every block file there is, and takes over the blocks that end before `firstLogged`. */
export function* rebuildStream(store: FileStore, firstLogged: number): Generator<void, RebuiltStream> {
  const { blockFiles } = store;
  const blocks: MessageBlock[] = [];
  const remains = new BlockRemains(blockFiles);
  let lastNumber = 0;
  const names = blockNames(blockFiles);
  for (const [i, name] of names.entries()) {
    lastNumber = name.number;
    const isOnly = names[i + 1]?.number !== name.number && names[i - 1]?.number !== name.number;
    const read = readBlock(store, name, firstBehind(blockFiles, names, i));
    const after = blocks.at(-1)?.lastSequence ?? 0;
    if (read === null) continue;
    // Records are appended in order: none stays behind one that is not there yet.
    if (!remains.isEmpty || !isOnly || read.index.lastSequence >= firstLogged) remains.add(name, read.index);
    else if (read.index.firstSequence > after) blocks.push(keptBlock(store, read));
    yield;
  }
  const last = blocks.at(-1);
  store.restoreHead({
    lsn: 0,
    firstSequence: blocks[0]?.firstSequence ?? store.firstSequence,
    lastSequence: last?.lastSequence ?? store.lastSequence,
    lastTime: null,
    lost: 0,
    limits: null,
    nextBlockNumber: lastNumber + 1,
    blocks: [],
  });
  for (const block of blocks) store.restoreBlock(block);
  store.restored();
  return { firstLogged, remains };
}

/** Every block file there is. */
function blockNames(blockFiles: BlockFiles): BlockName[] {
  const names = blockFiles.files.disk.readDirectoryNow(blockFiles.directory).filter((name) => name.endsWith('.blk'));
  const blocks = names.map(blockOfFile).filter((block) => block !== null);
  return blocks.sort((a, b) => a.number - b.number || a.generation - b.generation);
}

/** The first sequence of the next block whose head is intact, Infinity when there is none. */
function firstBehind(blockFiles: BlockFiles, names: readonly BlockName[], i: number): number {
  const own = names[i] as BlockName;
  for (const name of names.slice(i + 1)) {
    if (name.number === own.number) continue;
    const head = readRangeTolerantly(blockFiles.files.disk, blockFiles.path(name), 0, BLOCK_HEADER_BYTES);
    const header = head === null ? null : decodeBlockHeader(head);
    if (header?.block === name.number) return header.firstSequence;
  }
  return Infinity;
}

/** What is in a block's file; `null` when there are no records in it, or those of another block. */
function readBlock(store: FileStore, name: BlockName, firstBehind: number): ReadBlock | null {
  const { blockFiles } = store;
  const bytes = readFileTolerantly(blockFiles.files.disk, blockFiles.path(name));
  if (bytes === null || bytes.length < BLOCK_HEADER_BYTES) return null;
  const header = decodeBlockHeader(bytes);
  if (header !== null && header.block !== name.number) return null;
  // Damage to the head does not cost the records behind it.
  const firstSequence = header?.firstSequence ?? firstRecord(bytes);
  const index = indexOfRecords(bytes, firstSequence, bytes.length, store.subjects);
  if (index.slots === 0) return null;
  return {
    name,
    bytes,
    index: index.lastSequence < firstBehind ? index : ownPart(blockFiles, name, index, firstBehind),
  };
}

/**
 * The records of the block itself among those in its file. Where its own index does not tell, it is the block behind it
 * that was left behind.
 */
function ownPart(blockFiles: BlockFiles, name: BlockName, found: BlockIndex, firstBehind: number): BlockIndex {
  const own = blockFiles.readIndexFileNow(name)?.index() ?? null;
  if (own === null || own.slots === 0 || own.lastSequence >= firstBehind) return found;
  // An index may be left behind as well.
  for (let each = own.firstSequence; each <= own.lastSequence; each++) {
    if (found.offset(each) !== NO_RECORD && found.offset(each) !== own.offset(each)) return found;
  }
  return found.upTo(own.lastSequence);
}

/** The sequence of the first record whose head is intact, 0 when there is none. */
function firstRecord(bytes: Buffer): number {
  for (let at = BLOCK_HEADER_BYTES; at < bytes.length; at++) {
    if (recordAt(bytes, at, bytes.length) > 0) return get48(bytes, at + SEQUENCE_AT);
  }
  return 0;
}

function keptBlock(store: FileStore, { name, bytes, index }: ReadBlock): MessageBlock {
  const { blockFiles } = store;
  const { firstSequence } = index;
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
