/**
 * A disk that watches how it is used: no file is closed or used again while something is in flight on it, no file is
 * used after it was closed, and every callback comes once. Mistakes are collected, since the one who made them is not on
 * the stack when they show.
 */
import type { Disk, Done, FileHandle, Io, OpenMode } from '../../server/io/io.ts';

export class DiskWatch {
  readonly mistakes: string[] = [];
  /** Paths of files that are open. */
  readonly open: string[] = [];

  watch(io: Io): Io {
    return { ...io, disk: this.watchDisk(io.disk) };
  }

  private watchDisk(disk: Disk): Disk {
    const watched = Object.create(disk) as Disk;
    watched.open = (path, mode, done) => {
      const once = this.once(`open ${path}`, done);
      disk.open(path, mode, (error, file) => once(error, file === null ? null : this.watchFile(file, path)));
    };
    watched.openNow = (path: string, mode: OpenMode) => this.watchFile(disk.openNow(path, mode), path);
    watched.rename = (from, to, done) => disk.rename(from, to, this.once(`rename ${from}`, done));
    watched.remove = (path, done) => disk.remove(path, this.once(`remove ${path}`, done));
    watched.removeDirectory = (path, done) => disk.removeDirectory(path, this.once(`remove ${path}`, done));
    watched.makeDirectory = (path, done) => disk.makeDirectory(path, this.once(`make ${path}`, done));
    watched.syncDirectory = (path, done) => disk.syncDirectory(path, this.once(`sync ${path}`, done));
    return watched;
  }

  private once<T extends unknown[]>(what: string, done: (...results: T) => void): (...results: T) => void {
    let calls = 0;
    return (...results) => {
      calls++;
      if (calls > 1) this.mistakes.push(`${what} called back ${calls} times`);
      done(...results);
    };
  }

  private watchFile(file: FileHandle, path: string): FileHandle {
    let inFlight = 0;
    let isClosed = false;
    this.open.push(path);
    const used = (what: string): void => {
      if (isClosed) this.mistakes.push(`${what} on ${path} after it was closed`);
    };
    const begin = <T extends unknown[]>(what: string, done: (...results: T) => void): ((...results: T) => void) => {
      used(what);
      inFlight++;
      const once = this.once(`${what} on ${path}`, done);
      return (...results) => {
        inFlight--;
        once(...results);
      };
    };
    const close = (what: string): void => {
      used(what);
      if (inFlight > 0) this.mistakes.push(`${what} of ${path} with ${inFlight} operations in flight`);
      isClosed = true;
      this.open.splice(this.open.indexOf(path), 1);
    };
    return {
      write: (buffer, offset, length, position, done) =>
        file.write(buffer, offset, length, position, begin('a write', done)),
      writeNow: (buffer, offset, length, position) => {
        used('a write');
        return file.writeNow(buffer, offset, length, position);
      },
      read: (buffer, offset, length, position, done) =>
        file.read(buffer, offset, length, position, begin('a read', done)),
      readNow: (buffer, offset, length, position) => {
        used('a read');
        return file.readNow(buffer, offset, length, position);
      },
      size: (done) => file.size(begin('a question', done)),
      sync: (done: Done) => file.sync(begin('a sync', done)),
      close: (done: Done) => {
        close('the closing');
        file.close(this.once(`close ${path}`, done));
      },
      closeNow: () => {
        close('the closing');
        file.closeNow();
      },
    };
  }
}
