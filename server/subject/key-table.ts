/**
 * A hash table of entries that carry their own key and hash, made for a million of them: it grows in steps (extendible
 * hashing), so that no insertion ever moves more than one part of it, and an entry costs two to four pointers here.
 *
 *     directory (by the high bits of the hash)      part: open addressing, linear probing, at most half full
 *     ┌────┬────┬────┬────┐                         ┌───┬───┬───┬───┬───┬───┬───┬───┐
 *     │ 00 │ 01 │ 10 │ 11 │  01, 00 may share one   │   │ e │ e │   │   │ e │   │   │
 *     └─┬──┴─┬──┴─┬──┴─┬──┘                         └───┴───┴───┴───┴───┴───┴───┴───┘
 *
 * A part that reaches PART_ENTRIES_MAX is split in two by one more bit of the hash; the directory doubles when needed.
 * Beyond DEPTH_MAX bits parts simply grow. Removal shifts the entries behind back, so there are no tombstones. A `Map`
 * of a million entries pauses for tens of milliseconds when it grows.
 */

import { slotOf, textEqualsBytes } from './subject-hash.ts';

export interface Keyed {
  /** Char codes are bytes. */
  readonly key: string;
  readonly hash: number;
}

const PART_ENTRIES_MAX = 4096;
const DEPTH_MAX = 20;
const SLOTS_MIN = 4;

class Part<T extends Keyed> {
  slots: (T | null)[];
  count = 0;
  readonly depth: number;

  constructor(depth: number, slots: number) {
    this.depth = depth;
    this.slots = emptySlots(slots);
  }

  put(entry: T): void {
    if ((this.count + 1) * 2 > this.slots.length) this.resize(this.slots.length * 2);
    const mask = this.slots.length - 1;
    let i = slotOf(entry.hash, mask);
    while (this.slots[i] !== null) i = (i + 1) & mask;
    this.slots[i] = entry;
    this.count++;
  }

  removeAt(index: number): void {
    const { slots } = this;
    const mask = slots.length - 1;
    let hole = index;
    for (let i = (hole + 1) & mask; ; i = (i + 1) & mask) {
      const entry = slots[i] as T | null;
      if (entry === null) break;
      const home = slotOf(entry.hash, mask);
      // The entry may move into the hole unless its home lies cyclically behind the hole.
      if (((i - home) & mask) < ((i - hole) & mask)) continue;
      slots[hole] = entry;
      hole = i;
    }
    slots[hole] = null;
    this.count--;
    if (slots.length > 32 && this.count * 8 < slots.length) this.resize(slots.length / 2);
  }

  private resize(length: number): void {
    const old = this.slots;
    const mask = length - 1;
    const slots = emptySlots<T>(length);
    for (const entry of old) {
      if (entry === null) continue;
      let i = slotOf(entry.hash, mask);
      while (slots[i] !== null) i = (i + 1) & mask;
      slots[i] = entry;
    }
    this.slots = slots;
  }
}

function emptySlots<T>(length: number): (T | null)[] {
  const slots: (T | null)[] = [];
  for (let i = 0; i < length; i++) slots.push(null);
  return slots;
}

export class KeyTable<T extends Keyed> {
  private directory: Part<T>[] = [new Part<T>(0, SLOTS_MIN)];
  /** Bits of the hash that select a part. */
  private depth = 0;
  size = 0;

  /** The entry whose key is `buffer[start, end)`, given the hash of these bytes. */
  findBytes(buffer: Uint8Array, start: number, end: number, hash: number): T | null {
    const { slots } = this.partOf(hash);
    const mask = slots.length - 1;
    for (let i = slotOf(hash, mask); ; i = (i + 1) & mask) {
      const entry = slots[i] as T | null;
      if (entry === null) return null;
      if (entry.hash === hash && textEqualsBytes(entry.key, buffer, start, end)) return entry;
    }
  }

  find(key: string, hash: number): T | null {
    const { slots } = this.partOf(hash);
    const index = slotIn(slots, key, hash);
    return index < 0 ? null : (slots[index] as T);
  }

  /** Adds an entry whose key is not there yet. */
  add(entry: T): void {
    let part = this.partOf(entry.hash);
    while (part.count >= PART_ENTRIES_MAX && part.depth < DEPTH_MAX) {
      this.split(part, entry.hash);
      part = this.partOf(entry.hash);
    }
    part.put(entry);
    this.size++;
  }

  /** Puts `entry` in the place of the one with the same key. */
  replace(entry: T): void {
    const { slots } = this.partOf(entry.hash);
    const index = slotIn(slots, entry.key, entry.hash);
    if (index >= 0) slots[index] = entry;
  }

  remove(key: string, hash: number): void {
    const part = this.partOf(hash);
    const index = slotIn(part.slots, key, hash);
    if (index < 0) return;
    part.removeAt(index);
    this.size--;
  }

  /** Every entry, in no order. Entries added or removed meanwhile may be seen or not. */
  *entries(): Generator<T> {
    const seen = new Set<Part<T>>();
    for (const part of this.directory) {
      if (seen.has(part)) continue;
      seen.add(part);
      for (const entry of part.slots) if (entry !== null) yield entry;
    }
  }

  private partOf(hash: number): Part<T> {
    return (this.depth === 0 ? this.directory[0] : this.directory[hash >>> (32 - this.depth)]) as Part<T>;
  }

  private split(part: Part<T>, hash: number): void {
    if (part.depth === this.depth) {
      const doubled: Part<T>[] = [];
      for (const each of this.directory) doubled.push(each, each);
      this.directory = doubled;
      this.depth++;
    }
    const depth = part.depth + 1;
    const low = new Part<T>(depth, PART_ENTRIES_MAX);
    const high = new Part<T>(depth, PART_ENTRIES_MAX);
    for (const entry of part.slots) {
      if (entry !== null) ((entry.hash >>> (32 - depth)) & 1 ? high : low).put(entry);
    }
    // All directory entries that share the part's leading bits pointed to it: the first half now goes to `low`.
    const span = 1 << (this.depth - part.depth);
    const first = part.depth === 0 ? 0 : (hash >>> (32 - part.depth)) * span;
    for (let i = 0; i < span; i++) this.directory[first + i] = i < span / 2 ? low : high;
  }
}

function slotIn(slots: readonly (Keyed | null)[], key: string, hash: number): number {
  const mask = slots.length - 1;
  for (let i = slotOf(hash, mask); ; i = (i + 1) & mask) {
    const entry = slots[i] as Keyed | null;
    if (entry === null) return -1;
    if (entry.hash === hash && entry.key === key) return i;
  }
}
