/**
 * What a wire client has read and nobody has looked at yet: one growing buffer with the unread part at
 * `[start, end)`. Taking from the front is free; the buffer doubles when full, so that a test may read many megabytes
 * without joining them again at each chunk.
 */
export class ReceivedBytes {
  #buffer: Buffer = Buffer.allocUnsafe(4096);
  #start = 0;
  #end = 0;

  /** The unread bytes; valid until the next `append`. */
  view(): Buffer {
    return this.#buffer.subarray(this.#start, this.#end);
  }

  get length(): number {
    return this.#end - this.#start;
  }

  append(bytes: Buffer): void {
    if (this.#end + bytes.length > this.#buffer.length) this.#makeRoom(bytes.length);
    bytes.copy(this.#buffer, this.#end);
    this.#end += bytes.length;
  }

  /** Removes the first `count` unread bytes and returns a copy of them. */
  take(count: number): Buffer {
    const taken = Buffer.from(this.#buffer.subarray(this.#start, this.#start + count));
    this.#start += count;
    return taken;
  }

  #makeRoom(count: number): void {
    const needed = this.length + count;
    const target = needed > this.#buffer.length / 2 ? Buffer.allocUnsafe(needed * 2) : this.#buffer;
    this.#buffer.copy(target, 0, this.#start, this.#end);
    this.#end = this.length;
    this.#start = 0;
    this.#buffer = target;
  }
}
