/**
 * How much a push consumer with flow control may send before its receiver answers. The receiver answers a request that
 * it finds behind the messages it has read:
 *
 *     sent ──► more than half of the window ──► request ──► answer: what was sent before the request is off the books
 *     sent ──► more than the window ──► nothing more until the answer
 *
 * The window begins at a sixteenth of WINDOW_BYTES_MAX and doubles with each answer. One request is open at a time.
 *
 * Source: nats-server's needFlowControl and processFlowControl.
 */

const WINDOW_BYTES_MAX: number = 32 * 1024 * 1024;
const START_PART = 16;

export class FlowWindow {
  private windowBytes: number = WINDOW_BYTES_MAX / START_PART;
  private unansweredBytes = 0;
  /** What the open request covers. */
  private requestedBytes = 0;
  private isRequested = false;

  /** Nothing may be sent at present. */
  get isFull(): boolean {
    return this.unansweredBytes > this.windowBytes;
  }

  /** A message of `bytes` was sent; true: a request is to follow it. */
  sent(bytes: number): boolean {
    this.unansweredBytes += bytes;
    if (!this.isRequested) return this.unansweredBytes > this.windowBytes / 2;
    // Sent beyond what the request covers, by a whole window: the answer then covers it too.
    if (this.unansweredBytes - this.requestedBytes >= this.windowBytes) this.requestedBytes += bytes;
    return false;
  }

  requested(): void {
    this.isRequested = true;
    this.requestedBytes = this.unansweredBytes;
  }

  answered(): void {
    this.windowBytes = Math.min(this.windowBytes * 2, WINDOW_BYTES_MAX);
    this.unansweredBytes = Math.max(0, this.unansweredBytes - this.requestedBytes);
    this.requestedBytes = 0;
    this.isRequested = false;
  }
}
