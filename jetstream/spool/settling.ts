/**
 * When what a hub wants to hear can be taken for whole. Nothing says that all of it was told, so it is when the hub has
 * answered a PING sent when the link was opened, has told nothing new for QUIET_MS, and wants again what it wanted before:
 * over a slow way much of it comes late, a hub that has gone silent has told nothing, and one that was restarted is linked
 * sooner than its own subscribers have found it again.
 *
 *     begin ─► settling ──answered, all is back, and quiet──► settled ⟲ QUIET_MS after something was told
 *                 └────────answered, all is back────► ready: what waits for those who are back can be sent
 *
 * Where interest never rests, or somebody does not come back, it is taken for whole SETTLING_MS_MAX after the opening.
 */

import type { Io, Timer } from '../../server/io/io.ts';
import type { SpooledLink } from '../../server/ports.ts';

const QUIET_MS = 1000;
const LOOK_MS = 200;
const SETTLING_MS_MAX = 30_000;

export interface SettlingOwner {
  /** Whether the hub wants all that it wanted when the link was lost. */
  isBack(): boolean;
  /** Who was there before is there again, or has been waited for long enough. */
  ready(): void;
  /** Interest can be taken for whole, which is the first time, and then a while after a change. */
  settled(isFirst: boolean): void;
}

export class Settling {
  isReady = false;
  isSettled = false;
  private readonly io: Pick<Io, 'clock' | 'timers'>;
  private readonly owner: SettlingOwner;
  private timer: Timer | null = null;
  /** Tells the answers of one link from those of others; counts the openings. */
  private opening = 0;
  private isAnswered = false;
  private openedMs = 0;
  private toldMs = 0;

  constructor(io: Pick<Io, 'clock' | 'timers'>, owner: SettlingOwner) {
    this.io = io;
    this.owner = owner;
  }

  /** The link was opened. */
  begin(link: SpooledLink): void {
    this.cancel();
    const opening = this.opening;
    this.isReady = false;
    this.isSettled = false;
    this.isAnswered = false;
    this.openedMs = this.io.clock.monotonicMs();
    this.toldMs = this.openedMs;
    this.review();
    link.fence(() => {
      if (this.opening !== opening) return;
      this.isAnswered = true;
      this.review();
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
    this.timer?.cancel();
    this.timer = null;
    const nowMs = this.io.clock.monotonicMs();
    const latestMs = this.openedMs + SETTLING_MS_MAX;
    if (this.isAnswered && !this.isReady && (nowMs >= latestMs || this.owner.isBack())) {
      this.isReady = true;
      this.owner.ready();
    }
    const dueMs = Math.min(this.isReady ? this.toldMs + QUIET_MS : nowMs + LOOK_MS, latestMs);
    if (dueMs > nowMs) this.timer = this.io.timers.after(dueMs - nowMs, () => this.review());
    else if (this.isReady) this.rested();
  }

  private rested(): void {
    const isFirst = !this.isSettled;
    this.timer = null;
    this.isSettled = true;
    this.owner.settled(isFirst);
  }
}
