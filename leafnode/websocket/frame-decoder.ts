/**
 * Takes the stream of a hub's frames apart. Content is handed on as it comes, in pieces of the buffer that was read,
 * however long its frame is: a hub puts all that waits for a slow link into one frame, and nothing here has to hold it.
 * So no length is too long; what is kept is an unfinished header and the content of an unfinished control frame.
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

const HEADER_BYTES_MAX = 10;
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
  private readonly sink: FrameSink;
  private readonly header = Buffer.alloc(HEADER_BYTES_MAX);
  private headerLength = 0;
  /** Bytes of the frame's content still to come. */
  private remaining = 0;
  private isFinal = true;
  /** Between the frames of a message. */
  private isInMessage = false;
  private isCompressed = false;
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
    const length = (this.header[1] as number) & LENGTH_BITS;
    if (length === LENGTH_16) return 4;
    return length === LENGTH_64 ? HEADER_BYTES_MAX : 2;
  }

  /** Begins a frame by its header; why it can't be one, or ''. */
  private begin(): string {
    const { header } = this;
    const [first, second] = [header[0] as number, header[1] as number];
    if ((first & RESERVED) !== 0) return 'RSV2 and RSV3 must be clear';
    if ((second & MASKED) !== 0) return 'a server must not mask frames';
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
    if (control !== null && controlCode !== null) {
      buffer.copy(control, control.length - remaining - (end - start), start, end);
      if (remaining > 0) return true;
      this.control = null;
      return this.sink.control(controlCode, control);
    }
    const isLast = remaining === 0 && this.isFinal;
    return this.sink.content(buffer, start, end, this.isCompressed, isLast);
  }
}
