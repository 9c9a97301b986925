/**
 * The files of one stream's blocks: `000001.blk` and, once a block is closed, its index `000001.idx`; `000001-2.blk` and
 * `000001-2.idx` after it was written anew for the second time.
 *
 * A closed block is synced and its index written in the background; until then the index stays in memory, and checkpoints
 * carry it. A block of which nothing is visible any more loses its file at once: that its messages are gone is in the
 * log. Its index stays until no checkpoint names the block, so that what happened since can be replayed exactly.
 */

import { Buffer } from 'node:buffer';
import type { IoError } from '../../server/io/io.ts';
import { runSliced } from '../../server/io/slicer.ts';
import { copyReadable } from './block-copy.ts';
import type { IsSure } from './block-move.ts';
import { BlockEraser } from './block-eraser.ts';
import type { BlockHeader } from './block-header.ts';
import type { BlockIndex } from './block-index.ts';
import { BlockIndexFile, blockIndexBytes } from './block-index-file.ts';
import type { BlockList } from './block-list.ts';
import { CountedFile } from './counted-file.ts';
import { FileBlockBytes } from './file-block-bytes.ts';
import { indexOfRecords } from './index-rebuild.ts';
import type { BlockName, MessageBlock } from './message-block.ts';
import { isRecordOf } from './record.ts';
import type { StoreFiles } from './store-files.ts';
import type { SubjectIndex } from './subject-index.ts';
import { readFileTolerantly, readRangeTolerantly } from './tolerant-read.ts';

const RETRY_MS = 250;
/** So often an index that the disk fails to read is tried before its block is read instead: a minute. */
const INDEX_ATTEMPTS = 240;
const NOTHING = Buffer.alloc(0);

export class BlockFiles {
  readonly files: StoreFiles;
  readonly directory: string;
  /** Called when an index was made anew from records: some may be missing. */
  onRebuilt: (block: MessageBlock) => void = () => undefined;
  /** The sequence of the last message that is visible. */
  lastVisible: () => number = () => Infinity;
  private readonly stream: number;
  private readonly list: BlockList;
  private readonly subjects: SubjectIndex;
  /** Closed blocks whose index file is not written yet. */
  readonly eraser: BlockEraser;
  private readonly unsaved = new Set<MessageBlock>();
  /** How often the disk failed to read the index of a block, or the block instead. */
  private readonly failedLoads = new Map<MessageBlock, number>();
  private emptied: string[] = [];
  /** Closed blocks whose files were found wanting at start, and what to say of that. */
  private readonly wanting: { readonly block: MessageBlock; readonly note: string }[] = [];
  /** What to say of the directory that was found wanting. */
  private directoryNote: string | null = null;

  constructor(files: StoreFiles, stream: number, directory: string, list: BlockList, subjects: SubjectIndex) {
    this.files = files;
    this.eraser = new BlockEraser(files);
    this.stream = stream;
    this.directory = directory;
    this.list = list;
    this.subjects = subjects;
  }

  path(block: BlockName): string {
    return `${this.directory}/${stemOf(block)}.blk`;
  }

  indexPath(block: BlockName): string {
    return `${this.directory}/${stemOf(block)}.idx`;
  }

  headerOf({ number }: BlockName, firstSequence: number): BlockHeader {
    return { stream: this.stream, block: number, firstSequence };
  }

  /** The bytes of a new block, or of one whose file holds everything below `end`. */
  bytesOf(block: BlockName, firstSequence: number, end: number): FileBlockBytes {
    const header = this.headerOf(block, firstSequence);
    return new FileBlockBytes(this.files, this.eraser, this.path(block), header, end, (bytes, isSure, done) =>
      this.mend(block.number, bytes, isSure, done),
    );
  }

  // ── closed blocks ────────────────────────────────────────────────────────────────────────────────────────────────

  /** The block is closed: brings it and its index to the device. */
  save(block: MessageBlock): void {
    this.unsaved.add(block);
    // Until it is there its index stays in memory.
    this.files.indexes.drop(block);
    if (!this.files.isRecovering) this.bringToDevice(block);
  }

  /**
   * At start a file of this closed block is not what the checkpoint says. That is damage only if the block is there still
   * when the log is read: files are removed as soon as nothing in them is visible, before a checkpoint says so.
   */
  suspect(block: MessageBlock, note: string): void {
    this.wanting.push({ block, note });
  }

  /**
   * At start the directory is not what it ought to be. That is damage only if the stream is there still when the log is
   * read: a deleted stream's directory goes before the catalog says so.
   */
  suspectDirectory(note: string): void {
    this.directoryNote = note;
  }

  /** The log is read. At start nothing is brought to the device in the background; that begins now. */
  recovered(): void {
    if (this.directoryNote !== null) this.files.damage.note(this.directoryNote);
    for (const { block, note } of this.wanting.splice(0)) {
      if (!this.emptied.includes(stemOf(block))) this.files.damage.note(note);
    }
    for (const block of this.unsaved) this.bringToDevice(block);
  }

