/**
 * What all files of one store share: the disk, the caches, how much waits to be written behind, and the errors an
 * operator has to hear of.
 *
 * Closing: what is in flight is waited for, and nothing is tried again.
 *
 * Bound: OPEN_FILES_MAX blocks have their file open, the others open it again when needed.
 */

import { Buffer } from 'node:buffer';
import type { Disk, Done, FileHandle, Io, IoError, OpenMode, Timers } from '../../server/io/io.ts';
import { BlockCache } from './block-cache.ts';
import { DamageNotes } from './damage-notes.ts';
import { IndexCache } from './index-cache.ts';
import { type PieceFile, writePieces } from './piece-writer.ts';
import { shortWrite } from './segment.ts';
import { inOrder, type Step } from './steps.ts';
import { STORE_SIZES, type StoreSizes } from './store-sizes.ts';
import { TailBuffers } from './tail-buffers.ts';

const OPEN_FILES_MAX = 128;

/** A file that can be closed and opened again. */
export interface OpenFile {
  readonly isBusy: boolean;
  closeFile(): void;
}

type Opened = (error: IoError | null, file: FileHandle | null) => void;
type Read = (error: IoError | null, bytes: Buffer | null) => void;

/**
 * Finds records in the commit log; calls back with copies of those that are there, by sequence, and whether the log could
 * be read to its end.
 */
export type FindRecords = (
  asset: number,
  sequences: ReadonlySet<number>,
  done: (found: ReadonlyMap<number, Buffer>, isWhole: boolean) => void,
) => void;

export class StoreFiles {
  readonly io: Io;
  readonly disk: Disk;
  readonly timers: Timers;
  readonly sizes: StoreSizes;
  readonly tails: TailBuffers;
  readonly cache: BlockCache;
  readonly indexes: IndexCache;
  readonly damage: DamageNotes = new DamageNotes();
  /** Bytes of blocks that are on their way to their files. */
  queuedBytes = 0;
  /** Bytes of blocks that are in their files, and in memory until they are on the device. */
  keptBytes = 0;
  /** Bytes in the tails of open blocks. */
  tailBytes = 0;
  bytesWritten = 0;
  /** Bytes of header blocks and payloads that streams were given. */
  bytesGiven = 0;
  /** Blocks that were given up, with the memory for what was in them. */
  discards = 0;
  /** The last error that did no harm, or whose harm was mended. */
  lastError: IoError | null = null;
  /** At start, where everything may block: blocks are written at once. */
  isRecovering = false;
  /** Nothing is tried again. */
  isClosing = false;
  /** Files are closed as soon as they are not needed. */
  isClosed = false;
  /** Called when a piece of a block was written. */
  onWritten: () => void = () => undefined;
  /** Called when a piece of a block could not be written. */
  onWriteFailed: () => void = () => undefined;
  /** Where records that are damaged in their block may still be found. */
  findRecords: FindRecords = (_asset, _sequences, done) => done(new Map(), true);

  private readonly failing = new Map<object, IoError>();
  /** Blocks with an open file, the one opened longest ago first. */
  private readonly opened = new Set<OpenFile>();
  private readonly unsynced = new Set<string>();
  private operations = 0;
  private whenIdle: (() => void) | null = null;

  constructor(io: Io, sizes: StoreSizes = STORE_SIZES) {
    this.io = io;
    this.disk = io.disk;
    this.timers = io.timers;
    this.sizes = sizes;
    this.tails = new TailBuffers(sizes.tailBytesMax);
    this.cache = new BlockCache(sizes.cacheBytesMax, this.tails);
    this.indexes = new IndexCache(sizes.indexBytesMax);
  }

  /** Why a block can't be written at present; `null` when all can. */
  get writeError(): IoError | null {
    if (this.failing.size === 0) return null;
    for (const error of this.failing.values()) return error;
    return null;
  }

  /** Bytes of blocks that are in memory because nothing else holds them for sure. */
  get waitingBytes(): number {
    return this.queuedBytes + this.keptBytes;
  }

