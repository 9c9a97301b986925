/**
 * Makes frames of what is written: one for each write, a message of its own, which the peer can read at once.
 *
 * What is masked is copied, since the pieces are not ours, into a buffer that is in use until the write is done; there is
 * one spare, which serves nearly all writes of all links. The content begins at a multiple of four in it, and is
 * combined with the key four bytes at a time. Keys are drawn many at a time, since randomness comes from the kernel.
 */

import { Buffer } from 'node:buffer';
import type { Random } from '../io/io.ts';
import { NO_BYTES, SpareBuffer } from '../protocol/spare-buffer.ts';
import { COMPRESSED, FINAL, LENGTH_16, LENGTH_64, MASKED } from './frame.ts';

/** Room for any header, of which the end is used. */
const HEADER_ROOM = 16;
const KEY_BYTES = 4;
const KEYS_BYTES = 256;
const spare = new SpareBuffer();

export class FrameEncoder {
  masks = true;
  private readonly random: Random;
  private keys: Buffer = NO_BYTES;
  /** Holds what is in flight. */
  private target: Buffer = NO_BYTES;

  constructor(random: Random) {
    this.random = random;
  }

  /** The pieces as one frame; they and the result are in use until `release`. */
  frame(code: number, pieces: readonly Uint8Array[], isCompressed: boolean): readonly Uint8Array[] {
    let content = 0;
    for (const piece of pieces) content += piece.length;
    const first = FINAL | code | (isCompressed ? COMPRESSED : 0);
    if (!this.masks) {
      const header = Buffer.alloc(HEADER_ROOM);
      return [header.subarray(fillHeader(header, HEADER_ROOM, first, 0, content)), ...pieces];
    }
    const target = spare.take(HEADER_ROOM + content);
    this.target = target;
    let at = HEADER_ROOM;
    for (const piece of pieces) {
      target.set(piece, at);
      at += piece.length;
    }
    const key = this.nextKey();
    key.copy(target, HEADER_ROOM - KEY_BYTES);
    mask(target, HEADER_ROOM, at, key);
    return [target.subarray(fillHeader(target, HEADER_ROOM - KEY_BYTES, first, MASKED, content), at)];
  }

  /** What was made last is not in use any more. */
  release(): void {
    spare.give(this.target);
    this.target = NO_BYTES;
  }

  private nextKey(): Buffer {
    if (this.keys.length === 0) this.keys = this.random.bytes(KEYS_BYTES);
    const key = this.keys.subarray(0, KEY_BYTES);
    this.keys = this.keys.subarray(KEY_BYTES);
    return key;
  }
}

/** Writes the header in front of `end`; where it begins. */
function fillHeader(buffer: Buffer, end: number, first: number, second: number, content: number): number {
  let start = end - 2;
  let code = content;
  if (content > 0xffff) {
    start = end - 10;
    code = LENGTH_64;
    buffer.writeBigUInt64BE(BigInt(content), start + 2);
  } else if (content >= LENGTH_16) {
    start = end - 4;
    code = LENGTH_16;
    buffer.writeUInt16BE(content, start + 2);
  }
  buffer[start] = first;
  buffer[start + 1] = second | code;
  return start;
}

/** Combines bytes with the key; `start` is a multiple of four, and so is the beginning of the buffer in its memory. */
function mask(buffer: Buffer, start: number, end: number, key: Buffer): void {
  const words = (end - start) >> 2;
  const view = new Uint32Array(buffer.buffer, buffer.byteOffset + start, words);
  const word = new Uint32Array(Uint8Array.from(key).buffer)[0] as number;
  for (let i = 0; i < words; i++) view[i] = (view[i] as number) ^ word;
  for (let at = start + words * 4; at < end; at++) {
    buffer[at] = (buffer[at] as number) ^ (key[(at - start) & 3] as number);
  }
}
