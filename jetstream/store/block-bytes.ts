/**
 * The bytes of one block, wherever they are: an append-only sequence of records, addressed by offset.
 *
 * Whoever appends reserves room at the end of the tail, writes the record there and commits it. Reading asks where a
 * range lies in memory; what is not in memory is loaded first.
 */

import type { Buffer } from 'node:buffer';
import type { Done } from '../../server/io/io.ts';
import { enlarged, trimmed } from './buffers.ts';

/** Where a range of a block was found in memory; reused for the next answer. */
export class Located {
  buffer: Buffer;
  at = 0;
  /** These bytes came from the disk and have not been checked. */
  fromDisk = false;

  constructor(buffer: Buffer) {
    this.buffer = buffer;
  }
}

export interface BlockBytes {
  /** Offset behind the last record. */
  readonly end: number;
  /** Where the next record is written, after `reserve`. */
  readonly buffer: Buffer;
  /** Makes room for `bytes` behind the end; where they begin in `buffer`. */
  reserve(bytes: number): number;
  /** The reserved bytes are written: they belong to the block now. */
  commit(bytes: number): void;
  /** The next `bytes` of the block are there already, as far as they matter. */
  skip(bytes: number): void;
  /** Whether `[offset, offset + bytes)` is in memory, and where. */
  locate(offset: number, bytes: number, found: Located): boolean;
  /** Brings the range into memory; `locate` finds it when `done` runs without an error. */
  load(offset: number, bytes: number, done: Done): void;
  /** Overwrites the record there with zeros, in memory and in the file: nobody reads it any more. */
  erase(offset: number, bytes: number): void;
  /** Hands everything that was committed to the device. */
  sync(done: Done): void;
  /** No more records: gives back what only appending needs. */
  closeTail(): void;
  /** The block is gone, and its file with it. */
  drop(): void;
  /** Memory in bytes. */
  readonly memoryBytes: number;
}

/** A block that lives in memory alone. */
export class MemoryBlockBytes implements BlockBytes {
  buffer: Buffer;
  end = 0;

  constructor(empty: Buffer) {
    this.buffer = empty;
  }

  get memoryBytes(): number {
    return this.buffer.length;
  }

  reserve(bytes: number): number {
    const needed = this.end + bytes;
    if (needed > this.buffer.length) this.buffer = enlarged(this.buffer, this.end, needed);
    return this.end;
  }

  commit(bytes: number): void {
    this.end += bytes;
  }

  skip(bytes: number): void {
    this.reserve(bytes);
    this.commit(bytes);
  }

  locate(offset: number, bytes: number, found: Located): boolean {
    found.buffer = this.buffer;
    found.at = offset;
    found.fromDisk = false;
    return offset + bytes <= this.end;
  }

  load(_offset: number, _bytes: number, done: Done): void {
    done(null);
  }

  erase(offset: number, bytes: number): void {
    this.buffer.fill(0, offset, offset + bytes);
  }

  sync(done: Done): void {
    done(null);
  }

  closeTail(): void {
    if (this.buffer.length - this.end > this.end / 8) this.buffer = trimmed(this.buffer, this.end);
  }

  drop(): void {
    this.buffer = this.buffer.subarray(0, 0);
    this.end = 0;
  }
}
