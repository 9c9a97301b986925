/**
 * The segment files of one commit log: the used ones, oldest first, and at most one spare that is ready to be next.
 *
 * A spare is made in the background (zeros, sync, directory sync) when the current segment is half full, so a start never
 * waits and a log that is not used costs nothing. By then checkpoints have usually made an old segment superfluous, which
 * becomes the spare without being written again. Sizes begin at 1 MiB and double up to 64 MiB while segments fill quickly.
 *
 * The spare is also the reserve for a full disk: while none can be made, new messages are refused, and what is left of
 * the current segment serves acknowledgements and removals, which free space. Smaller ones are tried then.
 *
 * A start takes a fresh segment. Where there is none because the disk is full, the log goes on in the last one that was
 * found, so that what is deleted then gives space back:
 *
 *     │ frames that were read │ what was left of a torn batch, if any: overwritten first │ …
 */

import type { Done, Io, IoError, OpenMode } from '../../server/io/io.ts';
import { BATCH_BYTES_MAX } from './batch.ts';
import type { ReadLog } from './log-reader.ts';
import { Segment, SEGMENT_HEADER_BYTES } from './segment.ts';
import { SegmentPreparation } from './segment-preparation.ts';
import type { SegmentSizes } from './store-sizes.ts';

/** A segment that is full sooner than this is followed by a larger one. */
const QUICKLY_MS = 30_000;
const RETRY_MS = 250;
/** A segment is used again when it is at least the so many'th part of what is wanted: writing zeros costs more than that. */
const RECYCLED_PART = 4;
/** No room. */
const FULL = new Set(['ENOSPC', 'EDQUOT']);

/** The segment that is to be written next, or on which that failed. */
type Taken = (segment: Segment, error: IoError | null) => void;

interface Waiting {
  readonly lsn: number;
  readonly done: Taken;
}

export class SegmentPool {
  /** In use, oldest first; the last one is being written, or will be. */
  readonly used: Segment[] = [];
  /** Why no spare can be made; `null` when nothing is wrong. */
  error: IoError | null = null;
  /** Why a superfluous file is still there; `null` when the last one went. */
  dropError: IoError | null = null;
  /** Called when a spare could not be made; it is tried again. */
  onFailure: () => void = () => undefined;

  private readonly io: Io;
  private readonly directory: string;
  private readonly mode: OpenMode;
  private readonly sizes: SegmentSizes;
  /** Directories that have to be synced, so that the log itself is found after a power cut. */
  private unsynced: readonly string[];
  private spare: Segment | null = null;
  private unused: readonly Segment[] = [];
  /** Where the log ends that was found, as long as it may go on there; else -1. */
  private foundEndLsn = -1;
  private isPreparing = false;
  /** Superfluous files that are still being closed and removed. */
  private dropping = 0;
  private waiting: Waiting | null = null;
  private nextBytes: number;
  private nextSlot = 0;
  /** Number of the last segment that was taken into use, also if nothing came of it. */
  private lastNumber = 0;
  private takenMs = 0;
  private closing: (() => void) | null = null;

  constructor(io: Io, directory: string, mode: OpenMode, sizes: SegmentSizes, unsynced: readonly string[]) {
    this.io = io;
    this.directory = directory;
    this.mode = mode;
    this.sizes = sizes;
    this.nextBytes = sizes.segmentBytesMin;
    this.unsynced = unsynced;
  }

  /** Takes over the files found at start, whose frames were read. */
  adopt({ used, unused, nextSlot, nextLsn, mayResume }: ReadLog): void {
    this.used.push(...used);
    this.unused = unused;
    this.nextSlot = nextSlot;
    if (mayResume) this.foundEndLsn = nextLsn;
    for (const { header } of [...used, ...unused]) this.lastNumber = Math.max(this.lastNumber, header.number);
  }

  /** What says that they are superfluous is on the device: they may be used again. */
  reuseUnused(): void {
    const { unused } = this;
    this.unused = [];
    for (const segment of unused) {
      // A smaller one was never finished.
      if (segment.bytes < this.sizes.segmentBytesMin) this.drop(segment);
      else this.keepOrDrop(segment);
    }
  }

  /** Bytes of frames that fit into the smallest segment. */
  get roomMin(): number {
    return this.sizes.segmentBytesMin - SEGMENT_HEADER_BYTES;
  }

  /** Whether a next segment is ready, or will be. */
  get canAdvance(): boolean {
    return this.spare !== null || this.error === null;
  }

  /** Gives the next segment, in use from `lsn` on, when there is one, which is retried without end; one call at a time. */
  take(lsn: number, done: Taken): void {
    if (this.spare === null) {
      this.waiting = { lsn, done };
      this.prepare();
      return;
    }
    const segment = this.spare;
    this.spare = null;
    this.foundEndLsn = -1;
    this.noteTaken(segment);
    this.lastNumber++;
    const predecessor = this.used.at(-1)?.header.number ?? 0;
    this.used.push(segment);
    segment.activate({ number: this.lastNumber, predecessor, baseLsn: lsn }, (error) => done(segment, error));
  }

