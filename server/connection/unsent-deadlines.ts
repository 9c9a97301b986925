/**
 * The deadlines of a connection that has something unsent, in monotonic milliseconds. Most connections never have to
 * wait for their socket, so these are made when the first one is set.
 */

const NEVER = Number.POSITIVE_INFINITY;

export class UnsentDeadlines {
  /** The write in flight has to be taken. */
  writeMs: number = NEVER;
  /** A connection that closes is closed, whatever it has not sent. */
  lingerMs: number = NEVER;
  /** The queue looks again whether it still holds its producers. */
  holdReviewMs: number = NEVER;

  get nextMs(): number {
    return Math.min(this.writeMs, this.lingerMs, this.holdReviewMs);
  }
}
