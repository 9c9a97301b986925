/**
 * When which message is to go: pairs of a deadline and a sequence, the next one first. Made for a million of them: two
 * columns of numbers in the order of a binary heap, 16 bytes a message.
 *
 * Nobody looks for the entry of a message that goes early, so entries outlive their messages. When there are many, a sweep
 * finds them, some in a turn: it takes entries from the end of the old heap, which stays a heap, and puts those that are
 * still needed into a new one. Meanwhile both are asked for the next.
 *
 *     old  ▲ next ........ ◄ end is taken off      new  ▲ next ......... ◄ entries that are needed, and new ones
 */

import { Buffer } from 'node:buffer';
import { get48, put48 } from '../store/integers.ts';

const CAPACITY_MIN = 64;
const ENTRY_BYTES = 12;
const DEADLINE_MS_MAX = 2 ** 48 - 1;

class Heap {
  deadlines = new Float64Array(CAPACITY_MIN);
  sequences = new Float64Array(CAPACITY_MIN);
  size = 0;

  get next(): number {
    return this.size === 0 ? Infinity : (this.deadlines[0] as number);
  }

  push(deadlineMs: number, sequence: number): void {
    if (this.size === this.deadlines.length) this.grow();
    let at = this.size++;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if ((this.deadlines[parent] as number) <= deadlineMs) break;
      this.move(parent, at);
      at = parent;
    }
    this.deadlines[at] = deadlineMs;
    this.sequences[at] = sequence;
  }

  pop(): void {
    const last = --this.size;
    const deadlineMs = this.deadlines[last] as number;
    const sequence = this.sequences[last] as number;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= last) break;
      if (child + 1 < last && (this.deadlines[child + 1] as number) < (this.deadlines[child] as number)) child++;
      if ((this.deadlines[child] as number) >= deadlineMs) break;
      this.move(child, at);
      at = child;
    }
    this.deadlines[at] = deadlineMs;
    this.sequences[at] = sequence;
  }

  private move(from: number, to: number): void {
    this.deadlines[to] = this.deadlines[from] as number;
    this.sequences[to] = this.sequences[from] as number;
  }

  private grow(): void {
    const { deadlines, sequences } = this;
    this.deadlines = new Float64Array(deadlines.length * 2);
    this.sequences = new Float64Array(deadlines.length * 2);
    this.deadlines.set(deadlines);
    this.sequences.set(sequences);
  }
}

export class ExpiryQueue {
  private heap = new Heap();
  /** The heap that is being swept. */
  private old: Heap | null = null;

  get size(): number {
    return this.heap.size + (this.old === null ? 0 : this.old.size);
  }

  /** The next deadline in wall milliseconds; Infinity: there is none. */
  get nextMs(): number {
    return this.first.next;
  }

  /** Whose deadline that is. */
  get nextSequence(): number {
    return this.first.sequences[0] as number;
  }

  get isSweeping(): boolean {
    return this.old !== null;
  }

  add(deadlineMs: number, sequence: number): void {
    this.heap.push(Math.min(deadlineMs, DEADLINE_MS_MAX), sequence);
  }

  /** Takes off the next one. */
  shift(): void {
    this.first.pop();
  }

  /** Looks at the next `count` entries and forgets those that are not `needed`; false when every one was looked at. */
  sweep(count: number, needed: (sequence: number, deadlineMs: number) => boolean): boolean {
    if (this.old === null) {
      this.old = this.heap;
      this.heap = new Heap();
    }
    const { old } = this;
    for (let i = 0; i < count && old.size > 0; i++) {
      const at = --old.size;
      const sequence = old.sequences[at] as number;
      const deadlineMs = old.deadlines[at] as number;
      if (needed(sequence, deadlineMs)) this.heap.push(deadlineMs, sequence);
    }
    if (old.size > 0) return true;
    this.old = null;
    return false;
  }

  /** The entries of messages up to `lastSequence`, for a checkpoint: u48 deadline, rounded up, u48 sequence. */
  encode(lastSequence: number): Buffer {
    const out = Buffer.allocUnsafe(this.size * ENTRY_BYTES);
    let at = 0;
    for (const { deadlines, sequences, size } of this.old === null ? [this.heap] : [this.heap, this.old]) {
      for (let i = 0; i < size; i++) {
        if ((sequences[i] as number) > lastSequence) continue;
        put48(out, at, Math.ceil(deadlines[i] as number));
        put48(out, at + 6, sequences[i] as number);
        at += ENTRY_BYTES;
      }
    }
    return out.subarray(0, at);
  }

  /** Takes over the entries of a checkpoint. */
  decode(encoded: Buffer): void {
    for (let at = 0; at < encoded.length; at += ENTRY_BYTES) this.add(get48(encoded, at), get48(encoded, at + 6));
  }

  private get first(): Heap {
    const { heap, old } = this;
    return old !== null && old.next < heap.next ? old : heap;
  }
}
