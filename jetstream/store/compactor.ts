/**
 * Gives the space back that removed messages take in blocks which hold others still: writes such blocks anew, one run at a
 * time for the whole store, between other work.
 *
 *     read ─► copy what is left, in slices ─► new files, durable ─► the new block takes the place ─► checkpoints name it
 *
 * Whatever happens on the way, the checkpoints that stand name files that are there: those of the old blocks go when no
 * checkpoint names them. Where nothing else makes checkpoints soon, two are written for that, a while later.
 *
 * Bound: memory for the contents of one run: as many blocks as leave half of one.
 */

import type { Buffer } from 'node:buffer';
import type { Io, Timer } from '../../server/io/io.ts';
import { runSliced } from '../../server/io/slicer.ts';
import { type BlockRoom, compact, type Compacted, findRun } from './block-compaction.ts';
import { type BlockFiles, stemOf } from './block-files.ts';
import type { BlockIndex } from './block-index.ts';
import type { BlockList } from './block-list.ts';
import { MessageBlock } from './message-block.ts';
import { inOrder } from './steps.ts';

/** Checkpoints for the sake of space come so many times less often than blocks are looked at. */
const RESTS_PER_REFRESH = 60;

/** A store whose blocks can be written anew. */
export interface CompactedStore {
  readonly list: BlockList;
  readonly blockFiles: BlockFiles;
  readonly room: BlockRoom;
  readonly isGone: boolean;
  /** Files wait for checkpoints. */
  readonly hasDiscarded: boolean;
  /** The record of this message was found damaged. */
  damaged(block: MessageBlock, sequence: number): void;
}

export interface CompactionStatistics {
  blocksWritten: number;
  bytesWritten: number;
  bytesFreed: number;
}

export class Compactor<Store extends CompactedStore = CompactedStore> {
  readonly statistics: CompactionStatistics = { blocksWritten: 0, bytesWritten: 0, bytesFreed: 0 };
  private readonly io: Io;
  private readonly restMs: number;
  private readonly refresh: (store: Store, done: () => void) => void;
  private readonly thin = new Set<Store>();
  private readonly changed = new Set<Store>();
  private timer: Timer | null = null;
  private refreshTimer: Timer | null = null;
  private isRunning = false;
  private isClosed = false;
  private whenIdle: (() => void) | null = null;

  /** `refresh` writes checkpoints of the store until none names what is not used any more. */
  constructor(io: Io, restMs: number, refresh: (store: Store, done: () => void) => void) {
    this.io = io;
    this.restMs = restMs;
    this.refresh = refresh;
  }

  /** A closed block of the store has become thin. */
  note(store: Store): void {
    this.thin.add(store);
    this.timer ??= this.isClosed ? null : this.io.timers.after(this.restMs, () => this.run());
  }

  /** Nothing more is begun; `done` when nothing is under way. */
  close(done: () => void): void {
    this.isClosed = true;
    this.timer?.cancel();
    this.refreshTimer?.cancel();
    if (this.isRunning) this.whenIdle = done;
    else done();
  }

  private run(): void {
    if (this.isRunning || this.isClosed) return;
    this.isRunning = true;
    const stores = [...this.thin];
    this.thin.clear();
    inOrder(
      stores.map((store) => (next) => this.compactStore(store, () => next(null))),
      () => {
        this.isRunning = false;
        this.timer = null;
        this.whenIdle?.();
        if (this.thin.size > 0) for (const store of this.thin) this.note(store);
      },
    );
  }

  /** One run of blocks after the other, until none is left or one can't be written. */
  private compactStore(store: Store, done: () => void): void {
    const run = this.isOver(store) ? [] : findRun(store.list.blocks, store.room, (block) => mayMove(store, block));
    if (run.length === 0) {
      done();
      return;
    }
    this.read(store, run, (indexes, contents) => {
      if (indexes === null || this.isOver(store)) {
        done();
        return;
      }
      const headerOf = (first: number) => store.blockFiles.headerOf(run[0] as MessageBlock, first);
      runSliced(this.io, compact(run, indexes, contents, store.room, headerOf), (result) => {
        if ('index' in result) this.write(store, run, result, done);
        else {
          store.damaged(result.block, result.sequence);
          done();
        }
      });
    });
  }

  private isOver(store: Store): boolean {
    return this.isClosed || store.isGone;
  }

