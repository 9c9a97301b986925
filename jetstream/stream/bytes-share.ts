/**
 * One stream's part of a sum of bytes that it shares with other streams: those of its account, or those of the server.
 * The sum holds what the stream told last, so it is right as often as the stream tells, however its bytes came and went.
 */

/** A sum of bytes, held by whoever shares it out. */
export interface BytesTotal {
  bytes: number;
}

export class BytesShare {
  private readonly total: BytesTotal;
  /** Of the total, those that are the stream's. */
  private bytes = 0;

  constructor(total: BytesTotal) {
    this.total = total;
  }

  /** The stream holds so much now; 0 when it is gone. */
  set(bytes: number): void {
    this.total.bytes += bytes - this.bytes;
    this.bytes = bytes;
  }
}
