/**
 * Writes an S2 stream (frame.ts): the pieces of one write become chunks that hold all of it, so that the peer has
 * everything as soon as the write is there.
 *
 *     compressing        the pieces, put together where there are several, are cut into blocks of BLOCK_BYTES at most;
 *                        one that would not get smaller goes as it is
 *     not compressing    one chunk for the pieces, which are not copied
 *
 * Bounds: a write of BLOCK_BYTES_MAX, which connections stay far below; what it becomes is at most framedBytesMax of it.
 */

import { Buffer } from 'node:buffer';
import { strict as assert } from 'node:assert';
import { encodeBlock } from './block-encoder.ts';
import { crc32c, masked } from './crc32c.ts';
import {
  BLOCK_BYTES_MAX,
  CHECKSUM_BYTES,
  CHUNK_HEADER_BYTES,
  COMPRESSED,
  IDENTIFIER,
  NAME_BYTES,
  S2_NAME,
  UNCOMPRESSED,
} from './frame.ts';
import { CONTENT_BYTES_MAX, encodeBlockThoroughly } from './thorough-encoder.ts';

const CHUNK_START_BYTES = CHUNK_HEADER_BYTES + CHECKSUM_BYTES;
const IDENTIFIER_BYTES = CHUNK_HEADER_BYTES + NAME_BYTES;
/** Whole writes are usually below this, and peers that take only small blocks take it. */
const BLOCK_BYTES = 1024 * 1024;
/** Of a block beyond its content, while it is not given up yet. */
const BLOCK_SLACK_BYTES = 64;
const GATHERED_BYTES_MIN = 64 * 1024;
const NO_BYTES = Buffer.alloc(0);

/** Where several pieces of any write are put together, one after the other. */
let gathered: Buffer = NO_BYTES;

/** `thorough` takes several times as long, and is of no account for long writes, which would hold up a turn. */
export type Effort = 'fast' | 'thorough';

export class StreamEncoder {
  private isIdentified = false;

  /** Bytes that a write of `content` bytes takes at most. */
  framedBytesMax(content: number): number {
    const blocks = Math.max(1, Math.ceil(content / BLOCK_BYTES));
    return IDENTIFIER_BYTES + content + blocks * (CHUNK_START_BYTES + BLOCK_SLACK_BYTES);
  }

  /** Compresses the pieces of one write, of `content` bytes in all, into `target`; the bytes it takes there. */
  compress(pieces: readonly Uint8Array[], content: number, target: Buffer, effort: Effort): number {
    const encode = effort === 'thorough' && content <= CONTENT_BYTES_MAX ? encodeBlockThoroughly : encodeBlock;
    let w = this.identify(target, 0);
    const source = gather(pieces, content);
    for (let at = 0; at < content; at += BLOCK_BYTES) {
      const end = Math.min(content, at + BLOCK_BYTES);
      const body = w + CHUNK_START_BYTES;
      const checksum = crc32c(source, at, end, 0);
      let behind = encode(source, at, end, target, body);
      const type = behind < 0 ? UNCOMPRESSED : COMPRESSED;
      if (behind < 0) {
        source.copy(target, body, at, end);
        behind = body + end - at;
      }
      writeStart(target, w, type, behind - body, checksum);
      w = behind;
    }
    return w;
  }

  /** Begins in `target` the chunk that holds the pieces of one write as they are; the bytes to send before them. */
  frame(pieces: readonly Uint8Array[], content: number, target: Buffer): number {
    assert(content <= BLOCK_BYTES_MAX, `a write of ${content} bytes`);
    let checksum = 0;
    for (const piece of pieces) checksum = crc32c(piece, 0, piece.length, checksum);
    const w = this.identify(target, 0);
    writeStart(target, w, UNCOMPRESSED, content, checksum);
    return w + CHUNK_START_BYTES;
  }

  /** A stream says once what it is. */
  private identify(target: Buffer, at: number): number {
    if (this.isIdentified) return at;
    this.isIdentified = true;
    target[at] = IDENTIFIER;
    target.writeUIntLE(NAME_BYTES, at + 1, 3);
    target.write(S2_NAME, at + CHUNK_HEADER_BYTES, 'latin1');
    return at + IDENTIFIER_BYTES;
  }
}

function writeStart(target: Buffer, at: number, type: number, body: number, checksum: number): void {
  target[at] = type;
  target.writeUIntLE(CHECKSUM_BYTES + body, at + 1, 3);
  target.writeInt32LE(masked(checksum), at + CHUNK_HEADER_BYTES);
}

function gather(pieces: readonly Uint8Array[], content: number): Buffer {
  if (pieces.length === 1) {
    const { buffer, byteOffset, length } = pieces[0] as Uint8Array;
    return Buffer.from(buffer, byteOffset, length);
  }
  if (gathered.length < content) {
    let size = GATHERED_BYTES_MIN;
    while (size < content) size *= 2;
    gathered = Buffer.allocUnsafeSlow(size);
  }
  let at = 0;
  for (const piece of pieces) {
    gathered.set(piece, at);
    at += piece.length;
  }
  return gathered;
}