  /** Indexes and contents of the blocks; `null` when one can't be had. */
  private read(
    store: Store,
    run: readonly MessageBlock[],
    done: (indexes: BlockIndex[] | null, contents: Buffer[]) => void,
  ): void {
    const { blockFiles } = store;
    const indexes: BlockIndex[] = [];
    const contents: Buffer[] = [];
    inOrder(
      run.map((block) => (next) => {
        const readBytes = (): void => {
          const { index } = block;
          blockFiles.readBlock(block, (error, bytes, isWhole) => {
            // What can't be read now must not be left out of the new block.
            if (index !== null && bytes !== null && isWhole) {
              indexes.push(index);
              contents.push(bytes);
            }
            next(error);
          });
        };
        if (block.index === null) blockFiles.loadIndex(block, readBytes);
        else readBytes();
      }),
      (error) => {
        blockFiles.files.noteError(error?.code === 'ENOENT' ? null : error);
        done(contents.length === run.length ? indexes : null, contents);
      },
    );
  }

  private write(store: Store, run: readonly MessageBlock[], result: Compacted, done: () => void): void {
    const { index, bytes } = result;
    const { blockFiles } = store;
    const { files } = blockFiles;
    const first = run[0] as MessageBlock;
    const generation = Math.max(...run.map((block) => block.generation)) + 1;
    const name = { number: first.number, generation };
    const blockBytes = blockFiles.bytesOf(name, index.firstSequence, bytes.length);
    const block = new MessageBlock(first.number, generation, index.firstSequence, blockBytes);
    block.index = index;
    block.lastSequence = index.lastSequence;
    block.isOpen = false;
    block.bytes.closeTail();
    inOrder(
      [
        (next) => files.replaceFile(blockFiles.path(name), bytes, next),
        (next) =>
          runSliced(this.io, blockFiles.encodeIndex(name, index), (indexBytes) =>
            files.replaceFile(blockFiles.indexPath(name), indexBytes, next),
          ),
      ],
      (error) => {
        files.noteError(error);
        if (error === null && !this.isOver(store) && run.every((each) => mayReplace(store, each))) {
          this.replace(store, run, result.removed, block);
          this.compactStore(store, done);
        } else {
          block.bytes.drop();
          blockFiles.removeFiles([stemOf(name)]);
          if (error === null && !this.isOver(store)) this.note(store);
          done();
        }
      },
    );
  }

  /** What was removed meanwhile is removed from the new block too. */
  private replace(
    store: Store,
    run: readonly MessageBlock[],
    removedBefore: readonly Buffer[],
    block: MessageBlock,
  ): void {
    const { blockFiles, list } = store;
    const { statistics } = this;
    for (const [i, old] of run.entries()) {
      block.liveMessages += old.liveMessages;
      block.liveBytes += old.liveBytes;
      for (const each of old.removed.since(removedBefore[i] as Buffer)) if (block.has(each)) block.removed.add(each);
      statistics.bytesFreed += old.bytes.end;
    }
    statistics.bytesFreed -= block.bytes.end;
    statistics.bytesWritten += block.bytes.end;
    statistics.blocksWritten++;
    list.replace(run, block);
    for (const old of run) blockFiles.retire(old);
    blockFiles.files.indexes.keep(block);
    this.changed.add(store);
    this.refreshTimer ??= this.io.timers.after(this.restMs * RESTS_PER_REFRESH, () => this.refreshChanged());
  }

  private refreshChanged(): void {
    const stores = [...this.changed].filter((store) => store.hasDiscarded && !store.isGone);
    this.changed.clear();
    inOrder(this.isClosed ? [] : stores.map((store) => (next) => this.refresh(store, () => next(null))), () => {
      this.refreshTimer = null;
      if (this.changed.size > 0 && !this.isClosed) {
        this.refreshTimer = this.io.timers.after(this.restMs * RESTS_PER_REFRESH, () => this.refreshChanged());
      }
    });
  }
}

/** Nothing of the block is open, on its way, or not on the device yet. */
function mayMove({ blockFiles }: CompactedStore, block: MessageBlock): boolean {
  return blockFiles.isSaved(block) && block.hiddenMessages === 0 && block.liveMessages > 0;
}

/** The block is still there. */
function mayReplace(store: CompactedStore, block: MessageBlock): boolean {
  return store.list.at(block.firstSequence) === block && mayMove(store, block);
}
