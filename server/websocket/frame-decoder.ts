/**
 * Takes a stream of frames apart. Content is handed on as it comes, in pieces of the buffer that was read, however long
 * its frame is: a server puts all that waits for a slow link into one frame, and nothing here has to hold it. So no length
 * is too long; what is kept is an unfinished header and the content of an unfinished control frame. What is masked is
 * unmasked where it was read.
 *
 *     header ──complete──► content ──all of it──► header
 *
 * A frame that breaks a rule of the protocol ends the decoding for good, with `failure`.
 */

import { Buffer } from 'node:buffer';
import {
  COMPRESSED,
  CONTROL,
  CONTROL_BYTES_MAX,
  type ControlCode,
  FINAL,
  LENGTH_16,
  LENGTH_64,
  MASKED,
  OpCode,
  RESERVED,
} from './frame.ts';

const HEADER_BYTES_MAX = 14;
const KEY_BYTES = 4;
const OPCODE_BITS = 0x0f;
const LENGTH_BITS = 0x7f;

export interface FrameSink {
  /** Content of a message: bytes `[start, end)`, and nothing more of that message if `isLast`. False: go no further. */
  content(buffer: Buffer, start: number, end: number, isCompressed: boolean, isLast: boolean): boolean;
  /** A control frame; the content is the callee's. False: go no further. */
  control(code: ControlCode, content: Buffer): boolean;
}

export class FrameDecoder {
  /** Why the stream can't be taken any further; '' as long as it can. */
  failure = '';
  /** Messages may be compressed. */
  mayBeCompressed = false;
  /** Frames have to be masked; they must not be otherwise. */
  expectsMasks = false;
  private readonly sink: FrameSink;
  private readonly header = Buffer.alloc(HEADER_BYTES_MAX);
  private headerLength = 0;
  /** Bytes of the frame's content still to come. */
  private remaining = 0;
  private isFinal = true;
  /** Between the frames of a message. */
  private isInMessage = false;
  private isCompressed = false;
  private readonly key = new Uint8Array(KEY_BYTES);
  /** Which byte of the key is the next one's. */
  private keyAt = 0;
  private controlCode: ControlCode | null = null;
  private control: Buffer | null = null;

  constructor(sink: FrameSink) {
    this.sink = sink;
  }