  private bringToDevice(block: MessageBlock): void {
    block.bytes.sync((syncError) => {
      if (!this.unsaved.has(block)) return;
      if (syncError === null) this.writeIndex(block);
      else this.retrySave(block, syncError);
    });
  }

  private writeIndex(block: MessageBlock): void {
    const { files } = this;
    files.began();
    runSliced(files.io, this.encodeIndex(block, block.index as BlockIndex), (bytes) => {
      if (this.unsaved.has(block)) {
        files.replaceFile(this.indexPath(block), bytes, (error) => {
          if (!this.unsaved.has(block)) return;
          if (error === null) this.saved(block);
          else this.retrySave(block, error);
        });
      }
      files.ended();
    });
  }

  private retrySave(block: MessageBlock, error: IoError): void {
    this.files.noteError(error);
    if (this.files.isClosing) return;
    this.files.timers.after(RETRY_MS, () => {
      if (this.unsaved.has(block) && !this.files.isClosing) this.bringToDevice(block);
    });
  }

  private saved(block: MessageBlock): void {
    this.unsaved.delete(block);
    this.files.indexes.keep(block);
  }

  /** Whether the block's index stands in a file of its own. */
  isSaved(block: MessageBlock): boolean {
    return !block.isOpen && !this.unsaved.has(block);
  }

  /** The block's index file, in pieces of work; `index` takes no more records. */
  encodeIndex(block: BlockName, index: BlockIndex): Generator<void, Buffer> {
    return blockIndexBytes(this.stream, block.number, index, this.subjects);
  }

  /** The index in these bytes, if it is that of the block. */
  decodeIndex(block: number, bytes: Buffer): BlockIndexFile | null {
    return BlockIndexFile.of(bytes, this.stream, block, this.subjects);
  }

  // ── blocks that are gone ─────────────────────────────────────────────────────────────────────────────────────────

  /** Nothing in the block is visible any more. */
  discard(block: MessageBlock): void {
    this.retire(block);
    this.files.removeFile(this.path(block));
  }

  /** The block is not used any more; a checkpoint may name it. */
  retire(block: MessageBlock): void {
    this.files.discards++;
    block.bytes.drop();
    this.files.indexes.drop(block);
    this.unsaved.delete(block);
    this.emptied.push(stemOf(block));
  }

  /** Files wait for a checkpoint that does not name them. */
  get hasDiscarded(): boolean {
    return this.emptied.length > 0;
  }

  /** The blocks discarded so far: a checkpoint of the present state does not name them. */
  takeDiscarded(): string[] {
    const { emptied } = this;
    this.emptied = [];
    return emptied;
  }

  /** No checkpoint was written after all. */
  returnDiscarded(blocks: readonly string[]): void {
    this.emptied.push(...blocks);
  }

  /** No checkpoint names these blocks any more. */
  removeFiles(stems: readonly string[]): void {
    for (const stem of stems) {
      this.files.removeFile(`${this.directory}/${stem}.idx`);
      this.files.removeFile(`${this.directory}/${stem}.blk`);
    }
  }

  /** The block's file is not needed any more for now. */
  release(block: MessageBlock): void {
    (block.bytes as FileBlockBytes).closeFile();
  }

  removeDirectory(done: () => void): void {
    this.files.discards++;
    this.unsaved.clear();
    this.files.disk.removeDirectory(this.directory, (error) => {
      this.files.noteError(error?.code === 'ENOENT' ? null : error);
      done();
    });
  }

  // ── indexes of closed blocks ─────────────────────────────────────────────────────────────────────────────────────

  /** The index file of a closed block, read at start; `null` when it is gone or damaged. */
  readIndexFileNow(block: BlockName): BlockIndexFile | null {
    const bytes = readFileTolerantly(this.files.disk, this.indexPath(block));
    return bytes === null ? null : this.decodeIndex(block.number, bytes);
  }

  /** Makes the index of a block anew from its records, at start. */
  rebuildIndexNow(block: MessageBlock): BlockIndex {
    const { disk } = this.files;
    const records = readRangeTolerantly(disk, this.path(block), 0, block.bytes.end) ?? NOTHING;
    this.unsaved.add(block);
    return indexOfRecords(records, block.firstSequence, block.bytes.end, this.subjects);
  }

  /** Brings the index of a closed block into memory; calls back in any case. */
  loadIndex(block: MessageBlock, done: () => void): void {
    if (this.files.isRecovering) {
      block.index = this.readIndexFileNow(block)?.index() ?? this.rebuildIndexNow(block);
      if (this.isSaved(block)) this.files.indexes.keep(block);
      done();
      return;
    }
    this.files.readFile(this.indexPath(block), (error, bytes) => {
      const index = bytes === null ? null : this.decodeIndex(block.number, bytes)?.index();
      if (index === undefined || index === null) {
        this.files.noteError(error);
        if (error === null || error.code === 'ENOENT' || !this.rests(block, done)) this.recoverIndex(block, done);
        return;
      }
      this.failedLoads.delete(block);
      // Somebody else who needed it may have had to make it anew meanwhile.
      if (this.isSaved(block)) {
        block.index = index;
        this.files.indexes.keep(block);
      }
      done();
    });
  }

