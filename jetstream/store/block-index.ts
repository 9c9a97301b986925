/**
 * Where the records of one block stand, and under which subject: two numbers a message.
 *
 *     slot = sequence - first sequence      offsets[slot]: where its record begins, NO_RECORD for a hole
 *                                           subjects[slot]: number of its subject, HAS_HEADERS if it has a header block
 *
 * With it a damaged length costs one record and not the rest of the block, and the next message of a subject is found
 * without reading records.
 */

import type { Buffer } from 'node:buffer';
import { get32, put32 } from './integers.ts';

const CAPACITY_MIN = 64;
/** A block spans at most so many sequences, with those that were skipped. */
export const SLOTS_MAX: number = 2 ** 18;
export const NO_RECORD = 0xffff_ffff;
const HAS_HEADERS = 0x8000_0000;

/** Gives the subject of a slot another number. */
export interface SlotRenaming {
  rename(subject: number, slot: number): number;
}

export class BlockIndex {
  readonly firstSequence: number;
  private offsets: Uint32Array = new Uint32Array(CAPACITY_MIN);
  private subjects: Uint32Array = new Uint32Array(CAPACITY_MIN);
  /** Slots in use; the last one holds the highest sequence. */
  slots = 0;

  constructor(firstSequence: number) {
    this.firstSequence = firstSequence;
  }

  get lastSequence(): number {
    return this.firstSequence + this.slots - 1;
  }

  /** Adds a record with a sequence above all before; skipped sequences become holes. */
  add(sequence: number, offset: number, subject: number, hasHeaders: boolean): void {
    const slot = sequence - this.firstSequence;
    if (slot >= this.offsets.length) this.grow(slot + 1);
    for (let i = this.slots; i < slot; i++) this.offsets[i] = NO_RECORD;
    this.offsets[slot] = offset;
    this.subjects[slot] = hasHeaders ? (subject | HAS_HEADERS) >>> 0 : subject;
    this.slots = slot + 1;
  }

  /** Offset of the record, NO_RECORD when there is none. */
  offset(sequence: number): number {
    const slot = sequence - this.firstSequence;
    return slot < 0 || slot >= this.slots ? NO_RECORD : (this.offsets[slot] as number);
  }

  /** Where the record behind this one begins, or where the block ends. */
  endOffset(sequence: number, blockEnd: number): number {
    for (let slot = sequence - this.firstSequence + 1; slot < this.slots; slot++) {
      const offset = this.offsets[slot] as number;
      if (offset !== NO_RECORD) return offset;
    }
    return blockEnd;
  }

  subject(sequence: number): number {
    return ((this.subjects[sequence - this.firstSequence] as number) & ~HAS_HEADERS) >>> 0;
  }

  hasHeaders(sequence: number): boolean {
    return ((this.subjects[sequence - this.firstSequence] as number) & HAS_HEADERS) !== 0;
  }

  /** Memory in bytes. */
  get bytes(): number {
    return this.offsets.length * 8;
  }

  /** Writes slots `[from, to)` of both columns, which begin at `at`, with the subjects' new numbers. */
  encode(out: Buffer, at: number, from: number, to: number, renaming: SlotRenaming): void {
    const { offsets, subjects, slots } = this;
    const subjectsAt = at + slots * 4;
    for (let i = from; i < to; i++) {
      const offset = offsets[i] as number;
      put32(out, at + i * 4, offset);
      const subject = subjects[i] as number;
      const number =
        offset === NO_RECORD ? 0 : renaming.rename((subject & ~HAS_HEADERS) >>> 0, i) | (subject & HAS_HEADERS);
      put32(out, subjectsAt + i * 4, number);
    }
  }

  /** Reads `slots` of both columns at `at`. */
  static decode(
    buffer: Buffer,
    at: number,
    slots: number,
    firstSequence: number,
    rename: (subject: number) => number,
  ): BlockIndex {
    const index = new BlockIndex(firstSequence);
    index.grow(slots);
    index.slots = slots;
    const { offsets, subjects } = index;
    const subjectsAt = at + slots * 4;
    for (let i = 0; i < slots; i++) {
      const offset = get32(buffer, at + i * 4);
      offsets[i] = offset;
      if (offset === NO_RECORD) continue;
      const subject = get32(buffer, subjectsAt + i * 4);
      subjects[i] = rename(subject & ~HAS_HEADERS) | (subject & HAS_HEADERS);
    }
    return index;
  }

  /** A copy of the slots up to `sequence`. */
  upTo(sequence: number): BlockIndex {
    const copy = new BlockIndex(this.firstSequence);
    copy.slots = Math.max(0, Math.min(this.slots, sequence - this.firstSequence + 1));
    copy.offsets = this.offsets.slice(0, Math.max(copy.slots, CAPACITY_MIN));
    copy.subjects = this.subjects.slice(0, Math.max(copy.slots, CAPACITY_MIN));
    return copy;
  }

  private grow(slots: number): void {
    let capacity = this.offsets.length;
    while (capacity < slots) capacity *= 2;
    if (capacity === this.offsets.length) return;
    const offsets = new Uint32Array(capacity);
    const subjects = new Uint32Array(capacity);
    offsets.set(this.offsets);
    subjects.set(this.subjects);
    this.offsets = offsets;
    this.subjects = subjects;
  }
}
