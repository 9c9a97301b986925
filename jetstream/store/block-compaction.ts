/**
 * Which blocks hold little that is still there, and what is left of them in one new block. Neighbours are taken together
 * while what is left of them fits into half a block.
 *
 *     │ a····b·│ ··c···· │ ·d·  │     ─►     │ abcd │
 *
 * The new block has the number of the first one, a generation higher. Each record is checked on the way.
 */

import { Buffer } from 'node:buffer';
import { type BlockHeader, BLOCK_HEADER_BYTES, encodeBlockHeader } from './block-header.ts';
import { BlockIndex, NO_RECORD, SLOTS_MAX } from './block-index.ts';
import { get32 } from './integers.ts';
import type { MessageBlock } from './message-block.ts';
import { isRecordOf } from './record.ts';

/** Less than this is not worth writing a block anew. */
const GARBAGE_BYTES_MIN = 64 * 1024;
/** Between two looks at the clock so many bytes are copied; looking for the next message counts as one more. */
const BYTES_PER_STEP = 64 * 1024;
const BYTES_PER_LOOK = 32;

export interface BlockRoom {
  readonly blockBytesMax: number;
  /** A record has at most so many bytes more than its message counts. */
  readonly uncountedBytes: number;
}

/** At least half of the block's bytes are those of messages that are gone. */
export function isThin(block: MessageBlock, room: BlockRoom): boolean {
  const garbage = block.bytes.end - liveBytesOf(block, room);
  return garbage >= Math.min(GARBAGE_BYTES_MIN, room.blockBytesMax / 4) && garbage * 2 >= block.bytes.end;
}

function isSmall(block: MessageBlock, room: BlockRoom): boolean {
  return block.bytes.end <= room.blockBytesMax / 8;
}

/** The records of the block's messages have at most so many bytes. */
function liveBytesOf(block: MessageBlock, { uncountedBytes }: BlockRoom): number {
  return block.liveBytes + uncountedBytes * block.liveMessages;
}

/**
 * The first blocks, next to each other, that are worth writing anew; none when there are no such blocks. `mayMove` tells
 * whether a block can be replaced at present.
 */
export function findRun(
  blocks: readonly MessageBlock[],
  room: BlockRoom,
  mayMove: (block: MessageBlock) => boolean,
): MessageBlock[] {
  for (let at = 0; at < blocks.length; at++) {
    const run = runFrom(blocks, at, room, mayMove);
    if (run.length > 1 || (run[0] !== undefined && isThin(run[0], room))) return run;
  }
  return [];
}

function runFrom(
  blocks: readonly MessageBlock[],
  from: number,
  room: BlockRoom,
  mayMove: (block: MessageBlock) => boolean,
): MessageBlock[] {
  const run: MessageBlock[] = [];
  let bytes = 0;
  for (let at = from; at < blocks.length; at++) {
    const block = blocks[at] as MessageBlock;
    if (!mayMove(block) || !(isThin(block, room) || isSmall(block, room))) break;
    bytes += liveBytesOf(block, room);
    const span = block.lastSequence - (run[0] ?? block).firstSequence;
    if (run.length > 0 && (bytes > room.blockBytesMax / 2 || span >= SLOTS_MAX)) break;
    run.push(block);
  }
  return run;
}

/** What is left of a run of blocks. */
export interface Compacted {
  readonly index: BlockIndex;
  readonly bytes: Buffer;
  /** What was removed from each block when the work began: more may be by now. */
  readonly removed: readonly Buffer[];
}

/** A record that is not as it was written; the run has to stay as it is for now. */
export interface DamagedRecord {
  readonly block: MessageBlock;
  readonly sequence: number;
}

/** Copies what is left of the run; `contents` are the bytes of its blocks, whose indexes are given too. */
export function* compact(
  run: readonly MessageBlock[],
  indexes: readonly BlockIndex[],
  contents: readonly Buffer[],
  room: BlockRoom,
  headerOf: (firstSequence: number) => BlockHeader,
): Generator<void, Compacted | DamagedRecord> {
  const bytesMax = run.reduce((sum, block) => sum + liveBytesOf(block, room), BLOCK_HEADER_BYTES);
  const bytes = Buffer.allocUnsafeSlow(bytesMax);
  const removed = run.map((block) => Buffer.from(block.removed.encode()));
  let at = BLOCK_HEADER_BYTES;
  let index: BlockIndex | null = null;
  let left = BYTES_PER_STEP;
  for (const [i, block] of run.entries()) {
    const from = indexes[i] as BlockIndex;
    const content = contents[i] as Buffer;
    for (let each = from.firstSequence; each <= block.lastSequence; each++) {
      if ((left -= BYTES_PER_LOOK) < 0) {
        left = BYTES_PER_STEP;
        yield;
      }
      const offset = from.offset(each);
      if (offset === NO_RECORD || block.removed.has(each)) continue;
      if (!isRecordOf(each, content, offset, from.endOffset(each, block.bytes.end) - offset))
        return { block, sequence: each };
      const length = get32(content, offset);
      content.copy(bytes, at, offset, offset + length);
      index ??= new BlockIndex(each);
      index.add(each, at, from.subject(each), from.hasHeaders(each));
      at += length;
      left -= length;
    }
  }
  index ??= new BlockIndex((run[0] as MessageBlock).firstSequence);
  encodeBlockHeader(headerOf(index.firstSequence)).copy(bytes);
  return { index, bytes: bytes.subarray(0, at), removed };
}
