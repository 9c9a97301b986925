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

/** Numbers subjects in the order in which a file mentions them. */
class LocalSubjects {
  private readonly numbers = new Map<number, number>();
  readonly texts: Buffer[] = [];
  bytes = 0;
  private readonly subjects: SubjectIndex;

  constructor(subjects: SubjectIndex) {
    this.subjects = subjects;
  }

  numberOf(subject: number): number {
    const known = this.numbers.get(subject);
    if (known !== undefined) return known;
    const number = this.texts.length;
    const text = Buffer.from(this.subjects.text(subject), 'latin1');
    this.numbers.set(subject, number);
    this.texts.push(text);
    this.bytes += 2 + text.length;
    return number;
  }
}

export function encodeBlockIndex(stream: number, block: number, index: BlockIndex, subjects: SubjectIndex): Buffer {
  const local = new LocalSubjects(subjects);
  const columns = Buffer.alloc(index.slots * 8);
  index.encode(columns, 0, (subject) => local.numberOf(subject));
  const out = Buffer.alloc(HEADER_BYTES + columns.length + local.bytes);
  out.write(MAGIC, 0, 'latin1');
  put32(out, 8, stream);
  put32(out, 12, block);
  put48(out, 16, index.firstSequence);
  put32(out, 24, index.slots);
  put32(out, 28, local.texts.length);
  columns.copy(out, HEADER_BYTES);
  let at = HEADER_BYTES + columns.length;
  for (const text of local.texts) {
    put16(out, at, text.length);
    text.copy(out, at + 2);
    at += 2 + text.length;
  }
  put32(out, CRC_AT, checksum(out));
  return out;
}

/** The index in these bytes, its subjects renumbered as `subjects` has them; `null` when they are not intact. */
export function decodeBlockIndex(bytes: Buffer, subjects: SubjectIndex): BlockIndex | null {
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return null;
  if (get32(bytes, CRC_AT) !== checksum(bytes)) return null;
  const slots = get32(bytes, 24);
  const numbers: number[] = [];
  let at = HEADER_BYTES + slots * 8;
  for (let i = get32(bytes, 28); i > 0; i--) {
    const start = at + 2;
    const end = start + get16(bytes, at);
    numbers.push(subjects.intern(bytes, start, end));
    at = end;
  }
  const rename = (local: number): number => numbers[local] as number;
  return BlockIndex.decode(bytes, HEADER_BYTES, slots, get48(bytes, 16), rename);
}

function checksum(bytes: Buffer): number {
  return crc32(bytes, CRC_AT + 4, bytes.length, crc32(bytes, 0, CRC_AT));
}
