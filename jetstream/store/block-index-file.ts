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
 *                  the subjects: u32 records, u32 first slot, u32 last slot, u16 length and bytes each
 *
 * What a subject has in the block stands with it, so that a start need not look at each message.
 */

import { Buffer } from 'node:buffer';
import { BlockIndex, type SlotRenaming } from './block-index.ts';
import { crc32 } from './crc32.ts';
import { get16, get32, get48, put16, put32, put48 } from './integers.ts';
import type { SubjectIndex } from './subject-index.ts';

const MAGIC = 'PETIDX02';
const HEADER_BYTES = 36;
const CRC_AT = 32;
const SUBJECT_HEAD_BYTES = 14;

/** The file of an index. A block is closed in the middle of publishing: this takes as little as it can. */
export function encodeBlockIndex(stream: number, block: number, index: BlockIndex, subjects: SubjectIndex): Buffer {
  const { slots } = index;
  const summary = new SubjectSummary(slots, subjects.size);
  const columns = HEADER_BYTES + slots * 8;
  // Most subjects of a block are a few bytes long: the buffer is made large enough when they are known.
  const head = Buffer.allocUnsafeSlow(columns);
  index.encode(head, HEADER_BYTES, summary);
  let textBytes = summary.count * SUBJECT_HEAD_BYTES;
  for (let i = 0; i < summary.count; i++) textBytes += subjects.bytes(summary.subjects[i] as number);
  const out = Buffer.allocUnsafeSlow(columns + textBytes);
  head.copy(out, HEADER_BYTES, HEADER_BYTES);
  out.write(MAGIC, 0, 'latin1');
  put32(out, 8, stream);
  put32(out, 12, block);
  put48(out, 16, index.firstSequence);
  put16(out, 22, 0);
  put32(out, 24, slots);
  put32(out, 28, summary.count);
  let at = columns;
  for (let i = 0; i < summary.count; i++) {
    const subject = summary.subjects[i] as number;
    put32(out, at, summary.records[i] as number);
    put32(out, at + 4, summary.firstSlots[i] as number);
    put32(out, at + 8, summary.lastSlots[i] as number);
    put16(out, at + 12, subjects.bytes(subject));
    at = subjects.copyTo(subject, out, at + SUBJECT_HEAD_BYTES);
  }
  put32(out, CRC_AT, checksum(out));
  return out;
}

/** The subjects of a block, numbered in the order in which its slots mention them. */
class SubjectSummary implements SlotRenaming {
  count = 0;
  readonly subjects: Uint32Array;
  readonly records: Uint32Array;
  readonly firstSlots: Uint32Array;
  readonly lastSlots: Uint32Array;
  /** Number here + 1 by number in the stream, 0: not mentioned yet. */
  private readonly local: Uint32Array;

  constructor(slots: number, subjects: number) {
    const most = Math.min(slots, subjects);
    this.subjects = new Uint32Array(most);
    this.records = new Uint32Array(most);
    this.firstSlots = new Uint32Array(most);
    this.lastSlots = new Uint32Array(most);
    this.local = new Uint32Array(subjects);
  }

  rename(subject: number, slot: number): number {
    let number = (this.local[subject] as number) - 1;
    if (number < 0) {
      number = this.count++;
      this.local[subject] = this.count;
      this.subjects[number] = subject;
      this.firstSlots[number] = slot;
    }
    this.records[number] = (this.records[number] as number) + 1;
    this.lastSlots[number] = slot;
    return number;
  }
}

/** An intact index file of one block; its subjects are renumbered as `subjects` has them. */
export class BlockIndexFile {
  private readonly bytes: Buffer;
  private readonly slots: number;
  private readonly numbers: Uint32Array;

  private constructor(bytes: Buffer, subjects: SubjectIndex) {
    this.bytes = bytes;
    this.slots = get32(bytes, 24);
    this.numbers = new Uint32Array(get32(bytes, 28));
    let at = HEADER_BYTES + this.slots * 8;
    for (let i = 0; i < this.numbers.length; i++) {
      const start = at + SUBJECT_HEAD_BYTES;
      at = start + get16(bytes, at + 12);
      this.numbers[i] = subjects.intern(bytes, start, at);
    }
  }

  /** `null` when the bytes are not this block's index, intact. */
  static of(bytes: Buffer, stream: number, block: number, subjects: SubjectIndex): BlockIndexFile | null {
    if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return null;
    if (get32(bytes, CRC_AT) !== checksum(bytes)) return null;
    if (get32(bytes, 8) !== stream || get32(bytes, 12) !== block) return null;
    return new BlockIndexFile(bytes, subjects);
  }

  index(): BlockIndex {
    const { bytes, slots, numbers } = this;
    return BlockIndex.decode(bytes, HEADER_BYTES, slots, get48(bytes, 16), (local) => numbers[local] as number);
  }

  /** Records in the block. */
  get records(): number {
    let records = 0;
    this.eachSubject((_subject, count) => (records += count));
    return records;
  }

  /** Each subject with its number of records and their first and last sequence. */
  eachSubject(visit: (subject: number, records: number, first: number, last: number) => void): void {
    const { bytes, numbers } = this;
    const firstSequence = get48(bytes, 16);
    let at = HEADER_BYTES + this.slots * 8;
    for (const subject of numbers) {
      visit(subject, get32(bytes, at), firstSequence + get32(bytes, at + 4), firstSequence + get32(bytes, at + 8));
      at += SUBJECT_HEAD_BYTES + get16(bytes, at + 12);
    }
  }
}

function checksum(bytes: Buffer): number {
  return crc32(bytes, CRC_AT + 4, bytes.length, crc32(bytes, 0, CRC_AT));
}
