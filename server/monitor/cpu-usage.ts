/**
 * How busy this process is, in percent of one core: over the time since the last look, as long as that is a second ago.
 * Whoever looks more often gets the same number again, so that two observers don't spoil each other's.
 */

import type { Io } from '../io/io.ts';

const WINDOW_MS_MIN = 1000;

export class CpuUsage {
  private readonly io: Io;
  private windowStartMs: number;
  private secondsBefore: number;
  private percent = 0;

  constructor(io: Io) {
    this.io = io;
    this.windowStartMs = io.clock.monotonicMs();
    this.secondsBefore = io.host.cpuSeconds();
  }

  /** With one decimal. */
  look(): number {
    const { clock, host } = this.io;
    const now = clock.monotonicMs();
    const elapsedMs = now - this.windowStartMs;
    if (elapsedMs < WINDOW_MS_MIN) return this.percent;
    const seconds = host.cpuSeconds();
    const tenths = ((seconds - this.secondsBefore) * 1_000_000) / elapsedMs;
    this.percent = Math.round(tenths) / 10;
    this.windowStartMs = now;
    this.secondsBefore = seconds;
    return this.percent;
  }
}
