/**
 * One timer for the deadlines of all connections: authentication, pings, write deadlines, reviews of holds. A runtime
 * timer per connection costs memory and a heap operation per change; deadlines here may be a tick late, and nobody minds.
 *
 *     slot = (due / TICK_MS) mod SLOTS      each slot: a ring of entries, linked through the entries themselves
 *
 * An entry further away than one turn of the wheel stays in its slot until its turn has come. The timer sleeps until
 * the next slot that holds anything, so an idle server does not wake up for nothing.
 *
 * Thousands may be due at once, strangers that came together above all, and to send one away takes up to 0.1 ms. After
 * TURN_MS_MAX everybody else comes first, and the rest is served in the next turn.
 */

import type { Io, Timer } from '../io/io.ts';

const TICK_MS = 16;
const SLOTS = 2048;
const TURN_MS_MAX = 2;

export interface WheelEntry {
  /** Monotonic milliseconds; meaningful while it is on the wheel. */
  dueMs: number;
  /** -1 when it is not on the wheel. */
  wheelSlot: number;
  wheelNext: WheelEntry | null;
  wheelPrevious: WheelEntry | null;
  /** The deadline has passed. The entry is off the wheel and may put itself on again. */
  deadlinePassed(nowMs: number): void;
}

export class DeadlineWheel {
  private readonly io: Io;
  private readonly slots: (WheelEntry | null)[] = [];
  private count = 0;
  private timer: Timer | null = null;
  private timerTick = Number.POSITIVE_INFINITY;
  /** All slots up to this tick have been served, or are being served: nothing is put there any more. */
  private servedTick: number;
  /** The tick to go on with, in this turn or the next. */
  private nextTick: number;
  private closed = false;

  constructor(io: Io) {
    this.io = io;
    for (let i = 0; i < SLOTS; i++) this.slots.push(null);
    this.servedTick = Math.floor(io.clock.monotonicMs() / TICK_MS);
    this.nextTick = this.servedTick + 1;
  }

  /** Puts the entry on the wheel, or moves it. */
  set(entry: WheelEntry, dueMs: number): void {
    this.remove(entry);
    const tick = Math.max(Math.ceil(dueMs / TICK_MS), this.servedTick + 1);
    const slot = tick % SLOTS;
    const first = this.slots[slot] as WheelEntry | null;
    entry.dueMs = dueMs;
    entry.wheelSlot = slot;
    entry.wheelNext = first;
    if (first !== null) first.wheelPrevious = entry;
    this.slots[slot] = entry;
    this.count++;
    if (tick < this.timerTick) this.sleepUntil(tick);
  }

  /** Takes the entry off; harmless when it is not on. */
  remove(entry: WheelEntry): void {
    if (entry.wheelSlot < 0) return;
    const { wheelPrevious, wheelNext } = entry;
    if (wheelPrevious === null) this.slots[entry.wheelSlot] = wheelNext;
    else wheelPrevious.wheelNext = wheelNext;
    if (wheelNext !== null) wheelNext.wheelPrevious = wheelPrevious;
    entry.wheelSlot = -1;
    entry.wheelNext = null;
    entry.wheelPrevious = null;
    this.count--;
  }

  /** No deadline passes any more. */
  close(): void {
    this.closed = true;
    this.timer?.cancel();
    this.timer = null;
  }

  private sleepUntil(tick: number): void {
    if (this.closed) return;
    this.timer?.cancel();
    this.timerTick = tick;
    const delay = tick * TICK_MS - this.io.clock.monotonicMs();
    this.timer = this.io.timers.after(Math.max(0, delay), () => this.turn());
  }

  private turn(): void {
    this.timer?.cancel();
    this.timer = null;
    this.timerTick = Number.POSITIVE_INFINITY;
    const now = this.io.clock.monotonicMs();
    const nowTick = Math.floor(now / TICK_MS);
    // After a long pause every slot is due once; more turns would find the same.
    this.nextTick = Math.max(this.nextTick, nowTick - SLOTS + 1);
    this.servedTick = nowTick;
    for (; this.nextTick <= nowTick && !this.closed; this.nextTick++) {
      if (this.serve(this.nextTick % SLOTS, now)) continue;
      this.io.timers.afterTurn(() => this.turn());
      return;
    }
    this.sleepUntilNext();
  }

  /** False when time is up before all that are due have been served. */
  private serve(slot: number, now: number): boolean {
    let entry = this.slots[slot] as WheelEntry | null;
    while (entry !== null) {
      const next: WheelEntry | null = entry.wheelNext;
      if (entry.dueMs <= now) {
        if (this.io.clock.monotonicMs() - now > TURN_MS_MAX) return false;
        this.remove(entry);
        entry.deadlinePassed(now);
        // The callback may have taken the next one off, or moved it.
        if (next !== null && next.wheelSlot !== slot) {
          entry = this.slots[slot] as WheelEntry | null;
          continue;
        }
      }
      entry = next;
    }
    return true;
  }

  private sleepUntilNext(): void {
    if (this.count === 0) return;
    for (let tick = this.servedTick + 1; tick <= this.servedTick + SLOTS; tick++) {
      if (this.slots[tick % SLOTS] === null) continue;
      if (tick < this.timerTick) this.sleepUntil(tick);
      return;
    }
  }
}
