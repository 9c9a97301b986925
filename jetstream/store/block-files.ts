/**
 * The files of one stream's blocks: `000001.blk` and, once a block is closed, its index `000001.idx`.
 *
 * A closed block is synced and its index written in the background; until then the index stays in memory. Of the indexes
 * that are on disk INDEXES_KEPT stay in memory too, the ones used last. Files of blocks that nothing refers to any more
 * are removed after the next checkpoint, since the last one may still name them.
 */

import { Buffer } from 'node:buffer';
import type { Done, IoError } from '../../server/io/io.ts';
import type { BlockIndex } from './block-index.ts';
import { decodeBlockIndex, encodeBlockIndex } from './block-index-file.ts';
import { FileBlockBytes } from './file-block-bytes.ts';
import type { MessageBlock } from './message-block.ts';
import { indexOfRecords, readRangeNow } from './index-rebuild.ts';
import { inOrder } from './steps.ts';
import type { StoreFiles } from './store-files.ts';
import type { SubjectIndex } from './subject-index.ts';

const INDEXES_KEPT = 16;
const RETRY_MS = 250;

export class BlockFiles {
  readonly files: StoreFiles;
  readonly directory: string;
  private readonly stream: number;
  private readonly subjects: SubjectIndex;
  /** Closed blocks whose index file is not written yet. */
  private readonly unsaved = new Set<MessageBlock>();
  private readonly emptied: MessageBlock[] = [];
  /** Closed blocks with an index file and their index in memory, the one used longest ago first. */
  private readonly resident = new Set<MessageBlock>();
  private readonly loading = new Map<MessageBlock, (() => void)[]>();
  private settled: Done[] = [];

  constructor(files: StoreFiles, stream: number, directory: string, subjects: SubjectIndex) {
    this.files = files;
    this.stream = stream;
    this.directory = directory;
    this.subjects = subjects;
  }

  path(block: number): string {
    return `${this.directory}/${String(block).padStart(6, '0')}.blk`;
  }

  private indexPath(block: number): string {
    return `${this.directory}/${String(block).padStart(6, '0')}.idx`;
  }

  /** The bytes of a new block, or of one whose file holds everything below `end`. */
  bytesOf(block: number, firstSequence: number, end: number): FileBlockBytes {
    return new FileBlockBytes(this.files, this.path(block), { stream: this.stream, block, firstSequence }, end);
  }

  /** The block is closed: brings it and its index to the device. */
  save(block: MessageBlock): void {
    this.unsaved.add(block);
    block.bytes.sync((syncError) => {
      if (!this.unsaved.has(block)) return;
      if (syncError !== null) {
        this.retrySave(block, syncError);
        return;
      }
      const bytes = this.encodeIndex(block, block.index as BlockIndex);
      this.files.replaceFile(this.indexPath(block.number), bytes, (error) => {
        if (!this.unsaved.has(block)) return;
        if (error === null) this.saved(block);
        else this.retrySave(block, error);
      });
    });
  }

  encodeIndex(block: MessageBlock, index: BlockIndex): Buffer {
    return encodeBlockIndex(this.stream, block.number, index, this.subjects);
  }

  get isLoading(): boolean {
    return this.loading.size > 0;
  }

  private retrySave(block: MessageBlock, error: IoError): void {
    this.files.writeError = error;
    this.files.timers.after(RETRY_MS, () => {
      if (this.unsaved.has(block)) this.save(block);
    });
  }

  private saved(block: MessageBlock): void {
    this.unsaved.delete(block);
    this.keepResident(block);
    this.answerSettled();
  }

  /** `done` runs when every closed block is on the device with its index. */
  settle(done: Done): void {
    this.settled.push(done);
    this.answerSettled();
  }

  private answerSettled(): void {
    if (this.unsaved.size > 0) return;
    const { settled } = this;
    this.settled = [];
    for (const done of settled) done(null);
  }

