/** When a connection is pinged, and when it is given up; the times are nats-server's. */
import { describe, expect, it } from 'vitest';
import { Keepalive } from '../../server/connection/keepalive.ts';

const HOUR_MS = 3_600_000;
const INTERVAL_MS = 120_000;
const PINGS_OUT = 2;

function decide(keepalive: Keepalive, nowMs: number, ownTrafficCounts = true): string {
  return keepalive.decide(nowMs, INTERVAL_MS, PINGS_OUT, ownTrafficCounts ? keepalive.heardMs : null);
}

describe('the pings of a connection', () => {
  it('begin two seconds after the CONNECT, spread over a fifth of that', () => {
    const keepalive = new Keepalive(INTERVAL_MS);
    expect(keepalive.dueMs).toBe(INTERVAL_MS);
    keepalive.scheduleFirst(1000, INTERVAL_MS, 0);
    expect(keepalive.dueMs).toBe(3000);
    keepalive.scheduleFirst(1000, INTERVAL_MS, 0.5);
    expect(keepalive.dueMs).toBe(3200);
    keepalive.scheduleFirst(1000, 100, 0);
    expect(keepalive.dueMs).toBe(1100);
  });

  it('are skipped while the client sends something, but for the first one and one an hour', () => {
    const keepalive = new Keepalive();
    keepalive.estimate(3);
    keepalive.heardMs = 1999;
    expect(decide(keepalive, 2000)).toBe('ping');
    keepalive.answered(2001);
    expect(keepalive.rttMs).toBe(1);
    const pings: number[] = [];
    for (let now = keepalive.dueMs; now < 3 * HOUR_MS; now = keepalive.dueMs) {
      keepalive.heardMs = now - 1;
      if (decide(keepalive, now) === 'ping') pings.push(now);
      keepalive.answered(now);
    }
    expect(pings).toHaveLength(2);
    expect((pings[1] as number) - (pings[0] as number)).toBeGreaterThan(HOUR_MS);
  });

  it('are not postponed by answers to them', () => {
    const keepalive = new Keepalive();
    keepalive.estimate(3);
    for (let now = 2000, i = 0; i < 5; i++, now = keepalive.dueMs) {
      expect(decide(keepalive, now)).toBe('ping');
      keepalive.answered(now + 1);
    }
  });

  it('are not postponed by anything on a link', () => {
    const keepalive = new Keepalive();
    keepalive.estimate(3);
    for (let now = 2000, i = 0; i < 5; i++, now = keepalive.dueMs) {
      keepalive.heardMs = now;
      expect(decide(keepalive, now, false)).toBe('ping');
      keepalive.answered(now + 1);
    }
  });

  it('are stale when more than the allowed number is unanswered', () => {
    const keepalive = new Keepalive();
    expect(decide(keepalive, 2000)).toBe('ping');
    expect(decide(keepalive, 122_000)).toBe('ping');
    expect(decide(keepalive, 242_000)).toBe('stale');
  });

  it('measure nothing by an answer that nobody asked for', () => {
    const keepalive = new Keepalive();
    keepalive.answered(5000);
    expect(keepalive.rttMs).toBe(0);
  });
});
