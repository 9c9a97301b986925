/**
 * The pace of a consumer that replays messages as they came: between two deliveries passes the time that passed between
 * their arrivals. Once it has caught up with what was there when it began, it delivers at once.
 *
 * Source: nats-server's loopAndGatherMsgs.
 */

const DELAY_MS_MIN = 1;

export class ReplayPace {
  /** The last message that is replayed at its pace. */
  readonly upTo: number;
  private lastSeconds = 0;
  private lastNanoseconds = 0;
  /** The message whose time has come. */
  private due = 0;

  constructor(upTo: number) {
    this.upTo = upTo;
  }

  /** Milliseconds until the message may be delivered; 0: now, and the next one counts from it. */
  delayMs(sequence: number, seconds: number, nanoseconds: number): number {
    const passedMs = (seconds - this.lastSeconds) * 1000 + (nanoseconds - this.lastNanoseconds) / 1e6;
    if (this.lastSeconds > 0 && this.due !== sequence && passedMs > DELAY_MS_MIN) {
      this.due = sequence;
      return passedMs;
    }
    return 0;
  }

  /** The message was delivered. */
  delivered(seconds: number, nanoseconds: number): void {
    this.lastSeconds = seconds;
    this.lastNanoseconds = nanoseconds;
    this.due = 0;
  }
}
