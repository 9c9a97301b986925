/**
 * When what a hub wants to hear can be taken for whole. Nothing says that all of it was told, so it is when the hub has
 * answered a PING sent when the link was opened, and has told nothing new for QUIET_MS: over a slow way much of it comes
 * late, and a hub that has gone silent has told nothing.
 *
 *     begin ─► settling ──answered, and quiet──► settled ⟲ QUIET_MS after something was told
 *
 * Where interest never rests it is taken for whole SETTLING_MS_MAX after the opening.
 */

import type { Io, Timer } from '../../server/io/io.ts';
import type { SpooledLink } from '../../server/ports.ts';

const QUIET_MS = 1000;
const SETTLING_MS_MAX = 30_000;

export class Settling {
  isSettled = false;
  private readonly io: Pick<Io, 'clock' | 'timers'>;
  private readonly settled: (isFirst: boolean) => void;
  private timer: Timer | null = null;
  /** Tells the answers of one link from those of others; counts the openings. */
  private opening = 0;
  private isAnswered = false;
  private openedMs = 0;
  private toldMs = 0;

  /** `settled` is called when interest can be taken for whole, which is the first time, and then a while after a change. */
  constructor(io: Pick<Io, 'clock' | 'timers'>, settled: (isFirst: boolean) => void) {
    this.io = io;
    this.settled = settled;
  }

  /** The link was opened. */
  begin(link: SpooledLink): void {
    this.cancel();
    const opening = this.opening;
    this.isSettled = false;
    this.isAnswered = false;
    this.openedMs = this.io.clock.monotonicMs();
    this.toldMs = this.openedMs;
    this.review();
    link.fence(() => {
      if (this.opening !== opening) return;
      this.isAnswered = true;
      if (this.timer === null) this.review();
    });
  }

  /** The hub has told something, be it that it wants it or that it does no more; or it is to be looked at once more. */
  told(): void {
    if (!this.isSettled) this.toldMs = this.io.clock.monotonicMs();
    else this.timer ??= this.io.timers.after(QUIET_MS, () => this.rested());
  }

  /** Nothing is called any more until the next `begin`. */
  cancel(): void {
    this.opening++;
    this.timer?.cancel();
    this.timer = null;
  }

  private review(): void {
    const nowMs = this.io.clock.monotonicMs();
    const dueMs = Math.min(this.toldMs + QUIET_MS, this.openedMs + SETTLING_MS_MAX);
    this.timer = dueMs > nowMs ? this.io.timers.after(dueMs - nowMs, () => this.review()) : null;
    if (this.timer === null && this.isAnswered) this.rested();
  }

  private rested(): void {
    const isFirst = !this.isSettled;
    this.timer = null;
    this.isSettled = true;
    this.settled(isFirst);
  }
}
