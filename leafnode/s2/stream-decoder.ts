/**
 * Reads an S2 stream (frame.ts) as it arrives, cut anywhere, and hands its content on.
 *
 *     header (4 bytes) ──► body ─┬─ content: in one read, or kept until it is whole ──► checked ──► sink
 *                                ├─ identifier: the same
 *                                └─ to be skipped: counted only
 *
 * Content is decoded into one buffer for all streams, with room in front of it as a read buffer has; a body that a read
 * holds whole is decoded from there. What is kept of an incomplete body grows with what has come and not with what was
 * announced, and is given up when several bodies in a row did without it.
 *
 * A few bytes can hold megabytes of content, so a read is left where enough has been handed on for one turn.
 *
 * Nothing goes on that its checksum does not vouch for. Bounds: CHUNK_BYTES_MAX for a body and BLOCK_BYTES_MAX for its
 * content, which also bound what one announcement can cost; of what is skipped nothing is kept.
 */

import { Buffer } from 'node:buffer';
import { type Announced, decodeTags, readContentLength } from './block-decoder.ts';
import { crc32c, masked } from './crc32c.ts';
import {
  BLOCK_BYTES_MAX,
  CHECKSUM_BYTES,
  CHUNK_BYTES_MAX,
  CHUNK_HEADER_BYTES,
  COMPRESSED,
  IDENTIFIER,
  NAME_BYTES,
  S2_NAME,
  SKIPPABLE_FROM,
  SNAPPY_BLOCK_BYTES_MAX,
  SNAPPY_NAME,
  UNCOMPRESSED,
} from './frame.ts';

const KEPT_BYTES_MIN = 4096;
/** Of the buffer for decoded content that outlives its use. */
const CONTENT_BYTES_KEPT_MAX = 1024 * 1024;
const BODIES_WITHOUT_KEEPING_MAX = 8;
const NO_BYTES = Buffer.alloc(0);

/** Who takes the content. */
export interface ContentSink {
  /** Bytes `[start, end)` die when this returns; the headroom in front may be overwritten. False: no more. */
  content(buffer: Buffer, start: number, end: number): boolean;
}

/** For the content of any stream, one after the other. */
let contentBuffer: Buffer = NO_BYTES;

export class StreamDecoder {
  /** Why the stream was given up; empty while it is not. */
  failure = '';
  /** The sink wanted no more, or the stream failed. */
  isStopped = false;
  /** Of a body; less for those of whom nothing is known yet. */
  bodyBytesMax: number = CHUNK_BYTES_MAX;
  private contentLeft = 0;
  private readonly sink: ContentSink;
  private readonly headroomBytes: number;
  private readonly announced: Announced = { contentBytes: 0, tagsStart: 0 };
  /** What has come of a header, and how many bytes that is. */
  private header = 0;
  private headerFilled = 0;
  private type = -1;
  private bodyBytes = 0;
  /** Of the body, what was kept or skipped so far. */
  private bodyFilled = 0;
  private kept: Buffer = NO_BYTES;
  private bodiesWithoutKeeping = 0;
  /** 0 before the first identifier. */
  private blockBytesMax = 0;

  constructor(sink: ContentSink, headroomBytes: number) {
    this.sink = sink;
    this.headroomBytes = headroomBytes;
  }

  /**
   * Takes the bytes of one read until they hold no more, the stream fails, the sink wants no more, or `contentBytes` of
   * content or more have been handed on; the offset behind what was taken.
   */
  read(buffer: Buffer, start: number, end: number, contentBytes: number): number {
    this.contentLeft = contentBytes;
    this.isStopped = false;
    let at = start;
    while (at < end && !this.isStopped && this.contentLeft > 0) {
      if (this.headerFilled < CHUNK_HEADER_BYTES) {
        at = this.readHeader(buffer, at, end);
        if (this.headerFilled < CHUNK_HEADER_BYTES || this.failure !== '') break;
        if (this.bodyBytes > 0 && at === end) break;
      }
      const from = at;
      at = Math.min(end, at + this.bodyBytes - this.bodyFilled);
      this.isStopped = !this.readBody(buffer, from, at);
    }
    return at;
  }

  private readHeader(buffer: Buffer, start: number, end: number): number {
    let at = start;
    if (this.headerFilled === 0) this.header = 0;
    while (at < end && this.headerFilled < CHUNK_HEADER_BYTES) {
      this.header |= (buffer[at++] as number) << (8 * this.headerFilled++);
    }
    if (this.headerFilled < CHUNK_HEADER_BYTES) return at;
    this.type = this.header & 0xff;
    this.bodyBytes = this.header >>> 8;
    this.bodyFilled = 0;
    this.failure = this.faultOfHeader();
    this.isStopped = this.failure !== '';
    return at;
  }

