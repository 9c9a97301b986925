/** What slows a push consumer down, or lets it tell that it is idle: flow control, rate limit, pauses, heartbeats. */
import { describe, expect, it } from 'vitest';
import { ConsumerPause } from '../../jetstream/consumer/consumer-pause.ts';
import { FlowWindow } from '../../jetstream/consumer/flow-window.ts';
import { IdleHeartbeat } from '../../jetstream/consumer/idle-heartbeat.ts';
import { RateLimit } from '../../jetstream/consumer/rate-limit.ts';
import type { Io } from '../../server/io/io.ts';
import type { Scheduler } from '../../server/io/simulated/scheduler.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';

const MIB: number = 1024 * 1024;
const DAY_MS = 86_400_000;

describe('a window of flow control', () => {
  /** Sends until nothing more may be sent; the messages that were followed by a request. */
  function fill(window: FlowWindow, messageBytes: number): { sent: number; requests: number[] } {
    const requests: number[] = [];
    let sent = 0;
    while (!window.isFull) {
      sent++;
      if (!window.sent(messageBytes)) continue;
      window.requested();
      requests.push(sent);
    }
    return { sent, requests };
  }

  it('begins at 2 MiB and asks once, when more than half of it is used', () => {
    expect(fill(new FlowWindow(), MIB / 4)).toEqual({ sent: 9, requests: [5] });
  });

  it('doubles with each answer up to 32 MiB', () => {
    const window = new FlowWindow();
    const rounds = Array.from({ length: 7 }, () => {
      const { sent } = fill(window, MIB);
      window.answered();
      return sent;
    });
    // What was sent behind the request stays on the books.
    expect(rounds).toEqual([3, 4, 7, 13, 25, 17, 17]);
  });

  it('counts what comes a whole window behind a request as asked about', () => {
    const window = new FlowWindow();
    window.sent(2 * MIB);
    window.requested();
    window.sent(3 * MIB);
    window.answered();
    expect(window.isFull).toBe(false);
  });
});

describe('a rate limit', () => {
  it('lets a full bucket pass at once, and then as much as the rate allows', () => {
    const limit = new RateLimit(8000, 1000, 0);
    expect(limit.take(1000, 0)).toBe(0);
    expect(limit.take(500, 0)).toBe(500);
    expect(limit.take(500, 499)).toBeCloseTo(1);
    expect(limit.take(500, 500)).toBe(0);
    expect(limit.take(1, 500)).toBe(1);
  });

  it('holds no more than one bucket, however long nothing was sent', () => {
    const limit = new RateLimit(8000, 1000, 0);
    expect(limit.take(1000, 1e6)).toBe(0);
    expect(limit.take(1000, 1e6)).toBe(1000);
  });

  it('lets a message larger than the bucket pass when that is full', () => {
    const limit = new RateLimit(8000, 1000, 0);
    expect(limit.take(3000, 0)).toBe(0);
    expect(limit.take(1, 1000)).toBe(1001);
    expect(limit.take(1, 2001)).toBe(0);
  });
});

describe('an idle heartbeat', () => {
  it('beats when nothing was sent for its interval', () => {
    const { scheduler, io } = world();
    const startMs = io.clock.monotonicMs();
    const beats: number[] = [];
    const heartbeat = new IdleHeartbeat(io, 1000, () => beats.push(Math.round(io.clock.monotonicMs() - startMs)));
    heartbeat.start();
    io.timers.after(2500, () => heartbeat.sent(io.clock.monotonicMs()));
    scheduler.runFor(5000);
    expect(beats.map((each) => Math.round(each / 100) * 100)).toEqual([1000, 2000, 3500, 4500]);
    heartbeat.stop();
    scheduler.runFor(5000);
    expect(beats).toHaveLength(4);
  });
});

describe('a pause', () => {
  it('ends by itself at its moment', () => {
    const { scheduler, io } = world();
    let ends = 0;
    const pause = new ConsumerPause(io, () => ends++);
    pause.set(momentAt(io.clock.wallMs() + 2.5 * DAY_MS));
    expect(pause.isPaused).toBe(true);
    expect(Number(pause.remaining)).toBeCloseTo(2.5 * DAY_MS * 1e6, -9);
    scheduler.runFor(2.4 * DAY_MS);
    expect([pause.isPaused, ends]).toEqual([true, 0]);
    scheduler.runFor(0.2 * DAY_MS);
    expect([pause.isPaused, pause.remaining, ends]).toEqual([false, 0, 1]);
  });

  it('is none when its moment has passed or there is none, and can be ended or made longer', () => {
    const { scheduler, io } = world();
    let ends = 0;
    const pause = new ConsumerPause(io, () => ends++);
    pause.set(momentAt(io.clock.wallMs() - 1));
    expect([pause.isPaused, pause.remaining]).toEqual([false, 0]);
    pause.set(momentAt(io.clock.wallMs() + 1000));
    pause.set(momentAt(io.clock.wallMs() + 5000));
    scheduler.runFor(2000);
    expect([pause.isPaused, ends]).toEqual([true, 0]);
    pause.set(null);
    scheduler.runFor(DAY_MS);
    expect([pause.isPaused, pause.remaining, ends]).toEqual([false, 0, 0]);
  });

  it('has at most as much left as the API can tell', () => {
    const { io } = world();
    const pause = new ConsumerPause(io, () => undefined);
    pause.set({ seconds: 2 ** 37, nanoseconds: 0 });
    expect(pause.remaining).toBe(2n ** 63n - 1n);
    pause.stop();
  });
});

function world(): { scheduler: Scheduler; io: Io } {
  const made = new SimulatedWorld(1);
  return { scheduler: made.scheduler, io: made.machine('site').start().io };
}

function momentAt(wallMs: number): { seconds: number; nanoseconds: number } {
  const seconds = Math.floor(wallMs / 1000);
  return { seconds, nanoseconds: Math.floor((wallMs - seconds * 1000) * 1e6) };
}
