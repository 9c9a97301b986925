/**
 * Blocks of a stream of which no checkpoint tells any more, as far as the log tells of the same messages. The log is right
 * about those; what is damaged in it, or behind its end, is taken from here, a record at a time and in order of sequence.
 *
 * None of these blocks is one of the store: their files stay as they are until a checkpoint names what took their place.
 *
 * Holds an index a block, and the bytes of the block that was read last.
 */

import type { Buffer } from 'node:buffer';
import { type BlockFiles, stemOf } from './block-files.ts';
import { type BlockIndex, NO_RECORD } from './block-index.ts';
import type { BlockName } from './message-block.ts';
import { isRecordOf, recordAt } from './record.ts';
import { readFileTolerantly } from './tolerant-read.ts';

interface Remaining {
  readonly name: BlockName;
  readonly index: BlockIndex;
  /** Sequence from which on it was not asked yet. */
  next: number;
}

export class BlockRemains {
  private readonly blockFiles: BlockFiles;
  private readonly blocks: Remaining[] = [];
  private lowest = 0;
  private loaded: Remaining | null = null;
  private bytes: Buffer | null = null;

  constructor(blockFiles: BlockFiles) {
    this.blockFiles = blockFiles;
  }

  get isEmpty(): boolean {
    return this.blocks.length === 0;
  }

  /** What the names of the blocks' files begin with. */
  get stems(): string[] {
    return this.blocks.map(({ name }) => stemOf(name));
  }

  /** Adds a block, those with lower numbers first. */
  add(name: BlockName, index: BlockIndex): void {
    this.blocks.push({ name, index, next: index.firstSequence });
  }

  /** The lowest sequence above `after` that has a record here and is not above `last`; 0: none. `after` never falls. */
  next(after: number, last: number): number {
    if (this.lowest <= after) this.lowest = Math.min(...this.blocks.map((block) => nextOf(block, after)));
    return this.lowest <= last && this.lowest < Infinity ? this.lowest : 0;
  }

  /** The intact record of this message, `null` when there is none. It stays as it is until another one is asked for. */
  record(sequence: number): Buffer | null {
    for (const block of this.blocks) {
      const at = block.index.offset(sequence);
      const bytes = at === NO_RECORD ? null : this.load(block);
      if (bytes === null || !isRecordOf(sequence, bytes, at, bytes.length - at)) continue;
      return bytes.subarray(at, at + recordAt(bytes, at, bytes.length));
    }
    return null;
  }

  private load(block: Remaining): Buffer | null {
    if (this.loaded !== block) {
      const { files } = this.blockFiles;
      this.bytes = readFileTolerantly(files.disk, this.blockFiles.path(block.name));
      this.loaded = block;
    }
    return this.bytes;
  }
}

/** The first sequence above `after` that has a record in the block, Infinity when there is none. */
function nextOf(block: Remaining, after: number): number {
  const { index } = block;
  block.next = Math.max(block.next, after + 1);
  while (block.next <= index.lastSequence && index.offset(block.next) === NO_RECORD) block.next++;
  return block.next <= index.lastSequence ? block.next : Infinity;
}