  /** Takes bytes until the sink or a failure stops it; the position behind what it took. */
  read(buffer: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end) {
      let piece = Math.min(end - at, this.remaining);
      if (this.remaining === 0) {
        at = this.readHeader(buffer, at, end);
        if (this.failure !== '' || this.headerLength > 0) return at;
        piece = Math.min(end - at, this.remaining);
        // The content begins with the next read.
        if (piece === 0 && this.remaining > 0) return at;
      }
      this.remaining -= piece;
      const goesOn = this.take(buffer, at, at + piece);
      at += piece;
      if (!goesOn) return at;
    }
    return at;
  }

  /** Leaves `headerLength` at 0 when the header is complete. */
  private readHeader(buffer: Buffer, start: number, end: number): number {
    const { header } = this;
    for (let at = start; at < end; at++) {
      header[this.headerLength++] = buffer[at] as number;
      if (this.headerLength < this.headerBytes()) continue;
      this.headerLength = 0;
      this.failure = this.begin();
      return at + 1;
    }
    return end;
  }

  private headerBytes(): number {
    if (this.headerLength < 2) return 2;
    const second = this.header[1] as number;
    return keyStart(second) + ((second & MASKED) === 0 ? 0 : KEY_BYTES);
  }

  /** Begins a frame by its header; why it can't be one, or ''. */
  private begin(): string {
    const { header } = this;
    const [first, second] = [header[0] as number, header[1] as number];
    if ((first & RESERVED) !== 0) return 'RSV2 and RSV3 must be clear';
    const isMasked = (second & MASKED) !== 0;
    if (isMasked !== this.expectsMasks) return isMasked ? 'a server must not mask frames' : 'mask bit missing';
    if (isMasked) this.takeKey(keyStart(second));
    const code = first & OPCODE_BITS;
    const isFinal = (first & FINAL) !== 0;
    const isCompressed = (first & COMPRESSED) !== 0;
    const length = second & LENGTH_BITS;
    if (length === LENGTH_64 && (header[2] as number) >= 0x80) return 'invalid 64-bit payload length';
    this.remaining = length;
    if (length === LENGTH_16) this.remaining = header.readUInt16BE(2);
    if (length === LENGTH_64) this.remaining = Number(header.readBigUInt64BE(2));
    if ((code & CONTROL) !== 0) return this.beginControl(code, isFinal, isCompressed);
    if (code === OpCode.continuation) {
      if (!this.isInMessage || isCompressed) return 'invalid continuation frame';
    } else if (code === OpCode.text || code === OpCode.binary) {
      if (this.isInMessage) return 'new message started before final frame for previous message was received';
      if (isCompressed && !this.mayBeCompressed) {
        return 'compressed frame received without negotiated permessage-deflate';
      }
      this.isCompressed = isCompressed;
    } else return `unknown opcode ${code}`;
    this.isFinal = isFinal;
    this.isInMessage = !isFinal;
    return '';
  }

  private takeKey(start: number): void {
    for (let i = 0; i < KEY_BYTES; i++) this.key[i] = this.header[start + i] as number;
    this.keyAt = 0;
  }

  private beginControl(code: number, isFinal: boolean, isCompressed: boolean): string {
    if (code !== OpCode.close && code !== OpCode.ping && code !== OpCode.pong) return `unknown opcode ${code}`;
    if (this.remaining > CONTROL_BYTES_MAX) {
      return `control frame length bigger than maximum allowed of ${CONTROL_BYTES_MAX} bytes`;
    }
    if (!isFinal) return 'control frame does not have final bit set';
    if (isCompressed) return 'control frame must not be compressed';
    this.controlCode = code;
    this.control = Buffer.allocUnsafe(this.remaining);
    return '';
  }

  /** A piece of the frame's content, perhaps of no bytes. */
  private take(buffer: Buffer, start: number, end: number): boolean {
    const { control, controlCode, remaining } = this;
    if (this.expectsMasks) this.unmask(buffer, start, end);
    if (control !== null && controlCode !== null) {
      buffer.copy(control, control.length - remaining - (end - start), start, end);
      if (remaining > 0) return true;
      this.control = null;
      return this.sink.control(controlCode, control);
    }
    const isLast = remaining === 0 && this.isFinal;
    return this.sink.content(buffer, start, end, this.isCompressed, isLast);
  }

  /** Byte by byte up to a multiple of four in memory, by words from there on, and byte by byte again behind the last. */
  private unmask(buffer: Buffer, start: number, end: number): void {
    const { key } = this;
    const aligned = Math.min(end, start + (-(buffer.byteOffset + start) & 3));
    let at = start;
    for (; at < aligned; at++) this.unmaskByte(buffer, at);
    const words = (end - at) >> 2;
    if (words > 0) {
      const word = new Uint32Array(
        Uint8Array.from(key, (_, i) => key[(this.keyAt + i) & 3] as number).buffer,
      )[0] as number;
      const view = new Uint32Array(buffer.buffer, buffer.byteOffset + at, words);
      for (let i = 0; i < words; i++) view[i] = (view[i] as number) ^ word;
      at += words * 4;
    }
    for (; at < end; at++) this.unmaskByte(buffer, at);
  }

  private unmaskByte(buffer: Buffer, at: number): void {
    buffer[at] = (buffer[at] as number) ^ (this.key[this.keyAt] as number);
    this.keyAt = (this.keyAt + 1) & 3;
  }
}

/** Where the key stands in a header, or the content if there is none. */
function keyStart(second: number): number {
  const length = second & LENGTH_BITS;
  if (length === LENGTH_16) return 4;
  return length === LENGTH_64 ? 10 : 2;
}
