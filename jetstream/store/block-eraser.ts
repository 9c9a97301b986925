/**
 * Overwrites records with zeros in the files of one stream's blocks, after their removal is durable. What comes together
 * for one file is written together and synced once; one file at a time.
 *
 * The log's copy of the record is gone when its segment is used again. After a crash the removal is read from the log and
 * erases once more.
 */

import { Buffer } from 'node:buffer';
import type { Done, FileHandle } from '../../server/io/io.ts';
import type { StoreFiles } from './store-files.ts';
import { inOrder } from './steps.ts';

interface Range {
  readonly offset: number;
  readonly bytes: number;
}

export class BlockEraser {
  private readonly files: StoreFiles;
  private readonly waiting = new Map<string, Range[]>();
  private isRunning = false;

  constructor(files: StoreFiles) {
    this.files = files;
  }

  add(path: string, offset: number, bytes: number): void {
    const ranges = this.waiting.get(path);
    if (ranges === undefined) this.waiting.set(path, [{ offset, bytes }]);
    else ranges.push({ offset, bytes });
    if (this.isRunning) return;
    this.isRunning = true;
    this.files.began();
    this.files.timers.afterTurn(() => this.run());
  }

  private run(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.isRunning = false;
      this.files.ended();
      return;
    }
    const [path, ranges] = next;
    this.waiting.delete(path);
    this.files.disk.open(path, 'write', (openError, file) => {
      if (file === null) this.done(openError?.code === 'ENOENT' ? null : openError);
      else this.erase(file, ranges, (error) => file.close((closeError) => this.done(error ?? closeError)));
    });
  }

  private erase(file: FileHandle, ranges: readonly Range[], done: Done): void {
    inOrder(
      [
        ...ranges.map(({ offset, bytes }) => (next: Done) => {
          file.write(Buffer.alloc(bytes), 0, bytes, offset, (error) => next(error));
        }),
        (next) => file.sync(next),
      ],
      done,
    );
  }

  private done(error: Parameters<Done>[0]): void {
    this.files.noteError(error);
    this.run();
  }
}
