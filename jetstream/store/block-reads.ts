/**
 * Reading one block's file: what is asked for is read in large pieces, which stay in the store's cache as windows.
 *
 * After a failed read the next ones wait a while, so that whoever tries again at once does not keep the disk busy. What is
 * missing at the end of the file, or with the file, counts as zeros: they are no record, and whoever looks finds damage.
 */

import type { Buffer } from 'node:buffer';
import type { Done, IoError } from '../../server/io/io.ts';
import type { Located } from './block-bytes.ts';
import { Window } from './block-cache.ts';
import type { CountedFile } from './counted-file.ts';
import type { Opened } from './reopened-file.ts';
import type { StoreFiles } from './store-files.ts';

const REST_MS = 250;

interface Load {
  readonly start: number;
  readonly end: number;
  readonly done: Done[];
}

/** Opens the block's file; calls back with an error when that fails. */
export type OpenBlock = (then: Opened) => void;

export class BlockReads {
  private readonly files: StoreFiles;
  private readonly open: OpenBlock;
  private readonly windows: Window[] = [];
  private readonly loads: Load[] = [];
  private postponed: (() => void)[] | null = null;
  private isDropped = false;

  constructor(files: StoreFiles, open: OpenBlock) {
    this.files = files;
    this.open = open;
  }

  /** Whether `[offset, end)` is in a window, and where. */
  locate(offset: number, end: number, found: Located): boolean {
    const { windows } = this;
    // Who reads on finds it in the one that came last.
    for (let i = windows.length - 1; i >= 0; i--) {
      const window = windows[i] as Window;
      if (offset < window.start || end > window.end) continue;
      this.files.cache.touch(window);
      found.buffer = window.buffer;
      found.at = offset - window.start;
      found.fromDisk = true;
      return true;
    }
    return false;
  }

  /** Keeps what was just written to the file, or is as it ought to be there. */
  keep(start: number, end: number, buffer: Buffer): void {
    this.files.cache.add(new Window(this.windows, start, end, buffer));
  }

  /** Overwrites with zeros what was read of this range. */
  erase(start: number, end: number): void {
    for (const window of this.windows) {
      // A record may lie in a window in part.
      if (window.start < end && window.end > start)
        window.buffer.fill(0, Math.max(start, window.start) - window.start, Math.min(end, window.end) - window.start);
    }
  }

  /** Forgets what was read of this range. */
  forget(start: number, end: number): void {
    for (const window of this.windows.slice()) {
      if (window.start < end && window.end > start) this.files.cache.drop(window);
    }
  }

  /** Brings `[offset, end)` into a window, and what follows it up to `limit` if that is near. */
  load(offset: number, end: number, limit: number, done: Done): void {
    if (this.postponed !== null) {
      this.postponed.push(() => this.load(offset, end, limit, done));
      return;
    }
    for (const load of this.loads) {
      if (offset < load.start || end > load.end) continue;
      load.done.push(done);
      return;
    }
    const readAhead = Math.min(offset + this.files.sizes.readBytes, limit);
    const load: Load = { start: offset, end: Math.max(end, readAhead), done: [done] };
    this.loads.push(load);
    this.open((error, file) => {
      if (file !== null) this.read(load, file);
      else this.loaded(load, error, error?.code === 'ENOENT' ? 0 : null);
    });
  }

  /** The block is gone. */
  drop(): void {
    this.isDropped = true;
    for (const window of this.windows.slice()) this.files.cache.drop(window);
  }

  private read(load: Load, file: CountedFile): void {
    const length = load.end - load.start;
    const buffer = this.files.tails.take(length);
    file.read(buffer, 0, length, load.start, (error, bytes) => {
      this.loaded(load, error, error === null ? bytes : null, buffer);
    });
  }

  /** `bytes` were read, `null`: none because of the error. */
  private loaded(load: Load, error: IoError | null, bytes: number | null, into: Buffer | null = null): void {
    this.loads.splice(this.loads.indexOf(load), 1);
    if (bytes === null) this.rest();
    else if (!this.isDropped) {
      const buffer = into ?? this.files.tails.take(load.end - load.start);
      buffer.fill(0, bytes);
      this.keep(load.start, load.end, buffer);
    }
    for (const done of load.done) done(bytes === null ? error : null);
  }

  private rest(): void {
    if (this.postponed !== null || this.files.isClosing) return;
    this.postponed = [];
    this.files.timers.after(REST_MS, () => {
      const postponed = this.postponed ?? [];
      this.postponed = null;
      for (const load of postponed) load();
    });
  }
}
