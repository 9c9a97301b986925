/**
 * A stored message, the same bytes in the commit log and in a block:
 *
 *      0 u32  bytes of the whole record
 *      4 u16  bytes of the subject
 *      6 u8   what it replaces: 0 nothing, 1 all others under its subject, 2 all others; 3: it goes itself
 *      7 u8   0
 *      8 u32  bytes of the header block
 *     12 u48  sequence
 *     18 u48  time: whole seconds since 1970
 *     24 u32  time: nanoseconds
 *     28 u32  CRC of bytes 0 to 27
 *     32      subject, header block, payload
 *     -4 u32  CRC of everything before it, continued from the CRC at 28
 *
 * The first checksum makes the lengths trustworthy on their own: a damaged payload costs its record, and the next one
 * is still found.
 */

import type { Buffer } from 'node:buffer';
import type { Message } from '../../server/protocol/message.ts';
import { copyBytes } from '../../server/protocol/message-encoder.ts';
import { crc32 } from './crc32.ts';
import { get16, get32, get48, put16, put32, put48 } from './integers.ts';

/** What a message replaces when it becomes visible. */
export const REPLACES_NOTHING = 0;
export const REPLACES_SUBJECT = 1;
export const REPLACES_ALL = 2;
/** Nobody wants the message: only its sequence is used up. */
export const REPLACES_ITSELF = 3;

export const RECORD_HEADER_BYTES = 32;
export const RECORD_OVERHEAD_BYTES = 36;
/** Where in a record its sequence stands. */
export const SEQUENCE_AT = 12;
export const SUBJECT_BYTES_MAX = 65_535;

/** Bytes of the record that holds the message. */
export function recordBytes(message: Message): number {
  return RECORD_OVERHEAD_BYTES + (message.subjectEnd - message.subjectStart) + (message.bodyEnd - message.bodyStart);
}

/** Writes the message's record at `at`; the offset behind it. `out` has room for `recordBytes`. */
export function writeRecord(
  out: Buffer,
  at: number,
  message: Message,
  sequence: number,
  seconds: number,
  nanoseconds: number,
  replaces: number,
): number {
  const subjectBytes = message.subjectEnd - message.subjectStart;
  const bytes = recordBytes(message);
  put32(out, at, bytes);
  put16(out, at + 4, subjectBytes);
  out[at + 6] = replaces;
  out[at + 7] = 0;
  put32(out, at + 8, message.payloadStart - message.bodyStart);
  put48(out, at + 12, sequence);
  put48(out, at + 18, seconds);
  put32(out, at + 24, nanoseconds);
  const headerCrc = crc32(out, at, at + 28);
  put32(out, at + 28, headerCrc);
  let end = copyBytes(out, at + RECORD_HEADER_BYTES, message.subject, message.subjectStart, message.subjectEnd);
  end = copyBytes(out, end, message.body, message.bodyStart, message.bodyEnd);
  put32(out, end, crc32(out, at + 28, end, headerCrc));
  return end + 4;
}

/** Bytes of the record at `at`, or 0 when no record with a valid head begins there before `end`. */
export function recordAt(buffer: Buffer, at: number, end: number): number {
  if (end - at < RECORD_OVERHEAD_BYTES) return 0;
  const bytes = get32(buffer, at);
  if (bytes < RECORD_OVERHEAD_BYTES || bytes > end - at) return 0;
  return get32(buffer, at + 28) === crc32(buffer, at, at + 28) ? bytes : 0;
}

/** Whether the whole record at `at`, whose head is valid, is as it was written. */
export function isIntact(buffer: Buffer, at: number): boolean {
  const end = at + get32(buffer, at) - 4;
  return get32(buffer, end) === crc32(buffer, at + 28, end, get32(buffer, at + 28));
}

/** Whether the record of this message stands whole in the `bytes` at `at`. */
export function isRecordOf(sequence: number, buffer: Buffer, at: number, bytes: number): boolean {
  return recordAt(buffer, at, at + bytes) > 0 && isIntact(buffer, at) && get48(buffer, at + 12) === sequence;
}

/** A stored message as a view of the record at an offset; reused for the next one. */
export class RecordView {
  buffer: Buffer;
  at = 0;
  sequence = 0;
  seconds = 0;
  nanoseconds = 0;
  subjectStart = 0;
  subjectEnd = 0;
  payloadStart = 0;
  end = 0;

  constructor(buffer: Buffer) {
    this.buffer = buffer;
  }

  /** Points to the record at `at`, whose head is valid. */
  set(buffer: Buffer, at: number): void {
    this.buffer = buffer;
    this.at = at;
    this.sequence = get48(buffer, at + 12);
    this.seconds = get48(buffer, at + 18);
    this.nanoseconds = get32(buffer, at + 24);
    this.subjectStart = at + RECORD_HEADER_BYTES;
    this.subjectEnd = this.subjectStart + get16(buffer, at + 4);
    this.payloadStart = this.subjectEnd + get32(buffer, at + 8);
    this.end = at + get32(buffer, at) - 4;
  }

  /** Start of header block and payload; the header block is empty when it equals `payloadStart`. */
  get bodyStart(): number {
    return this.subjectEnd;
  }

  get bytes(): number {
    return this.end + 4 - this.at;
  }

  /** What it replaced: REPLACES_NOTHING, REPLACES_SUBJECT, REPLACES_ALL, REPLACES_ITSELF. */
  get replaces(): number {
    return this.buffer[this.at + 6] as number;
  }

  get subject(): string {
    return this.buffer.toString('latin1', this.subjectStart, this.subjectEnd);
  }
}
