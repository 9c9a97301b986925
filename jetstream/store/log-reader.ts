/**
 * Reads a commit log at start: which segments there are, and every frame from a position on, in order.
 *
 * A frame that can't be read is either torn or damaged. One batch is in flight at a time, so whatever lies before an
 * intact frame of a later batch was acknowledged: then the gap is damage, it is counted, and reading goes on behind it.
 * Otherwise the write never completed, nobody was told, and the log ends before it.
 *
 *     │ batch 1 ok │ batch 2 ok │ ??? │ intact frame of batch 4 │     ??? is damage
 *     │ batch 1 ok │ batch 2 ok │ ??? │ nothing, or leftovers of the same batch │     the log ends behind batch 2
 *
 * Where a segment has a successor, everything up to the successor's base was durable. A file whose header is damaged
 * although it may hold frames is set aside: nothing that can't be explained is used again.
 *
 * The reading blocks, a window at a time, and yields between windows: whoever drives it decides how much is done in one
 * turn. A frame is found again after damage by its position alone, which is part of it.
 */

import { Buffer } from 'node:buffer';
import type { Disk, Done, IoError, OpenMode } from '../../server/io/io.ts';
import {
  FRAME_BYTES_MAX,
  FRAME_HEADER_BYTES,
  frameAsset,
  frameAt,
  frameBatchLsn,
  frameKind,
  frameLsn,
} from './frame.ts';
import { get32 } from './integers.ts';
import { decodeHeader, isNotedResumed, notedSuccessor, Segment, SEGMENT_HEADER_BYTES } from './segment.ts';
import type { StoreFiles } from './store-files.ts';
import { readTolerantly } from './tolerant-read.ts';

const WINDOW_BYTES = 2 * 1024 * 1024;

export interface FrameVisitor {
  /**
   * A frame's body is `buffer[start, end)`; it dies when this returns. `lsn` is the position of the frame, `endLsn` the
   * one behind it.
   */
  frame(kind: number, asset: number, buffer: Buffer, start: number, end: number, lsn: number, endLsn: number): void;
}

export interface ReadLog {
  /** Position of the next frame: the log ends here. */
  nextLsn: number;
  /** Segments that hold frames, oldest first, and those that don't any more. */
  readonly used: Segment[];
  readonly unused: Segment[];
  /** Number for the next file's name. */
  readonly nextSlot: number;
  /** Where the log is known to end, -1: nowhere. */
  readonly endLsn: number;
  /** Bytes of frames that were durable once and can't be read. */
  damagedBytes: number;
  /** Files that could not be explained, by their new names. */
  readonly movedAside: readonly string[];
  /** Where the last batch begins. */
  lastBatchLsn: number;
  /** The log may go on where it ended: the last batch is on the device, and nothing is known to be missing behind it. */
  mayResume: boolean;
  /** Number of a segment behind the newest one that held something durable and is not there; 0: none is known of. */
  readonly missingSuccessor: number;
}

/** What the catalog knows of the log. */
interface KnownPositions {
  /** Frames behind this position are still needed. */
  readonly replayLsn: number;
  /** Where the log ended when it was closed in order; -1 when it was not. */
  readonly cleanLsn: number;
}

