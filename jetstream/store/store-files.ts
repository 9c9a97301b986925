/**
 * What all files of one store share: the disk, the cache of blocks, how much waits to be written behind, and the errors
 * an operator has to hear of.
 */

import { Buffer } from 'node:buffer';
import type { Disk, Done, FileHandle, IoError, OpenMode, Timers } from '../../server/io/io.ts';
import { BlockCache } from './block-cache.ts';
import { shortWrite } from './segment.ts';
import { inOrder } from './steps.ts';

const OPEN_FILES_MAX = 128;

/** A file that can be closed and opened again. */
export interface OpenFile {
  readonly isBusy: boolean;
  closeFile(): void;
}

export class StoreFiles {
  readonly disk: Disk;
  readonly timers: Timers;
  readonly cache: BlockCache = new BlockCache();
  /** Bytes of blocks that are not in their files yet. */
  queuedBytes = 0;
  bytesWritten = 0;
  /** Why blocks can't be written at present; `null` when they can. */
  writeError: IoError | null = null;
  /** The last error that did no harm, or whose harm was mended. */
  lastError: IoError | null = null;

  /** Blocks with an open file, the one opened longest ago first. */
  private readonly opened = new Set<OpenFile>();

  constructor(disk: Disk, timers: Timers) {
    this.disk = disk;
    this.timers = timers;
  }

  wrote(bytes: number): void {
    this.queuedBytes -= bytes;
    this.bytesWritten += bytes;
    this.writeError = null;
  }

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

  /** Opens the file; for writing the directory is made if need be, durably under its name. */
  open(path: string, mode: OpenMode, done: (error: IoError | null, file: FileHandle | null) => void): void {
    this.disk.open(path, mode, (error, file) => {
      if (error?.code !== 'ENOENT' || mode === 'read') {
        done(error, file);
        return;
      }
      const directory = directoryOf(path);
      inOrder(
        [
          (next) => this.disk.makeDirectory(directory, next),
          (next) => this.disk.syncDirectory(directoryOf(directory), next),
        ],
        (problem) => {
          if (problem === null) this.disk.open(path, mode, done);
          else done(problem, null);
        },
      );
    });
  }

  noteError(error: IoError | null): void {
    if (error !== null) this.lastError = error;
  }

  /** Puts a file with these bytes in the place of `path`: temporary file, sync, rename, sync of the directory. */
  replaceFile(path: string, bytes: Buffer, done: Done): void {
    const temporary = `${path}.new`;
    this.open(temporary, 'replace', (openError, file) => {
      if (file === null) {
        done(openError);
        return;
      }
      this.writeWhole(file, bytes, (writeError) => {
        if (writeError !== null) {
          this.disk.remove(temporary, () => done(writeError));
          return;
        }
        this.disk.rename(temporary, path, (renameError) => {
          if (renameError === null) this.disk.syncDirectory(directoryOf(path), done);
          else done(renameError);
        });
      });
    });
  }

  /** Writes a file in place and syncs it; for files of which another copy stands. */
  writeFile(path: string, bytes: Buffer, done: Done): void {
    this.open(path, 'replace', (error, file) => {
      if (file === null) done(error);
      else this.writeWhole(file, bytes, done);
    });
  }

  /** The bytes of a file, `null` with an error when it can't be read. */
  readFile(path: string, done: (error: IoError | null, bytes: Buffer | null) => void): void {
    this.disk.open(path, 'read', (openError, file) => {
      if (file === null) {
        done(openError, null);
        return;
      }
      file.size((sizeError, size) => {
        if (sizeError === null) this.readWhole(file, size, done);
        else file.close(() => done(sizeError, null));
      });
    });
  }

  private readWhole(file: FileHandle, size: number, done: (error: IoError | null, bytes: Buffer | null) => void): void {
    const bytes = Buffer.allocUnsafeSlow(size);
    file.read(bytes, 0, size, 0, (readError, read) => {
      file.close((closeError) => {
        const error = readError ?? closeError ?? shortRead(read, size);
        done(error, error === null ? bytes : null);
      });
    });
  }

  private writeWhole(file: FileHandle, bytes: Buffer, done: Done): void {
    file.write(bytes, 0, bytes.length, 0, (writeError, written) => {
      const problem = writeError ?? shortWrite(written, bytes.length);
      if (problem !== null) {
        file.close(() => done(problem));
        return;
      }
      file.sync((syncError) => {
        file.close((closeError) => done(syncError ?? closeError));
      });
    });
    this.bytesWritten += bytes.length;
  }
}

function shortRead(read: number, expected: number): IoError | null {
  if (read === expected) return null;
  return Object.assign(new Error(`short read: ${read} of ${expected} bytes`), { code: 'ESHORT' });
}

export function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
