/**
 * The messages that a consumer delivered and that are not acknowledged yet, in the order of their sequences. There may be
 * any number of them, so they are columns of numbers: a hash table finds one by stream sequence, links keep the order.
 *
 *     slots    stream sequence ──► row + 1              open addressing, at most half full; removal shifts back
 *     rows     stream sequence, consumer sequence of the first delivery, deadline, deliveries, flags, next, previous
 */

import { strict as assert } from 'node:assert';
import { PendingSnapshot } from './pending-snapshot.ts';

const CAPACITY_MIN = 16;
/** A table that is empty gives its memory back if it has room for more than this. */
const CAPACITY_KEPT = 8192;
const NO_ROW = -1;
const QUEUED = 1;
const HELD = 2;

export class PendingTable {
  private capacity = CAPACITY_MIN;
  private slots = new Uint32Array(CAPACITY_MIN * 2);
  private streamSequences = new Float64Array(CAPACITY_MIN);
  private consumerSequences = new Float64Array(CAPACITY_MIN);
  private deadlines = new Float64Array(CAPACITY_MIN);
  private deliveries = new Uint32Array(CAPACITY_MIN);
  private flags = new Uint8Array(CAPACITY_MIN);
  private nexts = new Int32Array(CAPACITY_MIN);
  private previous = new Int32Array(CAPACITY_MIN);
  private free = NO_ROW;
  private used = 0;
  private first = NO_ROW;
  private last = NO_ROW;
  /** Of what is captured, rows are kept before they change. */
  private snapshot: PendingSnapshot | null = null;
  /** The row that somebody who looks at all of them has come to, -1: none. It moves on when its row is taken out. */
  cursor: number = NO_ROW;
  size = 0;
  /** Messages delivered more than once. */
  redelivered = 0;

  /** The row of a stream sequence, -1 when it is not pending. */
  row(sequence: number): number {
    const { slots } = this;
    const mask = slots.length - 1;
    for (let i = hash(sequence) & mask; ; i = (i + 1) & mask) {
      const row = (slots[i] as number) - 1;
      if (row < 0) return NO_ROW;
      if (this.streamSequences[row] === sequence) return row;
    }
  }

  /** Adds a sequence that is not pending; nearly always above all others. */
  add(sequence: number, consumerSequence: number, deadlineMs: number, deliveries: number): void {
    if (this.used === this.capacity && this.free === NO_ROW) this.grow();
    const row = this.takeRow();
    this.snapshot?.keep(row);
    this.streamSequences[row] = sequence;
    this.consumerSequences[row] = consumerSequence;
    this.deadlines[row] = deadlineMs;
    this.deliveries[row] = deliveries;
    this.flags[row] = 0;
    if (deliveries > 1) this.redelivered++;
    this.link(row, sequence);
    place(this.slots, row, sequence);
    this.size++;
  }

  /** Takes the row out. */
  remove(row: number): void {
    const sequence = this.streamSequences[row] as number;
    this.unplace(sequence);
    const next = this.nexts[row] as number;
    const previous = this.previous[row] as number;
    this.keepBoth(row, previous);
    if (this.cursor === row) this.cursor = next;
    if (next === NO_ROW) this.last = previous;
    else this.previous[next] = previous;
    if (previous === NO_ROW) this.first = next;
    else this.nexts[previous] = next;
    if ((this.deliveries[row] as number) > 1) this.redelivered--;
    this.nexts[row] = this.free;
    this.free = row;
    this.size--;
    if (this.size === 0 && this.capacity > CAPACITY_KEPT) this.beginAnew();
  }

  /** Takes out all with this sequence or a lower one. */
  removeUpTo(sequence: number): void {
    while (this.first !== NO_ROW && (this.streamSequences[this.first] as number) <= sequence) this.remove(this.first);
  }

  /** The sequences below this one, in order. */
  sequencesBelow(sequence: number): number[] {
    const found: number[] = [];
    for (let row = this.first; row !== NO_ROW && this.sequence(row) < sequence; row = this.nextRow(row)) {
      found.push(this.sequence(row));
    }
    return found;
  }

  clear(): void {
    while (this.first !== NO_ROW) this.remove(this.first);
  }

  // ── checkpoints ──────────────────────────────────────────────────────────────────────────────────────────────────

  /** What is pending now, to be written while it changes; to be followed by `release`. There is one at a time. */
  capture(): PendingSnapshot {
    assert(this.snapshot === null, 'a table is captured once at a time');
    this.snapshot = new PendingSnapshot(this, this.size, this.used);
    return this.snapshot;
  }

  release(): void {
    this.snapshot = null;
  }

  private keepBoth(row: number, previous: number): void {
    const { snapshot } = this;
    if (snapshot === null) return;
    snapshot.keep(row);
    if (previous !== NO_ROW) snapshot.keep(previous);
  }

  /** The row with the lowest sequence, -1 when there is none; and the one behind a row. */
  get firstRow(): number {
    return this.first;
  }

