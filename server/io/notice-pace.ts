/** How often the log is told of something that goes on: at most once in so many milliseconds. */

export class NoticePace {
  private readonly intervalMs: number;
  private dueMs: number = Number.NEGATIVE_INFINITY;

  constructor(intervalMs: number) {
    this.intervalMs = intervalMs;
  }

  /** Whether it is time to say it; the next time is that much later then. `nowMs` is monotonic. */
  isDue(nowMs: number): boolean {
    if (nowMs < this.dueMs) return false;
    this.dueMs = nowMs + this.intervalMs;
    return true;
  }
}
