/**
 * The subjects of one stream: for each its number of messages and their first and last sequence. Made for a million of
 * them: a hash table of numbers, and chunks of columns and bytes; no object per subject.
 *
 *     slots:  hash ──► subject number + 1 (0: free)          open addressing, at most half full
 *     chunks: number ─► hash, bytes, count, first, last      `subject-chunk.ts`
 *
 * A subject keeps its number while the stream lives, also when it has no messages at present; blocks refer to it.
 * Growing moves the slots a step at a time: while a larger table is filled, both are asked. Chunks are never moved.
 *
 * `first` and `last` are bounds once the first or last message of a subject was removed: finding the one that took its
 * place means searching, so that is done when somebody asks.
 */

import { Buffer } from 'node:buffer';
import { hashBytes, slotOf } from '../../server/subject/subject-hash.ts';
import { CHUNK_BITS, CHUNK_SUBJECTS, SubjectChunk } from './subject-chunk.ts';

const SLOTS_MIN = 16;
const STEP_SLOTS = 512;
const CHUNK_MASK = CHUNK_SUBJECTS - 1;
const FIRST_INEXACT = 1;
const LAST_INEXACT = 2;

export class SubjectIndex {
  private slots = new Uint32Array(SLOTS_MIN);
  /** The table before it grew, while its entries are being moved: those below `moved` are gone from it. */
  private oldSlots: Uint32Array | null = null;
  private moved = 0;
  private readonly chunks: SubjectChunk[] = [];
  /** Subjects that ever had a message; numbers run from 0 to this. */
  size = 0;
  /** Subjects that have messages. */
  live = 0;

  /** The number of the subject `buffer[start, end)`, -1 when it never had a message. */
  find(buffer: Buffer, start: number, end: number): number {
    return this.lookup(buffer, start, end, hashBytes(buffer, start, end, 0));
  }

  findText(subject: string): number {
    const bytes = Buffer.from(subject, 'latin1');
    return this.find(bytes, 0, bytes.length);
  }

  /** The subject's number, a new one if it has none. */
  intern(buffer: Buffer, start: number, end: number): number {
    const hash = hashBytes(buffer, start, end, 0);
    const found = this.lookup(buffer, start, end, hash);
    return found >= 0 ? found : this.insert(buffer, start, end, hash);
  }

  /** A message was appended under the subject; it is not visible yet. */
  appended(subject: number, sequence: number): void {
    this.chunkOf(subject).appendedLasts[subject & CHUNK_MASK] = sequence;
  }

  /** The last sequence appended under the subject, removed or not. */
  appendedLast(subject: number): number {
    return this.chunkOf(subject).appendedLasts[subject & CHUNK_MASK] as number;
  }

  /** A message with this sequence, higher than all before, was stored under the subject. */
  added(subject: number, sequence: number): void {
    const { counts } = this.chunkOf(subject);
    const at = subject & CHUNK_MASK;
    const count = counts[at] as number;
    if (count === 0) {
      this.live++;
      this.setFirst(subject, sequence);
    }
    counts[at] = count + 1;
    this.setLast(subject, sequence);
  }

  /** So many messages were stored under the subject, the first and the last of them with these sequences. */
  addedRange(subject: number, messages: number, first: number, last: number): void {
    this.added(subject, first);
    const { counts } = this.chunkOf(subject);
    const at = subject & CHUNK_MASK;
    counts[at] = (counts[at] as number) + messages - 1;
    this.setLast(subject, last);
  }

  /** A message of the subject was removed. */
  removed(subject: number, sequence: number): void {
    const chunk = this.chunkOf(subject);
    const { counts, firsts, lasts } = chunk;
    const at = subject & CHUNK_MASK;
    const count = (counts[at] as number) - 1;
    counts[at] = count;
    if (count === 0) {
      this.live--;
      return;
    }
    let inexact = chunk.inexact[at] as number;
    if (firsts[at] === sequence) {
      firsts[at] = sequence + 1;
      inexact |= FIRST_INEXACT;
    }
    if (lasts[at] === sequence) {
      lasts[at] = sequence - 1;
      inexact |= LAST_INEXACT;
    }
    if (count === 1 && inexact === FIRST_INEXACT) {
      firsts[at] = lasts[at] as number;
      inexact = 0;
    } else if (count === 1 && inexact === LAST_INEXACT) {
      lasts[at] = firsts[at] as number;
      inexact = 0;
    }
    chunk.inexact[at] = inexact;
  }

  count(subject: number): number {
    return this.chunkOf(subject).counts[subject & CHUNK_MASK] as number;
  }

  /** Sequence of its first message; a lower bound unless `isFirstExact`. */
  first(subject: number): number {
    return this.chunkOf(subject).firsts[subject & CHUNK_MASK] as number;
  }

