/**
 * How long to wait before an origin is asked again: next to nothing after a break, then twice as long with every failure
 * up to a limit, each time with jitter, so that many streams that lost the same link do not ask all at once.
 */

const FIRST_MS = 20;
const FIRST_JITTER_MS = 100;
const SECOND_MS = 500;
const LONGEST_MS = 8000;
const JITTER_PART = 0.25;

export class RetryDelay {
  private readonly fraction: () => number;
  private failures = 0;

  /** `fraction` gives random numbers in [0, 1). */
  constructor(fraction: () => number) {
    this.fraction = fraction;
  }

  /** All is well: the next break is the first one. */
  reset(): void {
    this.failures = 0;
  }

  /** Milliseconds until the next try. */
  next(): number {
    const failures = this.failures++;
    if (failures === 0) return this.soon();
    const delayMs = Math.min(LONGEST_MS, SECOND_MS * 2 ** (failures - 1));
    return delayMs * (1 - JITTER_PART + 2 * JITTER_PART * this.fraction());
  }

  /** Milliseconds until a try that something has just made promising. */
  soon(): number {
    return FIRST_MS + FIRST_JITTER_MS * this.fraction();
  }
}
