/**
 * Files and folders of the host. Run-time operations go through the runtime's thread pool; the ones that end in `Now`
 * block and are for start-up, and for `writeNow` in stores that do not wait for the device.
 */

import fs from 'node:fs';
import path from 'node:path';
import { lockFile } from './file-lock.ts';
import type { Disk, Done, FileHandle, FileLock, FileStatus, IoError, OpenMode } from './io.ts';

const { O_RDONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_DSYNC } = fs.constants;

/**
 * Replaced when the binary is built: `true`, and `false` only in one that is built to see that a test notices a missing
 * sync. The sources run without a bundler have no such name. Nothing in a running petiole can change it.
 */
declare const __PETIOLE_SYNC__: boolean;
const SYNCED = typeof __PETIOLE_SYNC__ === 'undefined' || __PETIOLE_SYNC__ ? O_DSYNC : 0;

const OPEN_FLAGS: Readonly<Record<OpenMode, number>> = {
  read: O_RDONLY,
  create: O_RDWR | O_CREAT | O_EXCL,
  write: O_RDWR | O_CREAT,
  replace: O_RDWR | O_CREAT | O_TRUNC,
  'write-synced': O_RDWR | O_CREAT | SYNCED,
};
const FILE_MODE = 0o640;
const DIRECTORY_MODE = 0o750;

class RealFile implements FileHandle {
  private readonly descriptor: number;

  constructor(descriptor: number) {
    this.descriptor = descriptor;
  }

  write(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
    done: (error: IoError | null, written: number) => void,
  ): void {
    fs.write(this.descriptor, buffer, offset, length, position, done);
  }

  writeNow(buffer: Uint8Array, offset: number, length: number, position: number): number {
    return fs.writeSync(this.descriptor, buffer, offset, length, position);
  }

  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
    done: (error: IoError | null, read: number) => void,
  ): void {
    fs.read(this.descriptor, buffer, offset, length, position, done);
  }

  size(done: (error: IoError | null, bytes: number) => void): void {
    fs.fstat(this.descriptor, (error, status) => done(error, error === null ? status.size : 0));
  }

  readNow(buffer: Uint8Array, offset: number, length: number, position: number): number {
    return fs.readSync(this.descriptor, buffer, offset, length, position);
  }

  sync(done: Done): void {
    fs.fdatasync(this.descriptor, done);
  }

  close(done: Done): void {
    fs.close(this.descriptor, (error) => done(error ?? null));
  }

  closeNow(): void {
    fs.closeSync(this.descriptor);
  }
}

export class RealDisk implements Disk {
  readFileNow(file: string): Buffer {
    return fs.readFileSync(file);
  }

  readDirectoryNow(directory: string): string[] {
    return fs.readdirSync(directory);
  }

  makeDirectoryNow(directory: string): void {
    const absolute = path.resolve(directory);
    const missing: string[] = [];
    for (let each = absolute; !isDirectory(each); each = path.dirname(each)) missing.push(each);
    for (const each of missing.reverse()) {
      fs.mkdirSync(each, { mode: DIRECTORY_MODE });
      syncDirectoryNow(path.dirname(each));
    }
  }

  writeFileNow(file: string, bytes: Uint8Array): void {
    const temporary = `${file}.new`;
    fs.writeFileSync(temporary, bytes, { mode: FILE_MODE, flush: true });
    fs.renameSync(temporary, file);
    syncDirectoryNow(path.dirname(file));
  }

  statusNow(file: string): FileStatus | null {
    const status = fs.statSync(file, { throwIfNoEntry: false });
    return status === undefined ? null : { bytes: status.size, isDirectory: status.isDirectory() };
  }

  openNow(file: string, mode: OpenMode): FileHandle {
    return new RealFile(fs.openSync(file, OPEN_FLAGS[mode], FILE_MODE));
  }

  lockNow(file: string): FileLock | null {
    return lockFile(file);
  }

  freeBytesNow(file: string): number {
    const status = fs.statfsSync(file);
    return status.bavail * status.bsize;
  }

  open(file: string, mode: OpenMode, done: (error: IoError | null, file: FileHandle | null) => void): void {
    fs.open(file, OPEN_FLAGS[mode], FILE_MODE, (error, descriptor) => {
      if (error) done(error, null);
      else done(null, new RealFile(descriptor));
    });
  }

  rename(from: string, to: string, done: Done): void {
    fs.rename(from, to, done);
  }

  remove(file: string, done: Done): void {
    fs.unlink(file, done);
  }

  removeDirectory(directory: string, done: Done): void {
    fs.rm(directory, { recursive: true }, done);
  }

  /** The runtime's own way to make parents never ends where a file system has no such names (below /proc). */
  makeDirectory(directory: string, done: Done): void {
    const parent = path.dirname(path.resolve(directory));
    fs.mkdir(directory, { mode: DIRECTORY_MODE }, (error) => {
      if (error?.code === 'ENOENT' && !isDirectory(parent)) {
        this.makeDirectory(parent, (parentError) => {
          if (parentError === null) fs.mkdir(directory, { mode: DIRECTORY_MODE }, (again) => done(again));
          else done(parentError);
        });
      } else done(error?.code === 'EEXIST' && isDirectory(directory) ? null : error);
    });
  }

  syncDirectory(directory: string, done: Done): void {
    fs.open(path.resolve(directory), O_RDONLY, (openError, descriptor) => {
      if (openError) {
        done(openError);
        return;
      }
      fs.fsync(descriptor, (syncError) => {
        fs.close(descriptor, (closeError) => done(syncError ?? closeError ?? null));
      });
    });
  }
}

function isDirectory(directory: string): boolean {
  return fs.statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true;
}

function syncDirectoryNow(directory: string): void {
  const descriptor = fs.openSync(directory, O_RDONLY);
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}
