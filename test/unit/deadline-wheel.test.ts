/** One timer for many deadlines: each passes once, not before its time, and soon after it. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeadlineWheel, type WheelEntry } from '../../server/connection/deadline-wheel.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';

const TICK_MS = 16;
/** One turn of the wheel. */
const TURN_MS = 2048 * TICK_MS;

class Entry implements WheelEntry {
  dueMs = 0;
  wheelSlot = -1;
  wheelNext: WheelEntry | null = null;
  wheelPrevious: WheelEntry | null = null;
  readonly passedMs: number[] = [];
  whenPassed: (nowMs: number) => void = () => undefined;

  deadlinePassed(nowMs: number): void {
    this.passedMs.push(nowMs);
    this.whenPassed(nowMs);
  }
}

class Fixture {
  private readonly world = new SimulatedWorld(1);
  private readonly process = this.world.machine('wheel').start();
  readonly wheel = new DeadlineWheel(this.process.io);

  get nowMs(): number {
    return this.process.io.clock.monotonicMs();
  }

  entry(delayMs: number): Entry {
    const entry = new Entry();
    this.wheel.set(entry, this.nowMs + delayMs);
    return entry;
  }

  runFor(ms: number): void {
    this.world.scheduler.runFor(ms);
  }

  pauseFor(ms: number): void {
    this.process.pause(ms);
  }
}

describe('the deadline wheel', () => {
  it('passes every deadline once, not early and at most a tick late', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 3 * TURN_MS, noNaN: true }), { maxLength: 40 }), (delays) => {
        const fixture = new Fixture();
        const entries = delays.map((each) => fixture.entry(each));
        fixture.runFor(3 * TURN_MS + 100);
        const lateMs = entries.map(({ passedMs, dueMs }) =>
          passedMs.length === 1 ? (passedMs[0] ?? 0) - dueMs : null,
        );
        expect(lateMs.filter((late) => late === null || late < 0 || late > 2 * TICK_MS)).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  it('lets a deadline be moved, both ways, and taken off', () => {
    const fixture = new Fixture();
    const { wheel } = fixture;
    const [later, sooner, off] = [fixture.entry(100), fixture.entry(50_000), fixture.entry(100)];
    wheel.set(later, fixture.nowMs + 200_000);
    wheel.set(sooner, fixture.nowMs + 20);
    wheel.remove(off);
    wheel.remove(off);
    fixture.runFor(1000);
    expect([later, sooner, off].map(({ passedMs }) => passedMs.length)).toEqual([0, 1, 0]);
    fixture.runFor(200_000);
    expect([later, sooner, off].map(({ passedMs }) => passedMs.length)).toEqual([1, 1, 0]);
  });

  it('lets an entry put itself on again, and take off or move its neighbours, when its time has come', () => {
    const fixture = new Fixture();
    const { wheel } = fixture;
    // All of one slot; the one that was put on last is served first.
    const [last, moved, removed, first] = Array.from({ length: 4 }, () => fixture.entry(100)) as [
      Entry,
      Entry,
      Entry,
      Entry,
    ];
    first.whenPassed = (nowMs) => {
      wheel.remove(removed);
      wheel.set(moved, nowMs + 1000);
      if (first.passedMs.length < 3) wheel.set(first, nowMs + 50);
    };
    fixture.runFor(500);
    expect([first, removed, moved, last].map(({ passedMs }) => passedMs.length)).toEqual([3, 0, 0, 1]);
    fixture.runFor(1000);
    expect(moved.passedMs).toHaveLength(1);
  });

  it('serves what became due while the process stood still, once', () => {
    const fixture = new Fixture();
    const entries = [10, 500, 1500, TURN_MS + 10].map((delay) => fixture.entry(delay));
    fixture.pauseFor(2000);
    fixture.runFor(2100);
    expect(entries.map(({ passedMs }) => passedMs.length)).toEqual([1, 1, 1, 0]);
    fixture.runFor(TURN_MS);
    expect(entries.map(({ passedMs }) => passedMs.length)).toEqual([1, 1, 1, 1]);
  });

  it('passes what is already due with the next tick, never inside the call that set it', () => {
    const fixture = new Fixture();
    fixture.runFor(1000);
    const entry = fixture.entry(-500);
    expect(entry.passedMs).toEqual([]);
    fixture.runFor(2 * TICK_MS);
    expect(entry.passedMs).toHaveLength(1);
  });

  it('passes nothing more once it is closed', () => {
    const fixture = new Fixture();
    const [other, closing] = [fixture.entry(100), fixture.entry(90)];
    closing.whenPassed = () => fixture.wheel.close();
    fixture.runFor(1000);
    fixture.wheel.set(other, fixture.nowMs + 10);
    fixture.runFor(1000);
    expect([closing.passedMs.length, other.passedMs.length]).toEqual([1, 0]);
  });

  it('serves no more of those that are due at once than a short turn takes, and the rest in the next ones', () => {
    const world = new SimulatedWorld(1);
    const { io } = world.machine('wheel').start();
    let spentMs = 0;
    const clock = { wallMs: () => io.clock.wallMs(), monotonicMs: () => io.clock.monotonicMs() + spentMs };
    const turns: number[] = [];
    let passed = 0;
    const afterTurn = (callback: () => void): void => {
      turns.push(passed);
      passed = 0;
      io.timers.afterTurn(callback);
    };
    const wheel = new DeadlineWheel({ ...io, clock, timers: { after: io.timers.after.bind(io.timers), afterTurn } });
    const entries = Array.from({ length: 10 }, () => {
      const entry = new Entry();
      entry.whenPassed = () => {
        spentMs++;
        passed++;
      };
      wheel.set(entry, 100);
      return entry;
    });
    world.scheduler.runFor(200);
    expect(entries.every(({ passedMs }) => passedMs.length === 1)).toBe(true);
    expect(turns).toEqual([3, 3, 3]);
    expect(passed).toBe(1);
  });
});
