/**
 * The message ids of a stream's duplicate window, oldest first. Made for a million of them: columns of numbers in a ring,
 * one ring of bytes, and a hash table of ring positions.
 *
 *     ring     oldest ► id, id, id, ... ◄ newest      columns: hash, start in the bytes, length, sequence, milliseconds
 *     bytes    the ids, one behind the other, wrapping around
 *     slots    hash ──► ring position + 1             open addressing, at most half full; removal shifts back
 *
 * Ids are remembered when they are appended, so that a repeat of a message on its way is known too. Growing copies the
 * ring; a ring of a million entries takes a few milliseconds.
 */

import { Buffer } from 'node:buffer';
import { hashText, slotOf } from '../../server/subject/subject-hash.ts';
import { get16, get48, put16, put48 } from '../store/integers.ts';

const CAPACITY_MIN = 64;
const BYTES_MIN = 1024;
const ID_BYTES_MAX = 65_535;
const ENTRY_BYTES = 14;
/** Sequence of an entry whose id was remembered anew. */
const SUPERSEDED = 0;

export class DedupWindow {
  private capacity = CAPACITY_MIN;
  private hashes = new Int32Array(CAPACITY_MIN);
  private starts = new Uint32Array(CAPACITY_MIN);
  private lengths = new Uint16Array(CAPACITY_MIN);
  private sequences = new Float64Array(CAPACITY_MIN);
  private times = new Float64Array(CAPACITY_MIN);
  private slots = new Uint32Array(CAPACITY_MIN * 2);
  private bytes: Buffer = Buffer.allocUnsafe(BYTES_MIN);
  private bytesUsed = 0;
  private bytesEnd = 0;
  private head = 0;
  size = 0;

  /** The sequence under which the id was stored at or after `sinceMs`, 0 when it was not. */
  find(id: string, sinceMs: number): number {
    const slot = this.slotFor(id, hashText(id, 0));
    if (slot < 0) return 0;
    const position = (this.slots[slot] as number) - 1;
    return (this.times[position] as number) < sinceMs ? 0 : (this.sequences[position] as number);
  }

  /** Remembers an id that is not in the window. One that is, but too old to count, is found no more. */
  add(id: string, sequence: number, timeMs: number): void {
    if (id.length > ID_BYTES_MAX) return;
    const hash = hashText(id, 0);
    const old = this.slotFor(id, hash);
    if (old >= 0) {
      this.sequences[(this.slots[old] as number) - 1] = SUPERSEDED;
      this.removeSlot(old);
    }
    if (this.size === this.capacity) this.growRing();
    if (this.bytesUsed + id.length > this.bytes.length) this.growBytes(id.length);
    const position = (this.head + this.size) % this.capacity;
    this.hashes[position] = hash;
    this.starts[position] = this.bytesEnd;
    this.lengths[position] = id.length;
    this.sequences[position] = sequence;
    this.times[position] = timeMs;
    this.writeId(id);
    this.size++;
    this.place(position, hash);
  }

  /** Forgets the ids that were remembered before `timeMs`. At most `limit`; true when there may be more. */
  expire(timeMs: number, limit: number): boolean {
    for (let i = 0; i < limit; i++) {
      if (this.size === 0 || (this.times[this.head] as number) >= timeMs) return false;
      this.dropOldest();
    }
    return true;
  }

  /** When the oldest id was remembered; `null` when there is none. */
  get oldestMs(): number | null {
    return this.size === 0 ? null : (this.times[this.head] as number);
  }

  clear(): void {
    while (this.size > 0) this.dropOldest();
  }

  /** The entries with a sequence up to `lastSequence`, for a checkpoint. */
  encode(lastSequence: number): Buffer {
    const out = Buffer.allocUnsafe(this.size * ENTRY_BYTES + this.bytesUsed);
    let at = 0;
    for (let i = 0; i < this.size; i++) {
      const position = (this.head + i) % this.capacity;
      const sequence = this.sequences[position] as number;
      if (sequence === SUPERSEDED || sequence > lastSequence) continue;
      const id = this.idAt(position);
      put48(out, at, sequence);
      put48(out, at + 6, this.times[position] as number);
      put16(out, at + 12, id.length);
      at += ENTRY_BYTES + out.write(id, at + ENTRY_BYTES, 'latin1');
    }
    return out.subarray(0, at);
  }

