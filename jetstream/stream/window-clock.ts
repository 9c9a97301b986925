/**
 * The clock of a duplicate window: it begins where the host's clock is, or where the stream's messages are if they are
 * ahead, and from then on advances as time passes, whatever becomes of the host's clock. So an id is remembered for as
 * long as the window, neither forgotten when the clock jumps ahead nor kept for years when it jumps back.
 */

import type { Clock } from '../../server/io/io.ts';

export class WindowClock {
  private readonly clock: Clock;
  private offsetMs: number;

  constructor(clock: Clock) {
    this.clock = clock;
    this.offsetMs = clock.wallMs() - clock.monotonicMs();
  }

  get nowMs(): number {
    return this.clock.monotonicMs() + this.offsetMs;
  }

  /** A message was stored at this time, before the server started. */
  notBefore(timeMs: number): void {
    this.offsetMs = Math.max(this.offsetMs, timeMs - this.clock.monotonicMs());
  }
}