  /** The index file is gone or damaged: its block's records tell the same, as far as they can be read. */
  private recoverIndex(block: MessageBlock, done: () => void): void {
    const { files } = this;
    this.readBlock(block, (error, bytes, isWhole) => {
      if (bytes === null && error?.code !== 'ENOENT') {
        files.noteError(error);
        files.timers.after(RETRY_MS, done);
      } else if (bytes === null || isWhole || !this.rests(block, done))
        this.rebuildIndex(block, bytes ?? NOTHING, done);
    });
  }

  /**
   * Calls back after a rest, so that whoever needs the index asks again; false when there were enough of them. A disk
   * that fails to read now may well read the next time, and an index made without some records loses them.
   */
  private rests(block: MessageBlock, done: () => void): boolean {
    const failures = (this.failedLoads.get(block) ?? 0) + 1;
    this.failedLoads.set(block, failures);
    if (failures > INDEX_ATTEMPTS) return false;
    this.files.timers.after(RETRY_MS, done);
    return true;
  }

  /** The bytes of a closed block, zeros where they can't be read; `null` when its file can't be opened. */
  readBlock(block: MessageBlock, done: (error: IoError | null, bytes: Buffer | null, isWhole: boolean) => void): void {
    const { files } = this;
    files.began();
    files.disk.open(this.path(block), 'read', (error, handle) => {
      if (handle === null) {
        done(error, null, false);
        files.ended();
        return;
      }
      const file = new CountedFile(handle);
      copyReadable(file, block.bytes.end, (bytes, isWhole) => {
        file.close((closeError) => {
          files.noteError(closeError);
          done(null, bytes, isWhole);
          files.ended();
        });
      });
    });
  }

  private rebuildIndex(block: MessageBlock, bytes: Buffer, done: () => void): void {
    block.index = indexOfRecords(bytes, block.firstSequence, block.bytes.end, this.subjects);
    this.failedLoads.delete(block);
    this.onRebuilt(block);
    this.save(block);
    done();
  }

  // ── damage ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Looks for a damaged record in the log and puts it back; tells whether it was there, `null` when that is not known. */
  heal(block: MessageBlock, sequence: number, done: (isHealed: boolean | null) => void): void {
    this.files.findRecords(this.stream, new Set([sequence]), (found, isWhole) => {
      const record = found.get(sequence);
      const offset = block.index?.offset(sequence);
      const isHealed = record !== undefined && offset !== undefined && record.length <= block.recordBytes(sequence);
      if (isHealed) (block.bytes as FileBlockBytes).heal(offset, record);
      done(isHealed || isWhole ? isHealed : null);
    });
  }

  /** Takes from the log what is damaged or not sure in these first bytes of a block. */
  private mend(number: number, bytes: Buffer, isSure: IsSure, done: (unsettled: number) => void): void {
    const block = this.list.blocks.find((each) => each.number === number);
    const index = block?.index;
    if (block === undefined || index === undefined || index === null) {
      done(0);
      return;
    }
    const damaged = new Set<number>();
    const doubtful = new Set<number>();
    for (let each = index.firstSequence; each <= block.lastSequence; each++) {
      if (!block.has(each)) continue;
      const offset = index.offset(each);
      const end = offset + block.recordBytes(each);
      if (end > bytes.length) break;
      if (!isRecordOf(each, bytes, offset, end - offset)) damaged.add(each);
      else if (!isSure(offset, end)) doubtful.add(each);
    }
    if (damaged.size + doubtful.size === 0) {
      done(0);
      return;
    }
    this.files.findRecords(this.stream, new Set([...damaged, ...doubtful]), (found, isWhole) => {
      for (const [sequence, record] of found) record.copy(bytes, index.offset(sequence));
      // What is not durable yet is not in the log yet.
      const isUnsettled = (sequence: number): boolean =>
        !found.has(sequence) && (damaged.has(sequence) || sequence > this.lastVisible() || !isWhole);
      done([...damaged, ...doubtful].filter(isUnsettled).length);
    });
  }
}

/** What the names of the block's files begin with. */
export function stemOf({ number, generation }: BlockName): string {
  const stem = String(number).padStart(6, '0');
  return generation === 0 ? stem : `${stem}-${generation}`;
}

/** The block that a file with this name belongs to; `null` when it is no block's. */
export function blockOfFile(name: string): BlockName | null {
  const found = /^(\d{6,})(?:-(\d+))?\.(?:blk|idx)$/.exec(name);
  return found === null ? null : { number: Number(found[1]), generation: Number(found[2] ?? 0) };
}
