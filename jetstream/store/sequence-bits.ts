/** Which sequences of a block are removed: one bit each, allocated when the first one is. */

import { Buffer } from 'node:buffer';

export class SequenceBits {
  readonly firstSequence: number;
  private bits: Buffer | null = null;
  count = 0;

  constructor(firstSequence: number) {
    this.firstSequence = firstSequence;
  }

  has(sequence: number): boolean {
    const { bits } = this;
    if (bits === null) return false;
    const slot = sequence - this.firstSequence;
    const byte = bits[slot >>> 3];
    return byte !== undefined && (byte & (1 << (slot & 7))) !== 0;
  }

  /** Marks the sequence; false when it was marked already. */
  add(sequence: number): boolean {
    const slot = sequence - this.firstSequence;
    const at = slot >>> 3;
    if (this.bits === null || at >= this.bits.length) this.grow(at + 1);
    const bits = this.bits as Buffer;
    const mask = 1 << (slot & 7);
    if (((bits[at] as number) & mask) !== 0) return false;
    bits[at] = (bits[at] as number) | mask;
    this.count++;
    return true;
  }

  /** The sequences that were marked since `encode` gave bytes of which these are a copy. */
  *since(bytes: Buffer): Generator<number> {
    const bits = this.encode();
    for (let at = 0; at < bits.length; at++) {
      const added = (bits[at] as number) & ~(bytes[at] ?? 0);
      for (let i = 0; added >>> i !== 0; i++) if (((added >>> i) & 1) !== 0) yield this.firstSequence + at * 8 + i;
    }
  }

  /** The bytes up to the last marked one. */
  encode(): Buffer {
    return this.bits ?? Buffer.alloc(0);
  }

  static decode(bytes: Buffer, firstSequence: number): SequenceBits {
    const decoded = new SequenceBits(firstSequence);
    if (bytes.length === 0) return decoded;
    decoded.bits = Buffer.from(bytes);
    for (const byte of bytes) for (let rest = byte; rest !== 0; rest &= rest - 1) decoded.count++;
    return decoded;
  }

  private grow(bytes: number): void {
    let length = this.bits?.length ?? 16;
    while (length < bytes) length *= 2;
    const grown = Buffer.alloc(length);
    this.bits?.copy(grown);
    this.bits = grown;
  }
}
