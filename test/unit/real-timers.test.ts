/** The host's timers: never early, long delays too. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { realTimers } from '../../server/io/real-timers.ts';
import { until } from '../helpers/until.ts';

const DAY_MS = 86_400_000;

describe("the host's timers", () => {
  it('never run early, whatever fraction of a millisecond it is', async () => {
    const early: number[] = [];
    let waiting = 0;
    for (let i = 0; i < 200; i++) {
      const delayMs = i * 0.137;
      const dueMs = performance.now() + delayMs;
      waiting++;
      realTimers.after(delayMs, () => {
        waiting--;
        if (performance.now() < dueMs) early.push(delayMs);
      });
      await delay(0.3);
    }
    await until(() => waiting === 0, 'the timers to run');
    expect(early).toEqual([]);
  });

  it('do not run when cancelled', async () => {
    let ran = 0;
    const timer = realTimers.after(1, () => ran++);
    realTimers.after(40 * DAY_MS, () => ran++).cancel();
    timer.cancel();
    timer.cancel();
    await delay(10);
    expect(ran).toBe(0);
  });

  it('run what is put behind the turn when the turn is over', async () => {
    const order: string[] = [];
    realTimers.afterTurn(() => order.push('after'));
    await Promise.resolve().then(() => order.push('turn'));
    await until(() => order.length === 2, 'the end of the turn');
    expect(order).toEqual(['turn', 'after']);
  });
});

describe('a timer longer than the runtime can count', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('runs when its time has come, and once', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let ran = 0;
    realTimers.after(60 * DAY_MS, () => ran++);
    vi.advanceTimersByTime(60 * DAY_MS - 1);
    expect(ran).toBe(0);
    vi.advanceTimersByTime(10);
    expect(ran).toBe(1);
    vi.advanceTimersByTime(60 * DAY_MS);
    expect(ran).toBe(1);
  });

  it('can be cancelled at any time', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let ran = 0;
    const timer = realTimers.after(60 * DAY_MS, () => ran++);
    vi.advanceTimersByTime(50 * DAY_MS);
    timer.cancel();
    vi.advanceTimersByTime(60 * DAY_MS);
    expect(ran).toBe(0);
  });
});
