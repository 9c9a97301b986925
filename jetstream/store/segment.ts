/**
 * One file of the commit log. It is written with zeros once, before it is used, and then written in place: the file
 * system has nothing to journal, and a synced write costs the device only its own data.
 *
 *     0      header: magic, number of this segment, number of its predecessor, base LSN, CRC     (4 KiB)
 *     4096   frames; the one with position `lsn` stands at 4096 + lsn - base
 *
 * A segment takes over from its predecessor at its base: frames of the predecessor at or above it don't count. The
 * header is on the device before the first frame is written.
 */

import { Buffer } from 'node:buffer';
import type { Done, FileHandle, IoError } from '../../server/io/io.ts';
import { crc32 } from './crc32.ts';
import { get32, get48, put32, put48 } from './integers.ts';

export const SEGMENT_HEADER_BYTES = 4096;
const MAGIC = 'PETLOG01';
const CRC_AT = 28;

export interface SegmentHeader {
  /** Counts up from 1 with every segment that is taken into use. */
  readonly number: number;
  /** 0: none. */
  readonly predecessor: number;
  readonly baseLsn: number;
}

export function encodeHeader(header: SegmentHeader): Buffer {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
  bytes.write(MAGIC, 0, 'latin1');
  put48(bytes, 8, header.number);
  put48(bytes, 14, header.predecessor);
  put48(bytes, 20, header.baseLsn);
  put32(bytes, CRC_AT, crc32(bytes, 0, CRC_AT));
  return bytes;
}

/** The header in `bytes`, or `null` when there is no intact one. */
export function decodeHeader(bytes: Buffer): SegmentHeader | null {
  if (bytes.length < CRC_AT + 4 || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return null;
  if (get32(bytes, CRC_AT) !== crc32(bytes, 0, CRC_AT)) return null;
  return { number: get48(bytes, 8), predecessor: get48(bytes, 14), baseLsn: get48(bytes, 20) };
}

/** A segment file that is prepared: used, or waiting to be. */
export class Segment {
  readonly path: string;
  readonly file: FileHandle;
  /** Bytes of the file. */
  readonly bytes: number;
  header: SegmentHeader = { number: 0, predecessor: 0, baseLsn: 0 };

  constructor(path: string, file: FileHandle, bytes: number) {
    this.path = path;
    this.file = file;
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
    const bytes = encodeHeader(header);
    this.file.write(bytes, 0, bytes.length, 0, (error, written) => done(error ?? shortWrite(written, bytes.length)));
  }
}

/** An error if fewer bytes were written than asked for. */
export function shortWrite(written: number, expected: number): IoError | null {
  if (written === expected) return null;
  return Object.assign(new Error(`short write: ${written} of ${expected} bytes`), { code: 'ESHORT' });
}
