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
/** Slots or subjects that are encoded in one piece of work. */
const PIECE_SLOTS = 4096;

/** The file of an index, a piece at a time, since much else goes on. The index takes no more records. */
export function* blockIndexBytes(
  stream: number,
  block: number,
  index: BlockIndex,
  subjects: SubjectIndex,
): Generator<void, Buffer> {
  const { slots } = index;
  const summary = new SubjectSummary(slots, subjects.size);
  const columns = HEADER_BYTES + slots * 8;
  // Most subjects of a block are a few bytes long: the buffer is made large enough when they are known.
  const head = Buffer.allocUnsafeSlow(columns);
  for (let from = 0; from < slots; from += PIECE_SLOTS) {
    index.encode(head, HEADER_BYTES, from, Math.min(slots, from + PIECE_SLOTS), summary);
    yield;
  }
  const textBytes = yield* summary.textBytes(subjects);
  const out = Buffer.allocUnsafeSlow(columns + summary.count * SUBJECT_HEAD_BYTES + textBytes);
  head.copy(out, HEADER_BYTES, HEADER_BYTES);
  out.write(MAGIC, 0, 'latin1');
  put32(out, 8, stream);
  put32(out, 12, block);
  put48(out, 16, index.firstSequence);
  put16(out, 22, 0);
  put32(out, 24, slots);
  put32(out, 28, summary.count);
  yield* summary.encode(out, columns, subjects);
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

  /** Bytes of all subjects. */
  *textBytes(subjects: SubjectIndex): Generator<void, number> {
    let bytes = 0;
    for (let i = 0; i < this.count; i++) {
      bytes += subjects.bytes(this.subjects[i] as number);
      if (i % PIECE_SLOTS === 0) yield;
    }
    return bytes;
  }

  /** Writes each subject at `at`, one behind the other. */
  *encode(out: Buffer, at: number, subjects: SubjectIndex): Generator<void> {
    let end = at;
    for (let i = 0; i < this.count; i++) {
      const subject = this.subjects[i] as number;
      put32(out, end, this.records[i] as number);
      put32(out, end + 4, this.firstSlots[i] as number);
      put32(out, end + 8, this.lastSlots[i] as number);
      put16(out, end + 12, subjects.bytes(subject));
      end = subjects.copyTo(subject, out, end + SUBJECT_HEAD_BYTES);
      if (i % PIECE_SLOTS === 0) yield;
    }
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
