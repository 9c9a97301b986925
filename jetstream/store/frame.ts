/**
 * A frame: what the commit log stores whole or not at all.
 *
 *      0 u32  bytes of the whole frame
 *      4 u48  log position (LSN) of this frame, its lower bits
 *     10 u32  how far behind the beginning of its batch it stands
 *     14 u8   kind
 *     15 u8   log position, its upper bits
 *     16 u32  asset: the number of the stream or consumer it is about; 0: the catalog
 *     20 u32  CRC of bytes 0 to 19 and of the body; where that is a record, of bytes 0 to 19 alone: it has its own
 *     24      body
 *
 * The log position is at the same time the frame's place: in its segment it stands at (LSN - base of the segment). So an
 * old frame in a recycled segment is never taken for a new one, and after damage the next frame is found by its place.
 */

import type { Buffer } from 'node:buffer';
import { crc32 } from './crc32.ts';
import { get32, get48, put32, put48 } from './integers.ts';
import { isIntact, recordAt } from './record.ts';

/** Header and body together. */
export const FRAME_BYTES_MAX: number = 512 * 1024;
export const FRAME_HEADER_BYTES = 24;
const TWO_48 = 2 ** 48;

/** Numbers are part of the file format. */
export const FrameKind = {
  /** Body: the message's record. */
  message: 1,
  /** Body: where in which block the record of a large message stands. */
  largeMessage: 2,
  /** Body: the sequence that is removed, u8 1 when its record is overwritten. */
  remove: 3,
  /** Body: the sequence below which everything goes, u8 1 when the open block takes no more records. */
  purge: 4,
  /** Body: a consumer's deliveries, acknowledgements and the like. */
  consumer: 5,
  /** Body: a change of the catalog, JSON. */
  catalog: 6,
  /** Body: the sequence of a message that can't be read any more, u8 0. */
  lost: 7,
  /** The two kinds of messages in a group, which count with its end. */
  groupMessage: 8,
  largeGroupMessage: 9,
  /** Body: the group's first and last sequence. */
  groupEnd: 10,
} as const;
export type FrameKind = (typeof FrameKind)[keyof typeof FrameKind];

/** Writes the header of a frame whose body `[at + FRAME_HEADER_BYTES, end)` stands already. */
export function sealFrame(
  buffer: Buffer,
  at: number,
  end: number,
  kind: FrameKind,
  asset: number,
  lsn: number,
  batchLsn: number,
): void {
  put32(buffer, at, end - at);
  put48(buffer, at + 4, lsn);
  put32(buffer, at + 10, lsn - batchLsn);
  buffer[at + 14] = kind;
  buffer[at + 15] = lsn / TWO_48;
  put32(buffer, at + 16, asset);
  put32(buffer, at + 20, checksum(buffer, at, end));
}

function checksum(buffer: Buffer, at: number, end: number): number {
  const crc = crc32(buffer, at, at + 20);
  return holdsRecord(buffer[at + 14] as number) ? crc : crc32(buffer, at + FRAME_HEADER_BYTES, end, crc);
}

/** Whether the body of frames of this kind is a message's record. */
export function holdsRecord(kind: number): boolean {
  return kind === FrameKind.message || kind === FrameKind.groupMessage;
}

/** Bytes of the frame with position `lsn` at `at`, or 0 when there is no such intact frame before `end`. */
export function frameAt(buffer: Buffer, at: number, end: number, lsn: number): number {
  if (end - at < FRAME_HEADER_BYTES) return 0;
  const bytes = get32(buffer, at);
  if (bytes < FRAME_HEADER_BYTES || bytes > end - at || frameLsn(buffer, at) !== lsn) return 0;
  if (get32(buffer, at + 20) !== checksum(buffer, at, at + bytes)) return 0;
  if (!holdsRecord(buffer[at + 14] as number)) return bytes;
  const body = at + FRAME_HEADER_BYTES;
  return recordAt(buffer, body, at + bytes) === bytes - FRAME_HEADER_BYTES && isIntact(buffer, body) ? bytes : 0;
}

/** The position that a frame at `at` has. */
export function frameLsn(buffer: Buffer, at: number): number {
  return get48(buffer, at + 4) + (buffer[at + 15] as number) * TWO_48;
}

export function frameKind(buffer: Buffer, at: number): number {
  return buffer[at + 14] as number;
}

export function frameAsset(buffer: Buffer, at: number): number {
  return get32(buffer, at + 16);
}

/** Position of the beginning of the frame's batch. */
export function frameBatchLsn(buffer: Buffer, at: number): number {
  return frameLsn(buffer, at) - get32(buffer, at + 10);
}
