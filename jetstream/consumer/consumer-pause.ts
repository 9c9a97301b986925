/**
 * Until when a consumer delivers nothing. Whoever waits and whoever listens is told what is due, heartbeats for instance,
 * as if there were nothing to deliver.
 */

import type { Io, Timer } from '../../server/io/io.ts';
import { type Nanoseconds, nanoseconds } from '../../server/protocol/nanoseconds.ts';
import type { Moment } from '../../server/protocol/rfc3339.ts';

/** The wall clock may be set meanwhile: it is looked at so often. Timers know no much longer time either. */
const LOOK_MS = 60_000;
const INT64_MAX: bigint = 2n ** 63n - 1n;

export class ConsumerPause {
  isPaused = false;
  private readonly io: Io;
  private readonly onEnd: () => void;
  private until: Moment | null = null;
  private timer: Timer | null = null;

  /** `onEnd`: the time has come, and the consumer is not paused any more. */
  constructor(io: Io, onEnd: () => void) {
    this.io = io;
    this.onEnd = onEnd;
  }

  /** From now on the pause lasts until this moment; `null`, or one that has passed: there is none. */
  set(until: Moment | null): void {
    this.stop();
    this.until = until;
    this.review();
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = null;
  }

  /** What is left of the pause; 0 without one. */
  get remaining(): Nanoseconds {
    if (this.until === null) return 0;
    const nowMs = this.io.clock.wallMs();
    const nowSeconds = Math.floor(nowMs / 1000);
    const left =
      BigInt(this.until.seconds - nowSeconds) * 1_000_000_000n +
      BigInt(this.until.nanoseconds - Math.floor((nowMs - nowSeconds * 1000) * 1e6));
    if (left <= 0n) return 0;
    return nanoseconds(left > INT64_MAX ? INT64_MAX : left);
  }

  private review(): void {
    const leftMs = Number(this.remaining) / 1e6;
    this.isPaused = leftMs > 0;
    if (!this.isPaused) return;
    this.timer = this.io.timers.after(Math.min(LOOK_MS, leftMs), () => {
      this.timer = null;
      this.review();
      if (!this.isPaused) this.onEnd();
    });
  }
}
