/** Bytes first in, first out: what a socket's kernel buffer holds. The pieces given are kept, not copied. */

export class ByteQueue {
  private readonly pieces: Uint8Array[] = [];
  /** How much of the first piece is gone. */
  private offset = 0;
  private count = 0;

  get length(): number {
    return this.count;
  }

  push(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.pieces.push(piece);
    this.count += piece.length;
  }

  /** Takes up to `bytesMax` bytes that lie in one piece; nothing when the queue is empty. */
  shift(bytesMax: number): Uint8Array | null {
    const first = this.pieces[0];
    if (first === undefined || bytesMax <= 0) return null;
    const taken = first.subarray(this.offset, this.offset + bytesMax);
    this.offset += taken.length;
    this.count -= taken.length;
    if (this.offset === first.length) {
      this.pieces.shift();
      this.offset = 0;
    }
    return taken;
  }

  /** Moves up to `bytesMax` bytes to `target[at]`; how many these were. */
  read(target: Uint8Array, at: number, bytesMax: number): number {
    let read = 0;
    for (;;) {
      const piece = this.shift(bytesMax - read);
      if (piece === null) return read;
      target.set(piece, at + read);
      read += piece.length;
    }
  }

  clear(): void {
    this.pieces.length = 0;
    this.offset = 0;
    this.count = 0;
  }
}