  isFirstExact(subject: number): boolean {
    return ((this.chunkOf(subject).inexact[subject & CHUNK_MASK] as number) & FIRST_INEXACT) === 0;
  }

  /** The first message was found by reading. */
  setFirst(subject: number, sequence: number): void {
    const { firsts, inexact } = this.chunkOf(subject);
    const at = subject & CHUNK_MASK;
    firsts[at] = sequence;
    inexact[at] = (inexact[at] as number) & ~FIRST_INEXACT;
  }

  /** The first message was not found below this sequence. */
  raiseFirst(subject: number, sequence: number): void {
    const { firsts } = this.chunkOf(subject);
    const at = subject & CHUNK_MASK;
    if ((firsts[at] as number) < sequence) firsts[at] = sequence;
  }

  /** Sequence of its last message; an upper bound unless `isLastExact`. */
  last(subject: number): number {
    return this.chunkOf(subject).lasts[subject & CHUNK_MASK] as number;
  }

  isLastExact(subject: number): boolean {
    return ((this.chunkOf(subject).inexact[subject & CHUNK_MASK] as number) & LAST_INEXACT) === 0;
  }

  setLast(subject: number, sequence: number): void {
    const { lasts, inexact } = this.chunkOf(subject);
    const at = subject & CHUNK_MASK;
    lasts[at] = sequence;
    inexact[at] = (inexact[at] as number) & ~LAST_INEXACT;
  }

  /** The last message was not found above this sequence. */
  lowerLast(subject: number, sequence: number): void {
    const { lasts } = this.chunkOf(subject);
    const at = subject & CHUNK_MASK;
    if ((lasts[at] as number) > sequence) lasts[at] = sequence;
  }

  text(subject: number): string {
    return this.chunkOf(subject).text(subject & CHUNK_MASK);
  }

  /** Bytes of the subject. */
  bytes(subject: number): number {
    return this.chunkOf(subject).lengths[subject & CHUNK_MASK] as number;
  }

  /** Copies the subject to `out[at]`; the offset behind it. */
  copyTo(subject: number, out: Buffer, at: number): number {
    return this.chunkOf(subject).copyTo(subject & CHUNK_MASK, out, at);
  }

  /** Every message is gone; subjects keep their numbers. */
  clearCounts(): void {
    for (const { counts } of this.chunks) counts.fill(0);
    this.live = 0;
  }

  private chunkOf(subject: number): SubjectChunk {
    return this.chunks[subject >>> CHUNK_BITS] as SubjectChunk;
  }

  private lookup(buffer: Buffer, start: number, end: number, hash: number): number {
    const found = this.lookupIn(this.slots, buffer, start, end, hash);
    if (found >= 0 || this.oldSlots === null) return found;
    return this.lookupIn(this.oldSlots, buffer, start, end, hash);
  }

  private lookupIn(slots: Uint32Array, buffer: Buffer, start: number, end: number, hash: number): number {
    const mask = slots.length - 1;
    for (let i = slotOf(hash, mask); ; i = (i + 1) & mask) {
      const subject = (slots[i] as number) - 1;
      if (subject < 0) return -1;
      const chunk = this.chunkOf(subject);
      const at = subject & CHUNK_MASK;
      if (chunk.hashes[at] === hash && chunk.equals(at, buffer, start, end)) return subject;
    }
  }

  private insert(buffer: Buffer, start: number, end: number, hash: number): number {
    const subject = this.size++;
    if (this.chunks.at(-1)?.isFull !== false) this.chunks.push(new SubjectChunk());
    this.chunkOf(subject).add(buffer, start, end, hash);
    if (this.oldSlots !== null) this.moveStep(this.oldSlots);
    else if (this.size * 2 > this.slots.length) this.growSlots();
    place(this.slots, hash, subject);
    return subject;
  }

  /** Begins to move to a table twice as large. Moving is finished long before the new one is half full. */
  private growSlots(): void {
    this.oldSlots = this.slots;
    this.moved = 0;
    this.slots = new Uint32Array(this.oldSlots.length * 2);
  }

  private moveStep(old: Uint32Array): void {
    const end = Math.min(this.moved + STEP_SLOTS, old.length);
    // Entries stay in the old table until all have moved, so that its probe chains keep whole.
    for (; this.moved < end; this.moved++) {
      const subject = (old[this.moved] as number) - 1;
      if (subject >= 0) place(this.slots, this.hashOf(subject), subject);
    }
    if (this.moved === old.length) this.oldSlots = null;
  }

  private hashOf(subject: number): number {
    return this.chunkOf(subject).hashes[subject & CHUNK_MASK] as number;
  }
}

function place(slots: Uint32Array, hash: number, subject: number): void {
  const mask = slots.length - 1;
  let i = slotOf(hash, mask);
  while (slots[i] !== 0) i = (i + 1) & mask;
  slots[i] = subject + 1;
}
