/**
 * The segment files of one commit log: the used ones, oldest first, and at most one spare that is ready to be next.
 *
 * The spare is prepared in the background (zeros, sync, directory sync), so a start never waits and a log that is not
 * used costs nothing. Segments that checkpoints have made superfluous become spares again. Sizes begin at 1 MiB and
 * double with each segment up to 64 MiB, since a log that moves on has load.
 *
 * The spare is also the reserve for a full disk: while none can be prepared, new messages are refused, and what is left
 * of the current segment serves acknowledgements and removals, which free space.
 */

import { Buffer } from 'node:buffer';
import type { Disk, FileHandle, IoError, OpenMode, Timers } from '../../server/io/io.ts';
import { Segment, type SegmentHeader, shortWrite } from './segment.ts';

const BYTES_MIN = 1024 * 1024;
const BYTES_MAX = 64 * 1024 * 1024;
const ZEROS = 256 * 1024;
const RETRY_MS = 250;

export type SegmentDone = (segment: Segment) => void;

export class SegmentPool {
  /** In use, oldest first; the last one is being written. */
  readonly used: Segment[] = [];
  /** Why no spare can be prepared; `null` when nothing is wrong. */
  error: IoError | null = null;

  private readonly disk: Disk;
  private readonly timers: Timers;
  private readonly directory: string;
  private readonly mode: OpenMode;
  private spare: Segment | null = null;
  private preparing = false;
  private waiting: SegmentDone | null = null;
  private nextBytes = BYTES_MIN;
  private nextSlot = 0;
  /** Number of the last segment that was taken into use, also if nothing came of it. */
  private lastNumber = 0;
  private closed = false;

  constructor(disk: Disk, timers: Timers, directory: string, mode: OpenMode) {
    this.disk = disk;
    this.timers = timers;
    this.directory = directory;
    this.mode = mode;
  }

  /** Takes over files found at start: those in use, and those that may become spares. */
  adopt(used: readonly Segment[], unused: readonly Segment[], nextSlot: number): void {
    this.used.push(...used);
    this.nextSlot = nextSlot;
    for (const segment of unused) this.keepOrDrop(segment);
    for (const { header } of [...used, ...unused]) this.lastNumber = Math.max(this.lastNumber, header.number);
    const newest = used.at(-1);
    if (newest !== undefined) this.nextBytes = Math.min(BYTES_MAX, newest.bytes);
  }

  /** Whether a next segment is ready, or will be. */
  get canAdvance(): boolean {
    return this.spare !== null || this.error === null;
  }

  /** Gives the next segment when it is ready, which is retried without end; one call at a time. */
  take(done: SegmentDone): void {
    if (this.spare === null) {
      this.waiting = done;
      this.prepare();
      return;
    }
    const segment = this.spare;
    this.spare = null;
    this.nextBytes = Math.min(BYTES_MAX, segment.bytes * 2);
    done(segment);
    this.prepare();
  }

  /** Drops the newest segment, in which nothing is durable. */
  discardNewest(): void {
    const segment = this.used.pop();
    if (segment === undefined) return;
    segment.file.close(ignoreCloseError);
    this.disk.remove(segment.path, (error) => {
      if (error !== null) this.error ??= error;
    });
  }

  /** Segments whose frames all lie below `lsn` may be used again. */
  releaseBelow(lsn: number): void {
    while (this.used.length > 1 && (this.used[1] as Segment).header.baseLsn <= lsn) {
      this.keepOrDrop(this.used.shift() as Segment);
    }
  }

  /** The header for a segment that is taken into use now. */
  nextHeader(baseLsn: number): SegmentHeader {
    this.lastNumber++;
    return { number: this.lastNumber, predecessor: this.used.at(-1)?.header.number ?? 0, baseLsn };
  }

  close(): void {
    this.closed = true;
    for (const segment of [...this.used, this.spare]) segment?.file.close(ignoreCloseError);
  }

  /** Prepares a spare unless there is one, or one is being made. */
  prepare(): void {
    if (this.spare !== null || this.preparing || this.closed) return;
    this.preparing = true;
    const path = `${this.directory}/${String(this.nextSlot).padStart(6, '0')}.seg`;
    const bytes = this.nextBytes;
    new Preparation(this.disk, this.directory, path, bytes, this.mode).run((error, file) => {
      this.preparing = false;
      this.error = error;
      if (this.closed) {
        file?.close(ignoreCloseError);
      } else if (file === null) {
        this.timers.after(RETRY_MS, () => this.prepare());
      } else {
        this.nextSlot++;
        this.offer(new Segment(path, file, bytes));
      }
    });
  }

  private offer(segment: Segment): void {
    this.spare = segment;
    this.error = null;
    const { waiting } = this;
    if (waiting === null) return;
    this.waiting = null;
    this.take(waiting);
  }

  /** One superfluous segment becomes the spare; of two, the larger. The other is removed. */
  private keepOrDrop(segment: Segment): void {
    const { spare } = this;
    if (spare === null) {
      this.offer(segment);
      return;
    }
    const dropped = segment.bytes > spare.bytes ? spare : segment;
    if (dropped === spare) this.spare = segment;
    dropped.file.close(ignoreCloseError);
    this.disk.remove(dropped.path, (error) => {
      if (error !== null) this.error ??= error;
    });
  }
}

/** Nothing unsynced is in these files: an error on closing them loses nothing. */
function ignoreCloseError(): void {}

/** Makes one file of zeros, durable under its name, open for the log's writes. */
class Preparation {
  private readonly disk: Disk;
  private readonly directory: string;
  private readonly path: string;
  private readonly bytes: number;
  private readonly mode: OpenMode;

  constructor(disk: Disk, directory: string, path: string, bytes: number, mode: OpenMode) {
    this.disk = disk;
    this.directory = directory;
    this.path = path;
    this.bytes = bytes;
    this.mode = mode;
  }

  run(done: (error: IoError | null, file: FileHandle | null) => void): void {
    this.disk.open(this.path, 'write', (openError, file) => {
      if (file === null) {
        done(openError, null);
        return;
      }
      this.fill(file, 0, (fillError) => {
        file.close((closeError) => {
          const error = fillError ?? closeError;
          if (error !== null) this.discard(error, done);
          else this.publish(done);
        });
      });
    });
  }

  private fill(file: FileHandle, at: number, done: (error: IoError | null) => void): void {
    if (at >= this.bytes) {
      file.sync(done);
      return;
    }
    const length = Math.min(ZEROS, this.bytes - at);
    file.write(Buffer.alloc(length), 0, length, at, (error, written) => {
      const problem = error ?? shortWrite(written, length);
      if (problem !== null) done(problem);
      else this.fill(file, at + length, done);
    });
  }

  private publish(done: (error: IoError | null, file: FileHandle | null) => void): void {
    this.disk.syncDirectory(this.directory, (syncError) => {
      if (syncError !== null) done(syncError, null);
      else this.disk.open(this.path, this.mode, done);
    });
  }

  /** A file that could not be filled gives its space back. */
  private discard(error: IoError, done: (error: IoError | null, file: FileHandle | null) => void): void {
    this.disk.remove(this.path, () => done(error, null));
  }
}