  /** So much of the newest segment is left: makes a spare in time. */
  noteRoom(bytes: number): void {
    if (this.spare === null && !this.isPreparing && bytes < (this.used.at(-1) as Segment).bytes / 2) this.prepare();
  }

  /** Something in the newest segment is durable: its predecessor says so from now on. */
  noteNewest(done: Done): void {
    const [before, newest] = this.used.slice(-2);
    if (before === undefined || newest?.header.predecessor !== before.header.number) done(null);
    else before.noteSuccessor(newest.header.number, done);
  }

  /** Drops the newest segment, in which nothing is durable. */
  discardNewest(): void {
    const segment = this.used.pop();
    if (segment !== undefined) this.drop(segment);
  }

  /** Segments whose frames all lie below `lsn` may be used again. */
  releaseBelow(lsn: number): void {
    while (this.used.length > 1 && (this.used[1] as Segment).header.baseLsn <= lsn) {
      this.keepOrDrop(this.used.shift() as Segment);
    }
  }

  /**
   * Closes every file; `done` when nothing is in flight any more. That goes for superfluous ones too: a file that is removed
   * after that may be in use by the next one who opens the log.
   */
  close(done: () => void): void {
    const open = [...this.used, ...this.unused, ...(this.spare === null ? [] : [this.spare])];
    let left = open.length + this.dropping + (this.isPreparing ? 1 : 0);
    const closedOne = (): void => {
      left--;
      if (left <= 0) done();
    };
    this.closing = closedOne;
    // Nothing unsynced is in these files: an error on closing them loses nothing.
    for (const segment of open) segment.close(closedOne);
    if (left === 0) done();
  }

  /** Makes a spare unless there is one, or one is being made. */
  private prepare(): void {
    if (this.spare !== null || this.isPreparing || this.closing !== null) return;
    this.isPreparing = true;
    const path = `${this.directory}/${String(this.nextSlot).padStart(6, '0')}.seg`;
    const bytes = this.nextBytes;
    const { disk } = this.io;
    const preparation = new SegmentPreparation(disk, path, bytes, this.mode, [this.directory, ...this.unsynced]);
    preparation.isWanted = () => this.closing === null;
    preparation.run((error, file) => {
      this.isPreparing = false;
      if (this.closing !== null) {
        if (file === null) this.closing();
        else file.close(this.closing);
      } else if (file === null) this.failed(error);
      else {
        this.nextSlot++;
        this.unsynced = [];
        this.offer(new Segment(path, file, bytes));
      }
    });
  }

  private failed(error: IoError | null): void {
    this.error = error;
    // Where there is no room for a large one there may be for a small one.
    this.nextBytes = this.bounded(this.nextBytes / 2);
    this.io.timers.after(RETRY_MS, () => this.prepare());
    if (!FULL.has(error?.code ?? '') || !this.resumes()) this.onFailure();
  }

  /** Gives whoever waits the last segment that was found, behind what was read of it; whether that is possible. */
  private resumes(): boolean {
    const { waiting, foundEndLsn } = this;
    const last = this.used.at(-1);
    // A checkpoint may reflect more than the log holds: then its end lies before what comes next.
    if (waiting === null || last === undefined || waiting.lsn !== foundEndLsn) return false;
    if (foundEndLsn < last.header.baseLsn || last.roomBehind(foundEndLsn) <= 0) return false;
    this.foundEndLsn = -1;
    this.waiting = null;
    last.resume(foundEndLsn, BATCH_BYTES_MAX, (error) => {
      if (error === null) waiting.done(last, null);
      else if (this.closing === null) this.take(waiting.lsn, waiting.done);
    });
    return true;
  }

  private offer(segment: Segment): void {
    this.spare = segment;
    this.error = null;
    const { waiting } = this;
    if (waiting === null) return;
    this.waiting = null;
    this.take(waiting.lsn, waiting.done);
  }

  /** A superfluous segment becomes the spare if it is nearly as large as wanted, or if there is no better. */
  private keepOrDrop(segment: Segment): void {
    const { spare } = this;
    const isLarge = segment.bytes * RECYCLED_PART >= this.nextBytes;
    const isWanted = isLarge || this.error !== null || this.waiting !== null;
    if (spare === null && isWanted && !this.isPreparing) this.offer(segment);
    else if (spare !== null && segment.bytes > spare.bytes) {
      this.spare = segment;
      this.drop(spare);
    } else this.drop(segment);
  }

  private drop(segment: Segment): void {
    // All files are being closed, this one among them; the next start finds it.
    if (this.closing !== null) return;
    this.dropping++;
    segment.close((closeError) => {
      this.io.disk.remove(segment.path, (error) => {
        this.dropError = error ?? closeError;
        this.dropping--;
        this.closing?.();
      });
    });
  }

  private noteTaken(segment: Segment): void {
    const now = this.io.clock.monotonicMs();
    const isQuick = this.takenMs > 0 && now - this.takenMs < QUICKLY_MS;
    this.takenMs = now;
    this.nextBytes = this.bounded(isQuick ? segment.bytes * 2 : segment.bytes);
  }

  private bounded(bytes: number): number {
    const { segmentBytesMin, segmentBytesMax } = this.sizes;
    return Math.min(segmentBytesMax, Math.max(segmentBytesMin, bytes));
  }
}
