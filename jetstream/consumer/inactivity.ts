/** Notices that nobody has used a consumer for its inactive threshold. */

import type { Io, Timer } from '../../server/io/io.ts';

export class Inactivity {
  private readonly io: Io;
  private readonly isInUse: () => boolean;
  private readonly onInactive: () => void;
  private lastUsedMs: number;
  private thresholdMs = 0;
  private timer: Timer | null = null;

  constructor(io: Io, isInUse: () => boolean, onInactive: () => void) {
    this.io = io;
    this.isInUse = isInUse;
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
    const left = this.lastUsedMs + this.thresholdMs - this.io.clock.monotonicMs();
    if (left <= 0) this.onInactive();
    else this.timer = this.io.timers.after(left, () => this.check());
  }
}
