/**
 * When handshakes go on that strangers began. Each costs half a millisecond and more of signing and exchanging keys, on
 * the thread that also serves everybody else, and tens of KiB as long as it lasts; whoever asks for one has shown nothing
 * yet.
 *
 *     hello has come whole ─► waiting ──credit, and room─► going on ─► over
 *
 * Credit in milliseconds comes in with the time that is left to others, CREDIT_PER_MS for each, up to CREDIT_MS_MAX;
 * handshakes pay what they take. So a turn is longer than that by one handshake at most, and a third of the time is for
 * others, among them the program at the other end: on a machine that is busy with strangers alone, it is the processor
 * that everybody waits for.
 *
 * The oldest comes first, unless OLDEST_FIRST_MAX wait or there is no room: then more come than can be served, those that
 * wait longest have given up already, or are about to, and to serve them would help nobody.
 *
 * Bounds: GOING_MAX go on at a time. With more waiting, the one that goes on for longest is given up once it has had
 * GRACE_MS, which is time enough for its two round trips. What waits is a socket unread, and ends at its own deadline.
 */

import type { Io, Timer } from '../io/io.ts';

const CREDIT_PER_MS = 2;
const CREDIT_MS_MAX = 2;
const GOING_MAX = 256;
const GRACE_MS = 250;
const OLDEST_FIRST_MAX = 1_024;
/** Those that have ended may stay in the list of those that wait until they are so many, and half of it. */
const ENDED_KEPT_MAX = 64;

export interface Handshake {
  readonly isOver: boolean;
  /** Goes on with what has come, inside the call. */
  goOn(): void;
  /** Ends for lack of room. */
  giveUp(): void;
}

export class HandshakeQueue {
  private readonly io: Pick<Io, 'clock' | 'timers'>;
  /** The newest last. */
  private waiting: Handshake[] = [];
  private endedOfWaiting = 0;
  /** When each began to go on, in monotonic milliseconds; the oldest first. */
  private readonly going = new Map<Handshake, number>();
  private creditMs = CREDIT_MS_MAX;
  private creditedMs: number;
  /** When the waiting ones are looked at again; null: when there is one. */
  private again: Timer | 'soon' | null = null;
  private isServing = false;
  /** How many were given up for others. */
  givenUp = 0;

  constructor(io: Pick<Io, 'clock' | 'timers'>) {
    this.io = io;
    this.creditedMs = io.clock.monotonicMs();
  }

  /** The handshake goes on as soon as it may, which can be now. */
  add(handshake: Handshake): void {
    this.waiting.push(handshake);
    if (this.again === null) this.serve();
  }

  /** It does not go on any more, or will not. */
  ended(handshake: Handshake): void {
    if (!this.going.delete(handshake)) {
      this.endedOfWaiting++;
      this.forgetEnded();
    } else if (this.waiting.length > 0 && this.going.size === GOING_MAX - 1 && !this.isServing) this.serveSoon();
  }

  private serve(): void {
    this.again = null;
    this.isServing = true;
    const waitMs = this.serveSome();
    this.isServing = false;
    if (waitMs !== null) this.again = this.io.timers.after(waitMs, () => this.serve());
  }

  /** Somebody has made room: nobody has to wait for that any more. */
  private serveSoon(): void {
    if (this.again === 'soon') return;
    this.again?.cancel();
    this.again = 'soon';
    this.io.timers.afterTurn(() => this.serve());
  }

  /** How long those have to wait that it leaves; null: it leaves none. */
  private serveSome(): number | null {
    const { clock } = this.io;
    let nowMs = clock.monotonicMs();
    this.earn(nowMs);
    while (this.creditMs > 0) {
      this.dropEnded();
      if (this.waiting.length === 0) return null;
      const waitMs = this.makeRoom(nowMs);
      if (waitMs > 0) return waitMs;
      const next = this.takeNext();
      this.going.set(next, nowMs);
      next.goOn();
      const beganMs = nowMs;
      nowMs = clock.monotonicMs();
      this.creditMs -= nowMs - beganMs;
      this.creditedMs += nowMs - beganMs;
    }
    return this.waiting.length === 0 ? null : (CREDIT_MS_MAX / 2 - this.creditMs) / CREDIT_PER_MS;
  }

  private earn(nowMs: number): void {
    const earnedMs = (nowMs - this.creditedMs) * CREDIT_PER_MS;
    this.creditMs = Math.min(CREDIT_MS_MAX, this.creditMs + earnedMs);
    this.creditedMs = nowMs;
  }

  /** Both ends of the list are such as still wait. */
  private dropEnded(): void {
    while (this.waiting.at(-1)?.isOver === true) {
      this.waiting.pop();
      this.endedOfWaiting--;
    }
    while (this.waiting[0]?.isOver === true) {
      this.waiting.shift();
      this.endedOfWaiting--;
    }
  }

  private takeNext(): Handshake {
    const isTooMuch = this.waiting.length > OLDEST_FIRST_MAX || this.going.size === GOING_MAX - 1;
    return (isTooMuch ? this.waiting.pop() : this.waiting.shift()) as Handshake;
  }

  /** How long there is no room for another; 0: there is. */
  private makeRoom(nowMs: number): number {
    if (this.going.size < GOING_MAX) return 0;
    for (const [oldest, beganMs] of this.going) {
      const waitMs = beganMs + GRACE_MS - nowMs;
      if (waitMs > 0) return waitMs;
      this.going.delete(oldest);
      this.givenUp++;
      oldest.giveUp();
      break;
    }
    return 0;
  }

  private forgetEnded(): void {
    if (this.endedOfWaiting < ENDED_KEPT_MAX || this.endedOfWaiting * 2 < this.waiting.length) return;
    this.waiting = this.waiting.filter(({ isOver }) => !isOver);
    this.endedOfWaiting = 0;
  }
}
