/**
 * Up to CHUNK_SUBJECTS subjects of one stream, in columns, with an arena for their bytes:
 *
 *     number in the chunk ─► hash, start in the arena, length, count, first, last, …
 *     arena: the subjects' bytes, one behind the other
 *
 * A chunk begins small and grows by copying; once it is full it stays as it is, so that no subject that comes is the one
 * for which a million others are moved.
 */

import { Buffer } from 'node:buffer';

export const CHUNK_BITS = 13;
export const CHUNK_SUBJECTS: number = 2 ** CHUNK_BITS;
const SUBJECTS_MIN = 16;
const ARENA_MIN = 256;

export class SubjectChunk {
  size = 0;
  hashes: Int32Array = new Int32Array(SUBJECTS_MIN);
  lengths: Uint16Array = new Uint16Array(SUBJECTS_MIN);
  counts: Uint32Array = new Uint32Array(SUBJECTS_MIN);
  firsts: Float64Array = new Float64Array(SUBJECTS_MIN);
  lasts: Float64Array = new Float64Array(SUBJECTS_MIN);
  inexact: Uint8Array = new Uint8Array(SUBJECTS_MIN);
  /** The last sequence appended, which may not be visible yet. */
  appendedLasts: Float64Array = new Float64Array(SUBJECTS_MIN);
  private starts = new Uint32Array(SUBJECTS_MIN);
  private arena: Buffer = Buffer.allocUnsafeSlow(ARENA_MIN);
  private arenaEnd = 0;

  get isFull(): boolean {
    return this.size === CHUNK_SUBJECTS;
  }

  /** Takes over the subject `buffer[start, end)`. */
  add(buffer: Buffer, start: number, end: number, hash: number): void {
    const at = this.size++;
    if (at === this.hashes.length) this.growColumns(at * 2);
    const length = end - start;
    if (this.arenaEnd + length > this.arena.length) this.growArena(this.arenaEnd + length);
    buffer.copy(this.arena, this.arenaEnd, start, end);
    this.hashes[at] = hash;
    this.starts[at] = this.arenaEnd;
    this.lengths[at] = length;
    this.arenaEnd += length;
  }

  equals(at: number, buffer: Buffer, start: number, end: number): boolean {
    const length = end - start;
    if (this.lengths[at] !== length) return false;
    const { arena } = this;
    const from = this.starts[at] as number;
    for (let i = 0; i < length; i++) if (arena[from + i] !== buffer[start + i]) return false;
    return true;
  }

  text(at: number): string {
    const start = this.starts[at] as number;
    return this.arena.toString('latin1', start, start + (this.lengths[at] as number));
  }

  /** Copies the subject to `out[to]`; the offset behind it. */
  copyTo(at: number, out: Buffer, to: number): number {
    const start = this.starts[at] as number;
    return to + this.arena.copy(out, to, start, start + (this.lengths[at] as number));
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
    let { length } = this.arena;
    while (length < needed) length *= 2;
    const arena = Buffer.allocUnsafeSlow(length);
    this.arena.copy(arena, 0, 0, this.arenaEnd);
    this.arena = arena;
  }
}

function grown<T extends Int32Array | Uint32Array | Uint16Array | Float64Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