  /** Nothing in the block is visible any more. */
  discard(block: MessageBlock): void {
    block.bytes.drop();
    this.resident.delete(block);
    this.unsaved.delete(block);
    this.emptied.push(block);
    this.answerSettled();
  }

  /** The blocks discarded so far, whose files may go once a checkpoint no longer names them. */
  takeDiscarded(): MessageBlock[] {
    return this.emptied.splice(0);
  }

  /** No checkpoint was written after all: their files stay for the next one. */
  returnDiscarded(blocks: readonly MessageBlock[]): void {
    this.emptied.unshift(...blocks);
  }

  /** The block's file is not needed any more for now. */
  release(block: MessageBlock): void {
    (block.bytes as FileBlockBytes).closeFile();
  }

  removeDirectory(done: () => void): void {
    this.unsaved.clear();
    this.resident.clear();
    this.files.disk.removeDirectory(this.directory, (error) => {
      this.files.noteError(error);
      done();
    });
  }

  removeFiles(blocks: readonly MessageBlock[]): void {
    for (const { number } of blocks) {
      for (const path of [this.path(number), this.indexPath(number)]) {
        this.files.disk.remove(path, (error) => {
          if (error !== null && error.code !== 'ENOENT') this.files.noteError(error);
        });
      }
    }
  }

  /** The index of a closed block, read at start; rebuilt from its records when the file is damaged. */
  readIndexNow(block: MessageBlock, end: number): BlockIndex {
    const path = this.indexPath(block.number);
    const { disk } = this.files;
    const bytes = disk.statusNow(path) === null ? null : disk.readFileNow(path);
    const index = bytes === null ? null : decodeBlockIndex(bytes, this.subjects);
    if (index !== null) return index;
    const records = readRangeNow(disk, this.path(block.number), 0, end);
    return indexOfRecords(records ?? Buffer.alloc(0), block.firstSequence, end, this.subjects);
  }

  /** Notes that the index is in memory and on disk; gives back the one used longest ago when there are too many. */
  keepResident(block: MessageBlock): void {
    this.resident.delete(block);
    this.resident.add(block);
    for (const oldest of this.resident) {
      if (this.resident.size <= INDEXES_KEPT) return;
      this.resident.delete(oldest);
      oldest.index = null;
    }
  }

  /** Brings the index of a closed block into memory; calls back in any case. */
  loadIndex(block: MessageBlock, done: () => void): void {
    const waiting = this.loading.get(block);
    if (waiting !== undefined) {
      waiting.push(done);
      return;
    }
    this.loading.set(block, [done]);
    this.files.readFile(this.indexPath(block.number), (error, bytes) => {
      const index = bytes === null ? null : decodeBlockIndex(bytes, this.subjects);
      if (index === null) this.recoverIndex(block, error);
      else this.loadedIndex(block, index);
    });
  }

  /** The index file is gone or damaged: its block's records tell the same. */
  private recoverIndex(block: MessageBlock, cause: IoError | null): void {
    this.files.noteError(cause);
    this.files.readFile(this.path(block.number), (error, bytes) => {
      if (bytes === null) {
        this.files.noteError(error);
        this.answerLoad(block);
      } else this.loadedIndex(block, indexOfRecords(bytes, block.firstSequence, block.bytes.end, this.subjects));
    });
  }

  private loadedIndex(block: MessageBlock, index: BlockIndex): void {
    block.index = index;
    this.keepResident(block);
    this.answerLoad(block);
  }

  private answerLoad(block: MessageBlock): void {
    const waiting = this.loading.get(block) ?? [];
    this.loading.delete(block);
    for (const done of waiting) done();
  }
}

/** Syncs the blocks one after the other; the first error ends it. */
export function syncAll(blocks: readonly MessageBlock[], done: Done): void {
  inOrder(
    blocks.map((block) => (next) => block.bytes.sync(next)),
    done,
  );
}