  /** Takes over the entries of a checkpoint. */
  decode(encoded: Buffer): void {
    for (let at = 0; at < encoded.length;) {
      const length = get16(encoded, at + 12);
      const start = at + ENTRY_BYTES;
      const id = encoded.toString('latin1', start, start + length);
      this.add(id, get48(encoded, at), get48(encoded, at + 6));
      at = start + length;
    }
  }

  private slotFor(id: string, hash: number): number {
    const { slots } = this;
    const mask = slots.length - 1;
    for (let i = slotOf(hash, mask); ; i = (i + 1) & mask) {
      const position = (slots[i] as number) - 1;
      if (position < 0) return -1;
      if (this.hashes[position] === hash && this.equals(position, id)) return i;
    }
  }

  private equals(position: number, id: string): boolean {
    const length = this.lengths[position] as number;
    if (length !== id.length) return false;
    const { bytes } = this;
    let at = this.starts[position] as number;
    for (let i = 0; i < length; i++) {
      if (bytes[at] !== id.charCodeAt(i)) return false;
      if (++at === bytes.length) at = 0;
    }
    return true;
  }

  private idAt(position: number): string {
    const start = this.starts[position] as number;
    const end = start + (this.lengths[position] as number);
    const { bytes } = this;
    if (end <= bytes.length) return bytes.toString('latin1', start, end);
    return bytes.toString('latin1', start) + bytes.toString('latin1', 0, end - bytes.length);
  }

  private writeId(id: string): void {
    const { bytes } = this;
    let at = this.bytesEnd;
    for (let i = 0; i < id.length; i++) {
      bytes[at] = id.charCodeAt(i);
      if (++at === bytes.length) at = 0;
    }
    this.bytesEnd = at;
    this.bytesUsed += id.length;
  }

  private place(position: number, hash: number): void {
    const { slots } = this;
    const mask = slots.length - 1;
    let i = slotOf(hash, mask);
    while (slots[i] !== 0) i = (i + 1) & mask;
    slots[i] = position + 1;
  }

  private dropOldest(): void {
    const position = this.head;
    this.unplace(position);
    this.bytesUsed -= this.lengths[position] as number;
    this.head = (position + 1) % this.capacity;
    this.size--;
  }

  /** Takes the entry at this ring position out of the table, if it is the one found there. */
  private unplace(position: number): void {
    const { slots, hashes } = this;
    const mask = slots.length - 1;
    let slot = slotOf(hashes[position] as number, mask);
    while (slots[slot] !== position + 1) {
      if (slots[slot] === 0) return;
      slot = (slot + 1) & mask;
    }
    this.removeSlot(slot);
  }

  private removeSlot(slot: number): void {
    const { slots, hashes } = this;
    const mask = slots.length - 1;
    let hole = slot;
    for (let i = (hole + 1) & mask; slots[i] !== 0; i = (i + 1) & mask) {
      const home = slotOf(hashes[(slots[i] as number) - 1] as number, mask);
      if (((i - home) & mask) < ((i - hole) & mask)) continue;
      slots[hole] = slots[i] as number;
      hole = i;
    }
    slots[hole] = 0;
  }

  private growRing(): void {
    const { capacity, head, size } = this;
    const grow = <T extends Int32Array | Uint32Array | Uint16Array | Float64Array>(from: T, to: T): T => {
      to.set(from.subarray(head));
      to.set(from.subarray(0, head), capacity - head);
      return to;
    };
    const larger = capacity * 2;
    this.hashes = grow(this.hashes, new Int32Array(larger));
    this.starts = grow(this.starts, new Uint32Array(larger));
    this.lengths = grow(this.lengths, new Uint16Array(larger));
    this.sequences = grow(this.sequences, new Float64Array(larger));
    this.times = grow(this.times, new Float64Array(larger));
    this.capacity = larger;
    this.head = 0;
    this.slots = new Uint32Array(larger * 2);
    for (let i = 0; i < size; i++) {
      if (this.sequences[i] !== SUPERSEDED) this.place(i, this.hashes[i] as number);
    }
  }

  private growBytes(needed: number): void {
    let length = this.bytes.length;
    while (length < this.bytesUsed + needed) length *= 2;
    const larger = Buffer.allocUnsafe(length);
    let at = 0;
    for (let i = 0; i < this.size; i++) {
      const position = (this.head + i) % this.capacity;
      const id = this.idAt(position);
      this.starts[position] = at;
      at += larger.write(id, at, 'latin1');
    }
    this.bytes = larger;
    this.bytesEnd = at;
  }
}
