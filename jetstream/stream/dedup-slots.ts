/**
 * Where the ids of a duplicate window are found by their hashes: a table of places with open addressing, at most half
 * full. It grows and shrinks in steps of STEP_SLOTS, so that no id has to wait for all the others: while an old table is
 * being emptied, an id may stand in both, and is looked for in the new one first.
 *
 *     slot   0 empty, GONE one that was removed while the table is being emptied, else place + 1
 */

import { slotOf } from '../../server/subject/subject-hash.ts';

const SLOTS_MIN = 64;
/** With STEP_SLOTS moved for each id that comes or goes, moving ends long before the new table is half full. */
const STEP_SLOTS = 64;
/** A table with fewer than one id in so many slots shrinks. */
const SPARSE = 32;
const EMPTY = 0;
const GONE = 0xffff_ffff;
const NONE = -1;

/** The ids behind the places. */
export interface PlacedIds {
  hash(place: number): number;
}

export class DedupSlots {
  private readonly ids: PlacedIds;
  private slots = new Uint32Array(SLOTS_MIN);
  private old: Uint32Array | null = null;
  private moved = 0;
  size = 0;

  constructor(ids: PlacedIds) {
    this.ids = ids;
  }

  /** The place of the id with this hash that `isIt`, -1 when there is none. */
  find(hash: number, isIt: (place: number) => boolean): number {
    const found = this.search(this.slots, hash, isIt);
    if (found >= 0) return (this.slots[found] as number) - 1;
    if (this.old === null) return NONE;
    const before = this.search(this.old, hash, isIt);
    return before < 0 ? NONE : (this.old[before] as number) - 1;
  }

  /** Makes room for so many ids; there are none yet. */
  reserve(ids: number): void {
    let length = SLOTS_MIN;
    while (length < ids * 2) length *= 2;
    this.slots = new Uint32Array(length);
  }

  /** Adds an id that is not there. */
  add(hash: number, place: number): void {
    this.size++;
    if (this.old !== null) this.moveStep(this.old);
    else if (this.size * 2 > this.slots.length) this.moveTo(this.slots.length * 2);
    insert(this.slots, hash, place);
  }

  /** Removes the id at this place, if it is found there. */
  remove(place: number): void {
    const hash = this.ids.hash(place);
    const isIt = (each: number): boolean => each === place;
    const { old } = this;
    const before = old === null ? NONE : this.search(old, hash, isIt);
    if (old !== null && before >= 0) old[before] = GONE;
    const found = this.search(this.slots, hash, isIt);
    if (found >= 0) this.close(found);
    if (found >= 0 || before >= 0) this.size--;
    if (this.old !== null) this.moveStep(this.old);
    else if (this.slots.length > SLOTS_MIN && this.size * SPARSE < this.slots.length) {
      this.moveTo(this.slots.length / 4);
    }
  }

  /** The slot of the id, -1 when there is none. Ids that came together are alike: their hashes are compared first. */
  private search(slots: Uint32Array, hash: number, isIt: (place: number) => boolean): number {
    const mask = slots.length - 1;
    for (let i = slotOf(hash, mask); slots[i] !== EMPTY; i = (i + 1) & mask) {
      if (slots[i] === GONE) continue;
      const place = (slots[i] as number) - 1;
      if (this.ids.hash(place) === hash && isIt(place)) return i;
    }
    return NONE;
  }

  /** Fills the hole by moving back what stands behind it. */
  private close(slot: number): void {
    const { slots } = this;
    const mask = slots.length - 1;
    let hole = slot;
    for (let i = (hole + 1) & mask; slots[i] !== EMPTY; i = (i + 1) & mask) {
      const home = slotOf(this.ids.hash((slots[i] as number) - 1), mask);
      if (((i - home) & mask) < ((i - hole) & mask)) continue;
      slots[hole] = slots[i] as number;
      hole = i;
    }
    slots[hole] = EMPTY;
  }

  private moveTo(length: number): void {
    this.old = this.slots;
    this.moved = 0;
    this.slots = new Uint32Array(Math.max(SLOTS_MIN, length));
  }

  private moveStep(old: Uint32Array): void {
    const end = Math.min(this.moved + STEP_SLOTS, old.length);
    for (; this.moved < end; this.moved++) {
      const value = old[this.moved] as number;
      if (value !== EMPTY && value !== GONE) insert(this.slots, this.ids.hash(value - 1), value - 1);
    }
    if (this.moved === old.length) this.old = null;
  }
}

function insert(slots: Uint32Array, hash: number, place: number): void {
  const mask = slots.length - 1;
  let i = slotOf(hash, mask);
  while (slots[i] !== EMPTY) i = (i + 1) & mask;
  slots[i] = place + 1;
}