  private faultOfHeader(): string {
    const { type, bodyBytes } = this;
    if (type === IDENTIFIER) return bodyBytes === NAME_BYTES ? '' : `an identifier of ${bodyBytes} bytes`;
    if (this.blockBytesMax === 0) return `it does not begin with an identifier but with a chunk of type ${type}`;
    if (type >= SKIPPABLE_FROM) return '';
    if (type !== COMPRESSED && type !== UNCOMPRESSED) return `a chunk of the reserved type ${type}`;
    if (bodyBytes < CHECKSUM_BYTES) return `a chunk of ${bodyBytes} bytes without checksum`;
    return bodyBytes > this.bodyBytesMax ? `a chunk of ${bodyBytes} bytes` : '';
  }

  /** Takes a part of the body, or all; false when the stream failed, or the sink wants no more. */
  private readBody(buffer: Buffer, start: number, end: number): boolean {
    const isSkipped = this.type >= SKIPPABLE_FROM && this.type !== IDENTIFIER;
    const isWhole = this.bodyFilled + end - start === this.bodyBytes;
    if (isSkipped || (isWhole && this.bodyFilled === 0)) {
      this.bodyFilled += end - start;
      if (!isWhole) return true;
      if (++this.bodiesWithoutKeeping > BODIES_WITHOUT_KEEPING_MAX) this.kept = NO_BYTES;
      this.headerFilled = 0;
      return isSkipped || this.takeBody(buffer, start, end);
    }
    this.keep(buffer, start, end);
    if (!isWhole) return true;
    this.bodiesWithoutKeeping = 0;
    this.headerFilled = 0;
    return this.takeBody(this.kept, 0, this.bodyBytes);
  }

  private keep(buffer: Buffer, start: number, end: number): void {
    const filled = this.bodyFilled + end - start;
    if (this.kept.length < filled) {
      let size = KEPT_BYTES_MIN;
      while (size < filled) size *= 2;
      const grown = Buffer.allocUnsafeSlow(Math.min(size, Math.max(this.bodyBytes, KEPT_BYTES_MIN)));
      this.kept.copy(grown, 0, 0, this.bodyFilled);
      this.kept = grown;
    }
    buffer.copy(this.kept, this.bodyFilled, start, end);
    this.bodyFilled = filled;
  }

  private takeBody(body: Buffer, start: number, end: number): boolean {
    if (this.type === IDENTIFIER) return this.identify(body.toString('latin1', start, end));
    const from = start + CHECKSUM_BYTES;
    const content = this.type === COMPRESSED ? this.decode(body, from, end) : this.copy(body, from, end);
    if (content < 0) return false;
    const to = this.headroomBytes + content;
    if (masked(crc32c(contentBuffer, this.headroomBytes, to, 0)) !== body.readInt32LE(start)) {
      return this.fail('content whose checksum is wrong');
    }
    this.contentLeft -= content;
    return content === 0 || this.sink.content(contentBuffer, this.headroomBytes, to);
  }

  private identify(name: string): boolean {
    if (name === S2_NAME) this.blockBytesMax = BLOCK_BYTES_MAX;
    else if (name === SNAPPY_NAME) this.blockBytesMax = SNAPPY_BLOCK_BYTES_MAX;
    else return this.fail('an unknown identifier');
    return true;
  }

  /** Bytes of content, which stand in the common buffer then; -1 when the block is wrong. */
  private decode(body: Buffer, start: number, end: number): number {
    const { announced } = this;
    if (!readContentLength(body, start, end, announced)) return this.refuse('a block without length');
    const { contentBytes, tagsStart } = announced;
    if (!this.hasRoomFor(contentBytes)) return -1;
    const at = this.headroomBytes;
    if (decodeTags(body, tagsStart, end, contentBuffer, at, at + contentBytes)) return contentBytes;
    return this.refuse('a block that is corrupt');
  }

  private copy(body: Buffer, start: number, end: number): number {
    if (!this.hasRoomFor(end - start)) return -1;
    body.copy(contentBuffer, this.headroomBytes, start, end);
    return end - start;
  }

  /** Makes the common buffer as large as is needed, and no larger than is usual when it is not. */
  private hasRoomFor(content: number): boolean {
    if (content > this.blockBytesMax) return this.fail(`a block of ${content} bytes`);
    const needed = this.headroomBytes + content;
    const usual = this.headroomBytes + CONTENT_BYTES_KEPT_MAX;
    if (contentBuffer.length >= needed && (contentBuffer.length <= usual || needed > usual)) return true;
    let size = this.headroomBytes + KEPT_BYTES_MIN;
    while (size < needed) size = this.headroomBytes + (size - this.headroomBytes) * 2;
    contentBuffer = Buffer.allocUnsafeSlow(size);
    return true;
  }

  private refuse(what: string): -1 {
    this.fail(what);
    return -1;
  }

  private fail(what: string): false {
    this.failure = what;
    return false;
  }
}