/** Opens the segments in `directory`. */
export function openSegments(files: StoreFiles, directory: string, mode: OpenMode, known: KnownPositions): ReadLog {
  const { replayLsn: fromLsn, cleanLsn } = known;
  const { disk } = files;
  const note: Done = (error) => files.noteError(error);
  const found: Segment[] = [];
  const unused: Segment[] = [];
  const movedAside: string[] = [];
  let nextSlot = 0;
  const successors = new Map<Segment, number>();
  for (const name of disk.readDirectoryNow(directory).sort()) {
    const slot = /^(\d{6,})\.seg$/.exec(name)?.[1];
    if (slot === undefined) continue;
    nextSlot = Math.max(nextSlot, Number(slot) + 1);
    const path = `${directory}/${name}`;
    const segment = new Segment(path, disk.openNow(path, mode), disk.statusNow(path)?.bytes ?? 0);
    const head = Buffer.alloc(SEGMENT_HEADER_BYTES + FRAME_HEADER_BYTES);
    readTolerantly((at, length, position) => segment.readNow(head, at, length, position), head, head.length, 0);
    const header = decodeHeader(head);
    if (header !== null) {
      segment.header = header;
      segment.isResumed = isNotedResumed(head, header.number);
      found.push(segment);
      successors.set(segment, notedSuccessor(head, header.number));
    } else if (isZero(head.subarray(SEGMENT_HEADER_BYTES))) unused.push(segment);
    else movedAside.push(setAside(disk, segment, note));
  }
  found.sort((a, b) => a.header.number - b.header.number);
  const newest = found.at(-1);
  const missingSuccessor = newest === undefined ? 0 : (successors.get(newest) as number);
  const isSuperfluous = (_: Segment, i: number): boolean => (found[i + 1]?.header.baseLsn ?? Infinity) <= fromLsn;
  unused.push(...found.filter(isSuperfluous));
  const used = found.filter((segment, i) => !isSuperfluous(segment, i));
  const mayResume = missingSuccessor === 0 && movedAside.length === 0;
  const ends = { nextLsn: fromLsn, lastBatchLsn: fromLsn, mayResume, missingSuccessor };
  const endLsn = cleanEnd(used.at(-1), cleanLsn);
  return { ...ends, endLsn, used, unused, nextSlot, damagedBytes: 0, movedAside };
}

/** Where the log ends that was closed at `cleanLsn`; -1 when it went on there, in a segment of its own or in the last one. */
function cleanEnd(last: Segment | undefined, cleanLsn: number): number {
  if (last === undefined || last.isResumed || last.header.baseLsn >= cleanLsn) return -1;
  const head = Buffer.alloc(FRAME_HEADER_BYTES);
  const read = (at: number, bytes: number, position: number): number => last.readNow(head, at, bytes, position);
  readTolerantly(read, head, head.length, last.offsetOf(cleanLsn));
  return frameLsn(head, 0) === cleanLsn ? -1 : cleanLsn;
}

/** No frame was ever written here: a segment that was being prepared or taken into use. */
function isZero(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0);
}

/** What stands in the file is not used from here on, whether or not it gets the new name at once. */
function setAside(disk: Disk, segment: Segment, note: Done): string {
  const aside = `${segment.path}.damaged`;
  segment.close((closeError) => {
    note(closeError);
    disk.rename(segment.path, aside, note);
  });
  return aside;
}

/**
 * Shows `visitor` every frame from `log.nextLsn` on, and moves `log.nextLsn` to the end of the log. Where that is known
 * nothing is searched behind it. The beginning is missing without damage when an older catalog than the last one has to
 * do.
 */
export function* readFrames(log: ReadLog, visitor: FrameVisitor, mayLackBeginning: boolean): Generator<void> {
  for (const [i, segment] of log.used.entries()) {
    const successor = log.used[i + 1];
    const { baseLsn } = segment.header;
    if (baseLsn > log.nextLsn) {
      // A predecessor is missing altogether.
      if (i > 0 || !mayLackBeginning) log.damagedBytes += baseLsn - log.nextLsn;
      log.nextLsn = baseLsn;
    }
    const limit = successor?.header.baseLsn ?? baseLsn + segment.bytes - SEGMENT_HEADER_BYTES;
    if (successor === undefined && log.nextLsn === log.endLsn && baseLsn < log.endLsn) return;
    yield* new SegmentReader(segment, log, visitor).read(limit, successor !== undefined);
  }
}

/**
 * Brings the last batch to the device once more: it may have been read from memory only, where a process that was killed
 * left it. What is done from now on relies on it. The answer is the error when that is not possible.
 */
export function makeTailDurable(log: ReadLog): IoError | null {
  const segment = log.used.findLast(({ header }) => header.baseLsn <= log.lastBatchLsn);
  const bytes = log.nextLsn - log.lastBatchLsn;
  if (segment === undefined || bytes <= 0) return null;
  const tail = Buffer.alloc(bytes);
  let error: IoError | null;
  try {
    const read = segment.readNow(tail, 0, bytes, segment.offsetOf(log.lastBatchLsn));
    error = segment.writeNow(tail, read, log.lastBatchLsn);
  } catch (failure) {
    error = failure as IoError;
  }
  if (error !== null) log.mayResume = false;
  return error;
}

