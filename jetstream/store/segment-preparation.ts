/**
 * Makes one segment file: zeros, durable under its name, then opened as the log writes it. The zeros are written in
 * pieces of ZEROS_BYTES, so that whatever else the disk is asked for comes in between.
 */

import { Buffer } from 'node:buffer';
import type { Disk, Done, FileHandle, IoError, OpenMode } from '../../server/io/io.ts';
import { shortWrite } from './segment.ts';

const ZEROS_BYTES = 256 * 1024;
const ZEROS = Buffer.alloc(ZEROS_BYTES);

type Opened = (error: IoError | null, file: FileHandle | null) => void;

export class SegmentPreparation {
  /** Asked between pieces; the file is removed when the answer is no. */
  isWanted: () => boolean = () => true;
  private readonly disk: Disk;
  private readonly path: string;
  private readonly bytes: number;
  private readonly mode: OpenMode;
  private readonly directories: readonly string[];

  /** `directories` are synced when the file is whole. */
  constructor(disk: Disk, path: string, bytes: number, mode: OpenMode, directories: readonly string[]) {
    this.disk = disk;
    this.path = path;
    this.bytes = bytes;
    this.mode = mode;
    this.directories = directories;
  }

  /** Calls back with the open file, or an error when there is none. */
  run(done: Opened): void {
    this.disk.open(this.path, 'write', (openError, file) => {
      if (file === null) {
        done(openError, null);
        return;
      }
      this.fill(file, 0, (fillError) => {
        file.close((closeError) => {
          const error = fillError ?? closeError;
          if (error !== null) this.discard(error, done);
          else this.publish(0, done);
        });
      });
    });
  }

  private fill(file: FileHandle, at: number, done: Done): void {
    if (!this.isWanted()) {
      done(Object.assign(new Error('the segment is not needed any more'), { code: 'ECANCELED' }));
      return;
    }
    if (at >= this.bytes) {
      file.sync(done);
      return;
    }
    const length = Math.min(ZEROS_BYTES, this.bytes - at);
    file.write(ZEROS, 0, length, at, (error, written) => {
      const problem = error ?? shortWrite(written, length);
      if (problem !== null) done(problem);
      else this.fill(file, at + length, done);
    });
  }

  private publish(synced: number, done: Opened): void {
    const directory = this.directories[synced];
    if (directory === undefined) {
      this.disk.open(this.path, this.mode, done);
      return;
    }
    this.disk.syncDirectory(directory, (error) => {
      // A directory far above the store may not be ours to open.
      if (error === null || error.code === 'EACCES') this.publish(synced + 1, done);
      else done(error, null);
    });
  }

  /** A file that could not be filled gives its space back. The first error is the one that counts. */
  private discard(error: IoError, done: Opened): void {
    this.disk.remove(this.path, () => done(error, null));
  }
}
