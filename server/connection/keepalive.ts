/**
 * Pings of one connection. Until a client has said CONNECT they are an interval apart from the beginning; the CONNECT
 * brings the first one forward to a few seconds from then, so that the round trip is known. Later ones are skipped while
 * the peer sends something of its own (except on links, whose own traffic must not postpone them), but not longer than
 * the round trip may be old. More than the allowed number unanswered: the connection is stale.
 */

const RTT_AGE_MAX_MS = 3_600_000;
const FIRST_PING_MS = 2000;
const FIRST_PING_JITTER = 0.2;
const NEVER = Number.NEGATIVE_INFINITY;

export type PingDecision = 'skip' | 'ping' | 'stale';

export class Keepalive {
  /** Round trip of the last answered ping in milliseconds, or an estimate; 0 until there is one. */
  rttMs = 0;
  pingsOut = 0;
  dueMs: number;
  /** When the peer last sent messages, changes of interest or a PING. */
  heardMs: number = NEVER;
  private pingSentMs: number = NEVER;

  constructor(dueMs: number = Number.POSITIVE_INFINITY) {
    this.dueMs = dueMs;
  }

  /** The first ping; `fraction` in [0, 1) spreads those of many connections. */
  scheduleFirst(nowMs: number, intervalMs: number, fraction: number): void {
    const delay = Math.min(FIRST_PING_MS, intervalMs);
    this.dueMs = nowMs + delay * (1 + FIRST_PING_JITTER * fraction);
  }

  /** The due time has passed: what to do now. `heardMs` null: own traffic does not count. */
  decide(nowMs: number, intervalMs: number, pingsOutMax: number, heardMs: number | null): PingDecision {
    this.dueMs = nowMs + intervalMs;
    const wantsRtt = this.rttMs === 0 || nowMs - this.pingSentMs > RTT_AGE_MAX_MS;
    if (heardMs !== null && !wantsRtt && nowMs - heardMs < intervalMs) return 'skip';
    if (this.pingsOut + 1 > pingsOutMax) return 'stale';
    this.pingsOut++;
    this.pingSentMs = nowMs;
    return 'ping';
  }

  /** A PONG came, perhaps one that nobody asked for. */
  answered(nowMs: number): void {
    this.pingsOut = 0;
    if (this.pingSentMs !== NEVER) this.rttMs = Math.max(nowMs - this.pingSentMs, Number.MIN_VALUE);
  }

  /** A first estimate, from the start of the connection to its CONNECT. */
  estimate(rttMs: number): void {
    this.rttMs = Math.max(rttMs, Number.MIN_VALUE);
  }
}
