/**
 * Subjects that one client may publish to because it was asked there: the reply subjects of what it received, each for a
 * number of answers and for some time (`allow_responses`).
 *
 * Bound: `PERMITS_MAX` reply subjects; with one more the oldest is given up, since nobody waits for it any more.
 */

import type { ResponseRules } from './permissions.ts';

const PERMITS_MAX = 16_384;

interface Permit {
  readonly endMs: number;
  used: number;
}

export class ResponsePermits {
  private readonly rules: ResponseRules;
  private readonly now: () => number;
  /** In the order in which they end. */
  private readonly permits = new Map<string, Permit>();

  /** `now` tells the time in milliseconds. */
  constructor(rules: ResponseRules, now: () => number) {
    this.rules = rules;
    this.now = now;
  }

  /** The client was asked for an answer to `reply`. */
  permit(reply: string): void {
    const { expiresMs } = this.rules;
    const now = this.now();
    this.permits.delete(reply);
    this.permits.set(reply, { endMs: expiresMs < 0 ? Number.POSITIVE_INFINITY : now + expiresMs, used: 0 });
    for (const [oldest, { endMs }] of this.permits) {
      if (endMs > now && this.permits.size <= PERMITS_MAX) break;
      this.permits.delete(oldest);
    }
  }

  /** Whether the client may publish to `subject` as an answer; that uses up one of those it may give. */
  use(subject: string): boolean {
    const permit = this.permits.get(subject);
    if (permit === undefined) return false;
    permit.used++;
    const isSpent = this.rules.max >= 0 && permit.used >= this.rules.max;
    const isOver = permit.endMs < this.now();
    if (isSpent || isOver) this.permits.delete(subject);
    return !isOver;
  }
}
