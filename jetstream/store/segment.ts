/**
 * One file of the commit log. It is written with zeros once, before it is used, and then written in place: the file
 * system has nothing to journal, and a synced write costs the device only its own data.
 *
 *     0      header: magic, number of this segment, number of its predecessor, base LSN, CRC
 *     2048   the same header again, in another sector: damage to one costs nothing
 *     3072   successor note: magic, number of this segment, number of the one behind it, CRC
 *     3584   resumption note: magic, number of this segment, 0, CRC
 *     4096   frames; the one with position `lsn` stands at 4096 + lsn - base
 *
 * A segment takes over from its predecessor at its base: frames of the predecessor at or above it don't count. The
 * header is on the device before the first frame is written. The note follows when something in the successor is durable:
 * a start that finds the note and no successor knows that something is lost. It costs one small write a segment.
 *
 * Where the disk is full at a start the log goes on in the last segment, behind what was read of it. What may be left
 * there of a torn batch is overwritten first, and the note says that the end of a log that was closed is not the end.
 */

import { Buffer } from 'node:buffer';
import type { Done, FileHandle, IoError } from '../../server/io/io.ts';
import { CountedFile } from './counted-file.ts';
import { crc32 } from './crc32.ts';
import { get32, get48, put32, put48 } from './integers.ts';
import { inOrder, type Step } from './steps.ts';

export const SEGMENT_HEADER_BYTES = 4096;
const COPY_AT = 2048;
const MAGIC = 'PETLOG01';
const CRC_AT = 28;
const COPY_BYTES = CRC_AT + 4;
const NOTE_AT = 3072;
const NOTE_MAGIC = 'PETNEXT1';
const RESUMED_AT = 3584;
const RESUMED_MAGIC = 'PETMORE1';
const NOTE_CRC_AT = 20;
const NOTE_BYTES = NOTE_CRC_AT + 4;

export interface SegmentHeader {
  /** Counts up from 1 with every segment that is taken into use. */
  readonly number: number;
  /** 0: none. */
  readonly predecessor: number;
  readonly baseLsn: number;
}

function encodeHeader(header: SegmentHeader): Buffer {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
  bytes.write(MAGIC, 0, 'latin1');
  put48(bytes, 8, header.number);
  put48(bytes, 14, header.predecessor);
  put48(bytes, 20, header.baseLsn);
  put32(bytes, CRC_AT, crc32(bytes, 0, CRC_AT));
  bytes.copy(bytes, COPY_AT, 0, COPY_BYTES);
  return bytes;
}

/** The header in `bytes`, or `null` when there is no intact one. Of two that differ the newer counts. */
export function decodeHeader(bytes: Buffer): SegmentHeader | null {
  const first = decodeCopy(bytes, 0);
  const second = decodeCopy(bytes, COPY_AT);
  if (first === null || second === null) return first ?? second;
  return first.number >= second.number ? first : second;
}

function decodeCopy(bytes: Buffer, at: number): SegmentHeader | null {
  if (bytes.length < at + COPY_BYTES || bytes.toString('latin1', at, at + MAGIC.length) !== MAGIC) return null;
  if (get32(bytes, at + CRC_AT) !== crc32(bytes, at, at + CRC_AT)) return null;
  return { number: get48(bytes, at + 8), predecessor: get48(bytes, at + 14), baseLsn: get48(bytes, at + 20) };
}

function encodeNote(magic: string, number: number, successor: number): Buffer {
  const bytes = Buffer.alloc(NOTE_BYTES);
  bytes.write(magic, 0, 'latin1');
  put48(bytes, 8, number);
  put48(bytes, 14, successor);
  put32(bytes, NOTE_CRC_AT, crc32(bytes, 0, NOTE_CRC_AT));
  return bytes;
}

/** Whether there is an intact note of the segment with this `number`: taken into use anew, it may hold one of its former life. */
function hasNote(head: Buffer, at: number, magic: string, number: number): boolean {
  if (head.toString('latin1', at, at + magic.length) !== magic) return false;
  return get32(head, at + NOTE_CRC_AT) === crc32(head, at, at + NOTE_CRC_AT) && get48(head, at + 8) === number;
}

