/**
 * Notices that nobody has used a consumer for its inactive threshold. Whoever has messages to acknowledge may be working
 * on them until the last deadline: the threshold begins there.
 */

import type { Io, Timer } from '../../server/io/io.ts';

export class Inactivity {
  private readonly io: Io;
  private readonly isInUse: () => boolean;
  private readonly busyUntilMs: () => number;
  private readonly onInactive: () => void;
  private lastUsedMs: number;
  private thresholdMs = 0;
  private timer: Timer | null = null;

  /** `busyUntilMs`: the monotonic time until which somebody may be at work. */
  constructor(io: Io, isInUse: () => boolean, busyUntilMs: () => number, onInactive: () => void) {
    this.io = io;
    this.isInUse = isInUse;
    this.busyUntilMs = busyUntilMs;
    this.onInactive = onInactive;
    this.lastUsedMs = io.clock.monotonicMs();
  }

  /** Watches for this many milliseconds without use; 0: not at all. */
  watch(thresholdMs: number): void {
    this.stop();
    this.thresholdMs = thresholdMs;
    if (thresholdMs > 0) this.timer = this.io.timers.after(thresholdMs, () => this.check());
  }

  used(): void {
    this.lastUsedMs = this.io.clock.monotonicMs();
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = null;
  }

  private check(): void {
    if (this.isInUse()) this.used();
    const left = Math.max(this.lastUsedMs, this.busyUntilMs()) + this.thresholdMs - this.io.clock.monotonicMs();
    // Whoever was busy may be done earlier.
    if (left <= 0) this.onInactive();
    else this.timer = this.io.timers.after(Math.min(left, this.thresholdMs), () => this.check());
  }
}
