/**
 * The subjects of one stream: for each its number of messages and their first and last sequence. Made for a million of
 * them: a hash table of numbers, columns of numbers, and one arena of bytes; no object per subject.
 *
 *     slots:   hash ──► subject number + 1 (0: free)          open addressing, at most half full
 *     columns: number ─► hash, start in the arena, length, count, first, last
 *     arena:   the subjects' bytes, one behind the other
 *
 * A subject keeps its number while the stream lives, also when it has no messages at present; blocks refer to it.
 * Growing moves the slots a step at a time: while a larger table is filled, both are asked.
 *
 * `first` and `last` are bounds once the first or last message of a subject was removed: finding the one that took its
 * place means searching, so that is done when somebody asks.
 */

import { Buffer } from 'node:buffer';
import { hashBytes, slotOf } from '../../server/subject/subject-hash.ts';

const SLOTS_MIN = 16;
const STEP_SLOTS = 512;
const ARENA_MIN = 256;
const FIRST_INEXACT = 1;
const LAST_INEXACT = 2;

export class SubjectIndex {
  private slots = new Uint32Array(SLOTS_MIN);
  /** The table before it grew, while its entries are being moved: those below `moved` are gone from it. */
  private oldSlots: Uint32Array | null = null;
  private moved = 0;
  private arena: Buffer = Buffer.allocUnsafeSlow(ARENA_MIN);
  private arenaEnd = 0;
  private hashes = new Int32Array(SLOTS_MIN);
  private starts = new Uint32Array(SLOTS_MIN);
  private lengths = new Uint16Array(SLOTS_MIN);
  private counts = new Uint32Array(SLOTS_MIN);
  private firsts = new Float64Array(SLOTS_MIN);
  private lasts = new Float64Array(SLOTS_MIN);
  private inexact = new Uint8Array(SLOTS_MIN);
  /** The last sequence appended, which may not be visible yet. */
  private appendedLasts = new Float64Array(SLOTS_MIN);
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
    this.appendedLasts[subject] = sequence;
  }

  /** The last sequence appended under the subject, removed or not. */
  appendedLast(subject: number): number {
    return this.appendedLasts[subject] as number;
  }

  /** A message with this sequence, higher than all before, was stored under the subject. */
  added(subject: number, sequence: number): void {
    const count = this.counts[subject] as number;
    if (count === 0) {
      this.live++;
      this.setFirst(subject, sequence);
    }
    this.counts[subject] = count + 1;
    this.setLast(subject, sequence);
  }

  /** So many messages were stored under the subject, the first and the last of them with these sequences. */
  addedRange(subject: number, messages: number, first: number, last: number): void {
    this.added(subject, first);
    this.counts[subject] = (this.counts[subject] as number) + messages - 1;
    this.setLast(subject, last);
  }

  /** A message of the subject was removed. */
  removed(subject: number, sequence: number): void {
    const count = (this.counts[subject] as number) - 1;
    this.counts[subject] = count;
    if (count === 0) {
      this.live--;
      return;
    }
    let inexact = this.inexact[subject] as number;
    if (this.firsts[subject] === sequence) {
      this.firsts[subject] = sequence + 1;
      inexact |= FIRST_INEXACT;
    }
    if (this.lasts[subject] === sequence) {
      this.lasts[subject] = sequence - 1;
      inexact |= LAST_INEXACT;
    }
    if (count === 1 && inexact === FIRST_INEXACT) {
      this.firsts[subject] = this.lasts[subject] as number;
      inexact = 0;
    } else if (count === 1 && inexact === LAST_INEXACT) {
      this.lasts[subject] = this.firsts[subject] as number;
      inexact = 0;
    }
    this.inexact[subject] = inexact;
  }

  count(subject: number): number {
    return this.counts[subject] as number;
  }

  /** Sequence of its first message; a lower bound unless `isFirstExact`. */
  first(subject: number): number {
    return this.firsts[subject] as number;
  }

  isFirstExact(subject: number): boolean {
    return ((this.inexact[subject] as number) & FIRST_INEXACT) === 0;
  }

  /** The first message was found by reading. */
  setFirst(subject: number, sequence: number): void {
    this.firsts[subject] = sequence;
    this.inexact[subject] = (this.inexact[subject] as number) & ~FIRST_INEXACT;
  }

  /** The first message was not found below this sequence. */
  raiseFirst(subject: number, sequence: number): void {
    if ((this.firsts[subject] as number) < sequence) this.firsts[subject] = sequence;
  }

  /** Sequence of its last message; an upper bound unless `isLastExact`. */
  last(subject: number): number {
    return this.lasts[subject] as number;
  }

  isLastExact(subject: number): boolean {
    return ((this.inexact[subject] as number) & LAST_INEXACT) === 0;
  }

  setLast(subject: number, sequence: number): void {
    this.lasts[subject] = sequence;
    this.inexact[subject] = (this.inexact[subject] as number) & ~LAST_INEXACT;
  }

  /** The last message was not found above this sequence. */
  lowerLast(subject: number, sequence: number): void {
    if ((this.lasts[subject] as number) > sequence) this.lasts[subject] = sequence;
  }

  text(subject: number): string {
    const start = this.starts[subject] as number;
    return this.arena.toString('latin1', start, start + (this.lengths[subject] as number));
  }

  /** Bytes of the subject. */
  bytes(subject: number): number {
    return this.lengths[subject] as number;
  }

  /** Copies the subject to `out[at]`; the offset behind it. */
  copyTo(subject: number, out: Buffer, at: number): number {
    const start = this.starts[subject] as number;
    return at + this.arena.copy(out, at, start, start + (this.lengths[subject] as number));
  }

  /** Every message is gone; subjects keep their numbers. */
  clearCounts(): void {
    this.counts.fill(0);
    this.live = 0;
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
      if (this.hashes[subject] === hash && this.equals(subject, buffer, start, end)) return subject;
    }
  }

  private equals(subject: number, buffer: Buffer, start: number, end: number): boolean {
    const length = end - start;
    if (this.lengths[subject] !== length) return false;
    const { arena } = this;
    const at = this.starts[subject] as number;
    for (let i = 0; i < length; i++) if (arena[at + i] !== buffer[start + i]) return false;
    return true;
  }

  private insert(buffer: Buffer, start: number, end: number, hash: number): number {
    const subject = this.size++;
    if (subject === this.hashes.length) this.growColumns(subject * 2);
    if (this.oldSlots !== null) this.moveStep(this.oldSlots);
    else if (this.size * 2 > this.slots.length) this.growSlots();
    const length = end - start;
    if (this.arenaEnd + length > this.arena.length) this.growArena(this.arenaEnd + length);
    buffer.copy(this.arena, this.arenaEnd, start, end);
    this.hashes[subject] = hash;
    this.starts[subject] = this.arenaEnd;
    this.lengths[subject] = length;
    this.arenaEnd += length;
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
      if (subject >= 0) place(this.slots, this.hashes[subject] as number, subject);
    }
    if (this.moved === old.length) this.oldSlots = null;
  }

  private growColumns(length: number): void {
    this.hashes = grown(this.hashes, new Int32Array(length));
    this.starts = grown(this.starts, new Uint32Array(length));
    this.lengths = grown(this.lengths, new Uint16Array(length));
    this.counts = grown(this.counts, new Uint32Array(length));
    this.firsts = grown(this.firsts, new Float64Array(length));
    this.lasts = grown(this.lasts, new Float64Array(length));
    this.inexact = grown(this.inexact, new Uint8Array(length));
    this.appendedLasts = grown(this.appendedLasts, new Float64Array(length));
  }

  private growArena(needed: number): void {
    let length = this.arena.length;
    while (length < needed) length *= 2;
    const arena = Buffer.allocUnsafeSlow(length);
    this.arena.copy(arena, 0, 0, this.arenaEnd);
    this.arena = arena;
  }
}

function place(slots: Uint32Array, hash: number, subject: number): void {
  const mask = slots.length - 1;
  let i = slotOf(hash, mask);
  while (slots[i] !== 0) i = (i + 1) & mask;
  slots[i] = subject + 1;
}

function grown<T extends Int32Array | Uint32Array | Uint16Array | Float64Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