  nextRow(row: number): number {
    return this.nexts[row] as number;
  }

  sequence(row: number): number {
    return this.streamSequences[row] as number;
  }

  consumerSequence(row: number): number {
    return this.consumerSequences[row] as number;
  }

  deadlineMs(row: number): number {
    return this.deadlines[row] as number;
  }

  setDeadline(row: number, deadlineMs: number): void {
    this.snapshot?.keep(row);
    this.deadlines[row] = deadlineMs;
  }

  deliveryCount(row: number): number {
    return this.deliveries[row] as number;
  }

  setDeliveryCount(row: number, count: number): void {
    this.snapshot?.keep(row);
    const before = this.deliveries[row] as number;
    if (before <= 1 && count > 1) this.redelivered++;
    else if (before > 1 && count <= 1) this.redelivered--;
    this.deliveries[row] = count;
  }

  /** Whether the message waits to be delivered again. */
  isQueued(row: number): boolean {
    return ((this.flags[row] as number) & QUEUED) !== 0;
  }

  setQueued(row: number, queued: boolean): void {
    this.setFlag(row, QUEUED, queued);
  }

  /** Whether the message is about to leave, and must not be delivered meanwhile. */
  isHeld(row: number): boolean {
    return ((this.flags[row] as number) & HELD) !== 0;
  }

  setHeld(row: number, held: boolean): void {
    this.setFlag(row, HELD, held);
  }

  private setFlag(row: number, flag: number, isSet: boolean): void {
    const flags = this.flags[row] as number;
    this.flags[row] = isSet ? flags | flag : flags & ~flag;
  }

  private takeRow(): number {
    const { free } = this;
    if (free === NO_ROW) return this.used++;
    this.free = this.nexts[free] as number;
    return free;
  }

  private link(row: number, sequence: number): void {
    let before = this.last;
    while (before !== NO_ROW && (this.streamSequences[before] as number) > sequence) {
      before = this.previous[before] as number;
    }
    this.keepBoth(row, before);
    const after = before === NO_ROW ? this.first : (this.nexts[before] as number);
    this.previous[row] = before;
    this.nexts[row] = after;
    if (before === NO_ROW) this.first = row;
    else this.nexts[before] = row;
    if (after === NO_ROW) this.last = row;
    else this.previous[after] = row;
  }

  private unplace(sequence: number): void {
    const { slots, streamSequences } = this;
    const mask = slots.length - 1;
    let hole = hash(sequence) & mask;
    while (streamSequences[(slots[hole] as number) - 1] !== sequence) hole = (hole + 1) & mask;
    for (let i = (hole + 1) & mask; slots[i] !== 0; i = (i + 1) & mask) {
      const home = hash(streamSequences[(slots[i] as number) - 1] as number) & mask;
      if (((i - home) & mask) < ((i - hole) & mask)) continue;
      slots[hole] = slots[i] as number;
      hole = i;
    }
    slots[hole] = 0;
  }

  /** The table is empty. */
  private beginAnew(): void {
    this.capacity = CAPACITY_MIN;
    this.slots = new Uint32Array(CAPACITY_MIN * 2);
    this.streamSequences = new Float64Array(CAPACITY_MIN);
    this.consumerSequences = new Float64Array(CAPACITY_MIN);
    this.deadlines = new Float64Array(CAPACITY_MIN);
    this.deliveries = new Uint32Array(CAPACITY_MIN);
    this.flags = new Uint8Array(CAPACITY_MIN);
    this.nexts = new Int32Array(CAPACITY_MIN);
    this.previous = new Int32Array(CAPACITY_MIN);
    this.free = NO_ROW;
    this.used = 0;
  }

  private grow(): void {
    const larger = this.capacity * 2;
    this.streamSequences = grown(this.streamSequences, new Float64Array(larger));
    this.consumerSequences = grown(this.consumerSequences, new Float64Array(larger));
    this.deadlines = grown(this.deadlines, new Float64Array(larger));
    this.deliveries = grown(this.deliveries, new Uint32Array(larger));
    this.flags = grown(this.flags, new Uint8Array(larger));
    this.nexts = grown(this.nexts, new Int32Array(larger));
    this.previous = grown(this.previous, new Int32Array(larger));
    this.capacity = larger;
    this.slots = new Uint32Array(larger * 2);
    for (let row = this.first; row !== NO_ROW; row = this.nexts[row] as number) {
      place(this.slots, row, this.streamSequences[row] as number);
    }
  }
}

function hash(sequence: number): number {
  return Math.imul(sequence | 0, 0x9e3779b1) >>> 8;
}

function place(slots: Uint32Array, row: number, sequence: number): void {
  const mask = slots.length - 1;
  let i = hash(sequence) & mask;
  while (slots[i] !== 0) i = (i + 1) & mask;
  slots[i] = row + 1;
}

function grown<T extends Int32Array | Uint32Array | Uint8Array | Float64Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
