/**
 * The index of a closed block on disk, beside the block:
 *
 *      0  8 bytes  magic and version
 *      8  u32      stream
 *     12  u32      block
 *     16  u48      first sequence
 *     22  u16      0
 *     24  u32      slots
 *     28  u32      subjects
 *     32  u32      CRC of everything else
 *     36           offsets, u32 a slot; subjects, u32 a slot, numbered as in this file
 *                  the subjects: u16 length and bytes each
 */

import { Buffer } from 'node:buffer';
import { BlockIndex } from './block-index.ts';
import { crc32 } from './crc32.ts';
import { get16, get32, get48, put16, put32, put48 } from './integers.ts';
import type { SubjectIndex } from './subject-index.ts';

const MAGIC = 'PETIDX01';
const HEADER_BYTES = 36;
const CRC_AT = 32;

export function encodeBlockIndex(stream: number, block: number, index: BlockIndex, subjects: SubjectIndex): Buffer {
  // Subjects are numbered in the order in which the slots mention them; 0: not mentioned yet.
  const local = new Uint32Array(subjects.size);
  const mentioned: number[] = [];
  let textBytes = 0;
  const columns = Buffer.alloc(index.slots * 8);
  index.encode(columns, 0, (subject) => {
    if (local[subject] === 0) {
      mentioned.push(subject);
      local[subject] = mentioned.length;
      textBytes += 2 + subjects.bytes(subject);
    }
    return (local[subject] as number) - 1;
  });
  const out = Buffer.allocUnsafeSlow(HEADER_BYTES + columns.length + textBytes);
  out.write(MAGIC, 0, 'latin1');
  put32(out, 8, stream);
  put32(out, 12, block);
  put48(out, 16, index.firstSequence);
  put16(out, 22, 0);
  put32(out, 24, index.slots);
  put32(out, 28, mentioned.length);
  columns.copy(out, HEADER_BYTES);
  let at = HEADER_BYTES + columns.length;
  for (const subject of mentioned) {
    put16(out, at, subjects.bytes(subject));
    at = subjects.copyTo(subject, out, at + 2);
  }
  put32(out, CRC_AT, checksum(out));
  return out;
}

/** The index in these bytes, its subjects renumbered as `subjects` has them; `null` when it is not this block's, intact. */
export function decodeBlockIndex(
  bytes: Buffer,
  stream: number,
  block: number,
  subjects: SubjectIndex,
): BlockIndex | null {
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return null;
  if (get32(bytes, CRC_AT) !== checksum(bytes)) return null;
  if (get32(bytes, 8) !== stream || get32(bytes, 12) !== block) return null;
  const slots = get32(bytes, 24);
  const numbers = new Uint32Array(get32(bytes, 28));
  let at = HEADER_BYTES + slots * 8;
  for (let i = 0; i < numbers.length; i++) {
    const start = at + 2;
    at = start + get16(bytes, at);
    numbers[i] = subjects.intern(bytes, start, at);
  }
  return BlockIndex.decode(bytes, HEADER_BYTES, slots, get48(bytes, 16), (local) => numbers[local] as number);
}

function checksum(bytes: Buffer): number {
  return crc32(bytes, CRC_AT + 4, bytes.length, crc32(bytes, 0, CRC_AT));
}