  /** A piece of so many bytes of a block is in its file. */
  wrote(block: object, bytes: number): void {
    this.queuedBytes -= bytes;
    this.bytesWritten += bytes;
    this.failing.delete(block);
    this.onWritten();
  }

  /** A piece of a block could not be written; it is tried again. */
  writeFailed(block: object, error: IoError): void {
    this.failing.set(block, error);
    this.onWriteFailed();
  }

  /** The block is gone, with what could not be written. */
  forgetFailure(block: object): void {
    this.failing.delete(block);
  }

  noteError(error: IoError | null): void {
    if (error !== null) this.lastError = error;
  }

  // ── open files ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** A block opened its file: others that don't need theirs close it while there are too many. */
  noteOpened(file: OpenFile): void {
    this.opened.add(file);
    if (this.opened.size <= OPEN_FILES_MAX) return;
    for (const each of this.opened) {
      if (each === file || each.isBusy) continue;
      each.closeFile();
      if (this.opened.size <= OPEN_FILES_MAX) return;
    }
  }

  noteClosed(file: OpenFile): void {
    this.opened.delete(file);
  }

  /** An operation that closing has to wait for begins; to be followed by `ended`. */
  began(): void {
    this.operations++;
  }

  ended(): void {
    this.operations--;
    if (this.operations === 0) this.answerIdle();
  }

  /** Gives every file back; `done` when nothing is in flight any more. Whatever begins after that is refused. */
  close(done: () => void): void {
    this.isClosed = true;
    for (const each of this.opened) each.closeFile();
    this.whenIdle = done;
    if (this.operations === 0) this.answerIdle();
  }

  /** Calls back as `done`, and counts as an operation until then. */
  private counted(done: Done): Done {
    this.began();
    return (error) => {
      done(error);
      this.ended();
    };
  }

  private answerIdle(): void {
    const done = this.whenIdle;
    this.whenIdle = null;
    done?.();
  }

  // ── whole files ──────────────────────────────────────────────────────────────────────────────────────────────────

  /** Opens the file; for writing the directory is made if need be. */
  open(path: string, mode: OpenMode, done: Opened): void {
    this.disk.open(path, mode, (error, file) => {
      if (error?.code !== 'ENOENT' || mode === 'read') {
        done(error, file);
        return;
      }
      const directory = directoryOf(path);
      this.disk.makeDirectory(directory, (problem) => {
        if (problem !== null) {
          done(problem, null);
          return;
        }
        this.noteDirectory(directory);
        this.disk.open(path, mode, done);
      });
    });
  }

  /** The blocking form of `open`, for writing at start. */
  openNow(path: string): FileHandle {
    const directory = directoryOf(path);
    if (this.disk.statusNow(directory) === null) {
      this.disk.makeDirectoryNow(directory);
      this.noteDirectory(directory);
    }
    return this.disk.openNow(path, 'write');
  }

  /** The directory is there, but its name may not be on the device. */
  noteDirectory(directory: string): void {
    this.unsynced.add(directory);
  }

  /** Makes the names in the directory durable, and its own. */
  syncNames(directory: string, done: Done): void {
    const parent = directoryOf(directory);
    const covered = this.unsynced.has(directory)
      ? [...this.unsynced].filter((each) => directoryOf(each) === parent)
      : [];
    const syncParent: Step = (next) => {
      this.disk.syncDirectory(parent, (error) => {
        if (error === null) for (const each of covered) this.unsynced.delete(each);
        next(error);
      });
    };
    inOrder(
      [...(covered.length > 0 ? [syncParent] : []), (next) => this.disk.syncDirectory(directory, next)],
      this.counted(done),
    );
  }

  /** Puts a file with these bytes in the place of `path`: temporary file, sync, rename, sync of the directory. */
  replaceFile(path: string, bytes: Buffer, done: Done): void {
    const temporary = `${path}.new`;
    const finish = this.counted(done);
    this.writeNew(temporary, bytes, (writeError) => {
      if (writeError !== null) {
        this.disk.remove(temporary, () => finish(writeError));
        return;
      }
      inOrder(
        [(next) => this.disk.rename(temporary, path, next), (next) => this.syncNames(directoryOf(path), next)],
        finish,
      );
    });
  }