class SegmentReader {
  private readonly segment: Segment;
  private readonly log: ReadLog;
  private readonly visitor: FrameVisitor;
  private readonly window = Buffer.allocUnsafeSlow(WINDOW_BYTES);
  /** The window holds `[windowLsn, windowLsn + windowBytes)` of the log. */
  private windowLsn = 0;
  private windowBytes = 0;

  constructor(segment: Segment, log: ReadLog, visitor: FrameVisitor) {
    this.segment = segment;
    this.log = log;
    this.visitor = visitor;
  }

  /** Reads up to `limit`. `isComplete`: everything below the limit was durable once. */
  *read(limit: number, isComplete: boolean): Generator<void> {
    const { log } = this;
    while (log.nextLsn < limit) {
      if (this.readFrame(log.nextLsn, limit)) continue;
      if (this.load(log.nextLsn, limit)) {
        yield;
        continue;
      }
      if (!isComplete && log.nextLsn === log.endLsn) return;
      // Without a later batch behind it, this one never completed.
      if (!isComplete && (yield* this.searchFrame(log.nextLsn + 1, limit, log.nextLsn)) < 0) return;
      const next = yield* this.searchFrame(log.nextLsn + 1, limit, -1);
      const resumed = next < 0 ? limit : next;
      log.damagedBytes += resumed - log.nextLsn;
      log.nextLsn = resumed;
    }
  }

  /** Visits the frame at `lsn` if the window holds it whole. */
  private readFrame(lsn: number, limit: number): boolean {
    const at = lsn - this.windowLsn;
    if (at < 0 || at >= this.windowBytes) return false;
    const end = Math.min(this.windowBytes, limit - this.windowLsn);
    const bytes = frameAt(this.window, at, end, lsn);
    if (bytes === 0) return false;
    const { window, log } = this;
    log.nextLsn = lsn + bytes;
    log.lastBatchLsn = frameBatchLsn(window, at);
    const body = at + FRAME_HEADER_BYTES;
    this.visitor.frame(frameKind(window, at), frameAsset(window, at), window, body, at + bytes, lsn, log.nextLsn);
    return true;
  }

  /** Fills the window from `lsn` on; false when it already held all that can matter for a frame there. */
  private load(lsn: number, limit: number): boolean {
    const held = this.windowLsn + this.windowBytes;
    const needed = Math.min(lsn + FRAME_BYTES_MAX, limit);
    if (lsn >= this.windowLsn && needed <= held) return false;
    const { segment, window } = this;
    const length = Math.min(WINDOW_BYTES, limit - lsn);
    const read = (at: number, bytes: number, position: number): number => segment.readNow(window, at, bytes, position);
    this.windowBytes = readTolerantly(read, window, length, segment.offsetOf(lsn));
    this.windowLsn = lsn;
    return this.windowBytes >= Math.min(length, needed - lsn);
  }

  /**
   * The first position from `from` on at which an intact frame stands whose batch begins behind `batchAfter`; -1 when
   * there is none.
   */
  private *searchFrame(from: number, limit: number, batchAfter: number): Generator<void, number> {
    let lsn = from;
    while (lsn + FRAME_HEADER_BYTES <= limit) {
      if (lsn < this.windowLsn || lsn + FRAME_BYTES_MAX > this.windowLsn + this.windowBytes) {
        if (this.load(lsn, limit)) yield;
      }
      const { window, windowLsn } = this;
      const end = Math.min(windowLsn + this.windowBytes, limit);
      const last = end === limit ? end - FRAME_HEADER_BYTES : end - FRAME_BYTES_MAX;
      for (; lsn <= last; lsn++) {
        const at = lsn - windowLsn;
        if (get32(window, at + 4) !== lsn >>> 0) continue;
        if (frameAt(window, at, end - windowLsn, lsn) > 0 && frameBatchLsn(window, at) > batchAfter) return lsn;
      }
      if (end === limit || end < windowLsn + WINDOW_BYTES) return -1;
    }
    return -1;
  }
}
