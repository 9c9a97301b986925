/**
 * Turns reads of arbitrary size into whole operations. A subclass parses as many operations as a range of bytes holds
 * and says where it stopped; this class keeps the unread end for the next read, in one of two ways:
 *
 *     short (a line, a small message): copied aside, and at the next read copied in front of it, into the read buffer's
 *     headroom, so that the operation lies in one piece and nothing is ever joined
 *
 *         headroom                     read buffer
 *         ............ unread end │ new bytes .................
 *
 *     long (its whole size is known and above CARRY_BYTES_MAX): one buffer of the announced size, filled by the
 *     following reads; the operation is parsed from there
 *
 * Either way an operation is parsed again from its first byte: there is one code path, and no half-parsed state.
 * Bounds: an unread end without known size is at most a control line, which the parser limits; a known size is at most
 * a control line and the payload limit.
 */

import { Buffer } from 'node:buffer';

const CARRY_BYTES_MAX = 8192;
const CARRY_BYTES_MIN = 64;

/** `parse` answers with this when the connection ended and the rest of the bytes is nobody's. */
export const STOPPED = -1;

export abstract class OperationReader {
  private carry: Buffer | null = null;
  private carryLength = 0;
  private whole: Buffer | null = null;
  private wholeFilled = 0;
  /** Bytes the operation at the place where `parse` stopped has in all; 0 when not known yet. Set by `parse`. */
  protected operationBytes = 0;

  /** Handles all operations in `buffer[start, end)`; the offset of the first byte that was not used, or STOPPED. */
  protected abstract parse(buffer: Buffer, start: number, end: number): number;

  /** Takes the bytes of one read. `buffer` has `start` bytes of headroom that may be overwritten. */
  read(buffer: Buffer, start: number, end: number): void {
    let from = start;
    if (this.whole !== null) {
      from = this.fillWhole(this.whole, buffer, from, end);
      if (from === STOPPED || from === end) return;
    }
    let bytes = buffer;
    let to = end;
    if (this.carryLength > 0) {
      const carry = this.carry as Buffer;
      const length = this.carryLength;
      this.carryLength = 0;
      if (length <= from) {
        from -= length;
        carry.copy(buffer, from, 0, length);
      } else {
        // Only lines longer than the headroom come here: a raised max_control_line.
        bytes = Buffer.concat([carry.subarray(0, length), buffer.subarray(from, end)]);
        from = 0;
        to = bytes.length;
      }
    }
    this.operationBytes = 0;
    const used = this.parse(bytes, from, to);
    if (used !== STOPPED && used < to) this.keep(bytes, used, to);
    else if (this.carry !== null && this.carry.length > CARRY_BYTES_MAX) this.carry = null;
  }

  private fillWhole(whole: Buffer, buffer: Buffer, start: number, end: number): number {
    const taken = Math.min(whole.length - this.wholeFilled, end - start);
    buffer.copy(whole, this.wholeFilled, start, start + taken);
    this.wholeFilled += taken;
    if (this.wholeFilled < whole.length) {
      // Of the two bytes behind a payload the first can already be wrong, and then nobody should wait for the second.
      const isNearlyFull = this.wholeFilled === whole.length - 1;
      return isNearlyFull && this.parse(whole, 0, this.wholeFilled) === STOPPED ? STOPPED : end;
    }
    this.whole = null;
    return this.parse(whole, 0, whole.length) === STOPPED ? STOPPED : start + taken;
  }

  private keep(buffer: Buffer, start: number, end: number): void {
    const length = end - start;
    if (this.operationBytes > CARRY_BYTES_MAX) {
      this.whole = Buffer.allocUnsafeSlow(this.operationBytes);
      buffer.copy(this.whole, 0, start, end);
      this.wholeFilled = length;
      return;
    }
    if (this.carry === null || this.carry.length < length) {
      let size = CARRY_BYTES_MIN;
      while (size < length) size *= 2;
      this.carry = Buffer.allocUnsafeSlow(size);
    }
    buffer.copy(this.carry, 0, start, end);
    this.carryLength = length;
  }
}