  /**
   * Puts a file in the place of `path`, of which an older or newer copy stands elsewhere; the names are left to the caller.
   * What was there goes first: on a full disk there may be no room for both. What is half written when it all ends has
   * another name, so that whatever can't be read under this one is damaged.
   */
  replaceCopy(path: string, file: PieceFile, done: Done): void {
    const temporary = `${path}.new`;
    const finish = this.counted(done);
    const write: Step = (next) => {
      this.open(temporary, 'replace', (error, handle) => {
        if (handle === null) next(error);
        else writePieces(handle, file, (bytes) => (this.bytesWritten += bytes), next);
      });
    };
    const steps: Step[] = [
      (next) => this.disk.remove(path, (error) => next(error?.code === 'ENOENT' ? null : error)),
      write,
      (next) => this.disk.rename(temporary, path, next),
    ];
    inOrder(steps, (error) => {
      if (error === null) finish(null);
      else this.disk.remove(temporary, () => finish(error));
    });
  }

  /** Brings what an earlier process wrote to the device. */
  syncFile(path: string, done: Done): void {
    const finish = this.counted(done);
    this.disk.open(path, 'read', (openError, file) => {
      if (file === null) finish(openError);
      else file.sync((syncError) => file.close((closeError) => finish(syncError ?? closeError)));
    });
  }

  /** Writes these bytes into a file that is there, and syncs it. */
  patchFile(path: string, offset: number, bytes: Buffer): void {
    const finish = this.counted((error) => this.noteError(error));
    this.disk.open(path, 'write', (openError, file) => {
      if (file === null) {
        finish(openError);
        return;
      }
      file.write(bytes, 0, bytes.length, offset, (writeError) => {
        file.sync((syncError) => file.close((closeError) => finish(writeError ?? syncError ?? closeError)));
      });
    });
  }

  /** Removes a file; one that is not there is fine. */
  removeFile(path: string): void {
    const finish = this.counted((error) => this.noteError(error));
    this.disk.remove(path, (error) => finish(error?.code === 'ENOENT' ? null : error));
  }

  /** The bytes of a file, `null` with an error when it can't be read. */
  readFile(path: string, done: Read): void {
    this.began();
    const finish: Read = (error, bytes) => {
      done(error, bytes);
      this.ended();
    };
    this.disk.open(path, 'read', (openError, file) => {
      if (file === null) {
        finish(openError, null);
        return;
      }
      file.size((sizeError, size) => {
        if (sizeError === null) this.readWhole(file, size, finish);
        else file.close(() => finish(sizeError, null));
      });
    });
  }

  private readWhole(file: FileHandle, size: number, done: Read): void {
    const bytes = Buffer.allocUnsafeSlow(size);
    file.read(bytes, 0, size, 0, (readError, read) => {
      file.close((closeError) => {
        const error = readError ?? closeError ?? shortRead(read, size);
        done(error, error === null ? bytes : null);
      });
    });
  }

  private writeNew(path: string, bytes: Buffer, done: Done): void {
    this.open(path, 'replace', (openError, file) => {
      if (file === null) {
        done(openError);
        return;
      }
      file.write(bytes, 0, bytes.length, 0, (writeError, written) => {
        const problem = writeError ?? shortWrite(written, bytes.length);
        if (problem !== null) {
          file.close(() => done(problem));
          return;
        }
        this.bytesWritten += bytes.length;
        file.sync((syncError) => {
          file.close((closeError) => done(syncError ?? closeError));
        });
      });
    });
  }
}

function shortRead(read: number, expected: number): IoError | null {
  if (read === expected) return null;
  return Object.assign(new Error(`short read: ${read} of ${expected} bytes`), { code: 'ESHORT' });
}

export function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
