/**
 * Pings of one connection. A ping is due every interval, the first one soon after the start; it is skipped while the
 * peer sends something of its own (except on links, whose own traffic must not postpone it). More than the allowed
 * number unanswered: the connection is stale. Answers measure the round trip.
 */

const RTT_AGE_MAX_MS = 3_600_000;
const FIRST_PING_MS = 2000;
const FIRST_PING_JITTER = 0.2;

export type PingDecision = 'skip' | 'ping' | 'stale';

export class Keepalive {
  /** Round trip of the last answered ping in milliseconds; 0 until there is one. */
  rttMs = 0;
  pingsOut = 0;
  dueMs: number = Number.POSITIVE_INFINITY;
  private pingSentMs: number;

  constructor(nowMs: number) {
    this.pingSentMs = nowMs;
  }

  /** The first ping; `fraction` in [0, 1) spreads those of many connections. */
  scheduleFirst(nowMs: number, intervalMs: number, fraction: number): void {
    const delay = Math.min(FIRST_PING_MS, intervalMs);
    this.dueMs = nowMs + delay * (1 + FIRST_PING_JITTER * fraction);
  }

  /** The due time has passed: what to do now. `lastReadMs` null: own traffic does not count. */
  decide(nowMs: number, intervalMs: number, pingsOutMax: number, lastReadMs: number | null): PingDecision {
    this.dueMs = nowMs + intervalMs;
    const wantsRtt = this.rttMs === 0 || nowMs - this.pingSentMs > RTT_AGE_MAX_MS;
    if (lastReadMs !== null && !wantsRtt) {
      if (nowMs - lastReadMs < intervalMs || nowMs - this.pingSentMs < intervalMs) return 'skip';
    }
    if (this.pingsOut + 1 > pingsOutMax) return 'stale';
    this.pingsOut++;
    this.pingSentMs = nowMs;
    return 'ping';
  }

  /** A PONG came. */
  answered(nowMs: number): void {
    this.pingsOut = 0;
    this.rttMs = Math.max(nowMs - this.pingSentMs, Number.MIN_VALUE);
  }

  /** A first estimate, from the start of the connection to its CONNECT. */
  estimate(rttMs: number): void {
    this.rttMs = Math.max(rttMs, Number.MIN_VALUE);
  }
}