/** Number of the segment behind the one with this `number`, in which something was durable; 0: there is no note of one. */
export function notedSuccessor(head: Buffer, number: number): number {
  return hasNote(head, NOTE_AT, NOTE_MAGIC, number) ? get48(head, NOTE_AT + 14) : 0;
}

/** Whether the log went on in the segment with this `number` after it had ended there. */
export function isNotedResumed(head: Buffer, number: number): boolean {
  return hasNote(head, RESUMED_AT, RESUMED_MAGIC, number);
}

/** A segment file that is prepared: used, or waiting to be. */
export class Segment {
  readonly path: string;
  /** Bytes of the file. */
  readonly bytes: number;
  header: SegmentHeader = { number: 0, predecessor: 0, baseLsn: 0 };
  /** The log went on in it after it had ended there. */
  isResumed = false;
  private readonly file: CountedFile;
  private isClosed = false;

  constructor(path: string, file: FileHandle, bytes: number) {
    this.path = path;
    this.file = new CountedFile(file);
    this.bytes = bytes;
  }

  /** Bytes of frames that still fit behind `lsn`. */
  roomBehind(lsn: number): number {
    return this.bytes - this.offsetOf(lsn);
  }

  offsetOf(lsn: number): number {
    return SEGMENT_HEADER_BYTES + lsn - this.header.baseLsn;
  }

  /** Takes the segment into use. */
  activate(header: SegmentHeader, done: Done): void {
    this.header = header;
    this.isResumed = false;
    const bytes = encodeHeader(header);
    this.writeAt(bytes, bytes.length, 0, done);
  }

  /** Something in the segment with this number, which took over from this one, is durable. */
  noteSuccessor(successor: number, done: Done): void {
    this.writeAt(encodeNote(NOTE_MAGIC, this.header.number, successor), NOTE_BYTES, NOTE_AT, done);
  }

  /** Makes it ready to go on at `lsn`, where the log had ended: what may stand in the next `clearBytes` is overwritten. */
  resume(lsn: number, clearBytes: number, done: Done): void {
    this.isResumed = true;
    const zeros = Buffer.alloc(Math.min(clearBytes, this.roomBehind(lsn)));
    const note = encodeNote(RESUMED_MAGIC, this.header.number, 0);
    const steps: Step[] = [
      (next) => this.write(zeros, zeros.length, lsn, next),
      (next) => this.writeAt(note, NOTE_BYTES, RESUMED_AT, next),
      (next) => this.sync(next),
    ];
    inOrder(steps, done);
  }

  /** Writes the first `length` bytes, whose position is `lsn`. */
  write(bytes: Buffer, length: number, lsn: number, done: Done): void {
    this.writeAt(bytes, length, this.offsetOf(lsn), done);
  }

  /** The blocking form of `write`; the error, if there was one. */
  writeNow(bytes: Buffer, length: number, lsn: number): IoError | null {
    try {
      return shortWrite(this.file.writeNow(bytes, 0, length, this.offsetOf(lsn)), length);
    } catch (error) {
      return error as IoError;
    }
  }

  /** Reads at an offset of the file into `into[at]`, blocking; the bytes read. */
  readNow(into: Buffer, at: number, length: number, offset: number): number {
    return this.file.readNow(into, at, length, offset);
  }

  sync(done: Done): void {
    if (this.isClosed) done(closed());
    else this.file.sync(done);
  }

  /** Closes the file when nothing is in flight on it. */
  close(done: Done): void {
    this.isClosed = true;
    this.file.close(done);
  }

  private writeAt(bytes: Buffer, length: number, offset: number, done: Done): void {
    if (this.isClosed) done(closed());
    else this.file.write(bytes, 0, length, offset, (error, written) => done(error ?? shortWrite(written, length)));
  }
}

function closed(): IoError {
  return Object.assign(new Error('the segment is closed'), { code: 'EBADF' });
}

/** An error if fewer bytes were written than asked for. */
export function shortWrite(written: number, expected: number): IoError | null {
  if (written === expected) return null;
  return Object.assign(new Error(`short write: ${written} of ${expected} bytes`), { code: 'ESHORT' });
}
