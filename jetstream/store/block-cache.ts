/**
 * What was read from block files lately, for all streams of a server together: windows of many records, the least
 * recently used one dropped first. A block's tail becomes a window when it is written, so consumers at the head of a
 * stream never read from the disk.
 *
 * Bound: `bytesMax`; one window may exceed it alone (a large message).
 */

import type { Buffer } from 'node:buffer';
import type { TailBuffers } from './tail-buffers.ts';

export class Window {
  /** The windows of the block it belongs to. */
  readonly siblings: Window[];
  /** It holds `[start, end)` of the block; `buffer[0]` is the byte at `start`. */
  readonly start: number;
  readonly end: number;
  readonly buffer: Buffer;
  newer: Window | null = null;
  older: Window | null = null;

  constructor(siblings: Window[], start: number, end: number, buffer: Buffer) {
    this.siblings = siblings;
    this.start = start;
    this.end = end;
    this.buffer = buffer;
  }
}

export class BlockCache {
  private newest: Window | null = null;
  private oldest: Window | null = null;
  bytes = 0;
  /** Bytes of all windows there ever were. */
  bytesAdded = 0;
  /** Called when a window was added. */
  onAdded: () => void = () => undefined;
  private readonly bytesMax: number;
  private readonly tails: TailBuffers;

  /** `tails`: what gets the memory of evicted windows. */
  constructor(bytesMax: number, tails: TailBuffers) {
    this.bytesMax = bytesMax;
    this.tails = tails;
  }

  /** For what the disk just gave or took: never from inside a call that may be reading a window. */
  add(window: Window): void {
    window.siblings.push(window);
    this.link(window);
    this.bytes += window.buffer.length;
    this.bytesAdded += window.buffer.length;
    this.onAdded();
    while (this.bytes > this.bytesMax && this.oldest !== null && this.oldest !== window) {
      const { oldest } = this;
      this.drop(oldest);
      this.tails.give(oldest.buffer);
    }
  }

  /** The window was used just now. */
  touch(window: Window): void {
    if (this.newest === window) return;
    this.unlink(window);
    this.link(window);
  }

  drop(window: Window): void {
    this.unlink(window);
    this.bytes -= window.buffer.length;
    const index = window.siblings.indexOf(window);
    if (index >= 0) window.siblings.splice(index, 1);
  }

  /** Drops every window. Whoever refers to one still keeps its buffer. */
  clear(): void {
    while (this.oldest !== null) this.drop(this.oldest);
  }

  private link(window: Window): void {
    window.older = this.newest;
    window.newer = null;
    if (this.newest !== null) this.newest.newer = window;
    this.newest = window;
    this.oldest ??= window;
  }

  private unlink(window: Window): void {
    const { newer, older } = window;
    if (newer === null) this.newest = older;
    else newer.older = older;
    if (older === null) this.oldest = newer;
    else older.newer = newer;
  }
}
