/**
 * Tells the receivers of a push consumer that it is there, when nothing was sent to them for its interval. One timer,
 * which looks at the time of the last message instead of being set anew by each. What is said then, those hear as well
 * who asked for messages and for heartbeats while they wait.
 */

import type { Io, Timer } from '../../server/io/io.ts';
import type { DeliveryHost } from './delivery.ts';

/** What a heartbeat says: how far deliveries and the consumer's look at the stream have come. */
export function heartbeatOf({ state, stream, available }: DeliveryHost): string {
  const seen = state.nextStream - 1;
  // What is not for this consumer counts as seen when nothing is left that is.
  const last = available === 0 ? Math.max(seen, stream.store.lastSequence) : seen;
  return `100 Idle Heartbeat\r\nNats-Last-Consumer: ${state.nextConsumer - 1}\r\nNats-Last-Stream: ${last}\r\n`;
}

export class IdleHeartbeat {
  private readonly io: Io;
  private readonly intervalMs: number;
  private readonly beat: () => void;
  private timer: Timer | null = null;
  private sentAtMs: number;

  constructor(io: Io, intervalMs: number, beat: () => void) {
    this.io = io;
    this.intervalMs = intervalMs;
    this.beat = beat;
    this.sentAtMs = io.clock.monotonicMs();
  }

  start(): void {
    this.arm(this.intervalMs);
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = null;
  }

  /** Something was sent; monotonic milliseconds. */
  sent(nowMs: number): void {
    this.sentAtMs = nowMs;
  }

  private arm(delayMs: number): void {
    this.timer = this.io.timers.after(delayMs, () => this.review());
  }

  private review(): void {
    const now = this.io.clock.monotonicMs();
    const left = this.sentAtMs + this.intervalMs - now;
    if (left > 0) {
      this.arm(left);
      return;
    }
    this.sentAtMs = now;
    this.arm(this.intervalMs);
    this.beat();
  }
}
