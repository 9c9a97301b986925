/**
 * How long a remote waits before it dials again.
 *
 *     round of the URL list      1 to 3     4        5 and later
 *     at most                    I          2 I      4 I, but never more than 2 s or I       I: reconnect interval
 *     at least                   half of it, at random, so that sites that lost one hub don't return all at once
 *
 * nats-server waits I after a link that stood, and I to 2 I after each failed dial, for ever. A hub that came back is
 * found as soon here, or sooner; one that is away is asked as often, or less often. What the hub says when it closes may
 * prescribe more (nats-server's times).
 */

const CEILING_MS = 2000;
/** Rounds that wait no longer than the first. */
const QUICK_ROUNDS = 2;
const DOUBLINGS_MAX = 16;

export const DELAY_AFTER_LOOP_MS = 30_000;
export const DELAY_AFTER_VIOLATION_MS = 30_000;
const DELAY_AFTER_SAME_CLUSTER_MS = 30_000;
const DELAY_AFTER_OLD_VERSION_MS = 5000;

/** Milliseconds to wait; `failures` in a row so far, `fraction` in [0, 1). */
export function reconnectDelayMs(intervalMs: number, failures: number, urls: number, fraction: number): number {
  const rounds = Math.floor(failures / Math.max(1, urls));
  const doublings = Math.min(Math.max(0, rounds - QUICK_ROUNDS), DOUBLINGS_MAX);
  const most = Math.min(intervalMs * 2 ** doublings, Math.max(intervalMs, CEILING_MS));
  return (most * (1 + fraction)) / 2;
}

export interface PeerErrorConsequence {
  readonly delayMs: number;
  /** What the log says about it; empty: nothing more than the error. */
  readonly log: string;
  /** The link is closed from this side too. */
  readonly closes: boolean;
}

/** What follows from an error that the hub told; `null`: nothing. */
export function consequenceOf(error: string, account: string): PeerErrorConsequence | null {
  if (error.includes('remote leafnode has same cluster name')) {
    return dropped('with same cluster name error', DELAY_AFTER_SAME_CLUSTER_MS);
  }
  if (error.includes('connection rejected since minimum version required is')) {
    return dropped('due to minimum version requirement', DELAY_AFTER_OLD_VERSION_MS);
  }
  if (error.includes('Permissions Violation')) return { delayMs: DELAY_AFTER_VIOLATION_MS, log: '', closes: false };
  if (error.includes('Loop detected')) {
    return { delayMs: DELAY_AFTER_LOOP_MS, log: loopText(account), closes: true };
  }
  return null;
}

export function loopText(account: string): string {
  const seconds = DELAY_AFTER_LOOP_MS / 1000;
  return `Loop detected for leafnode account=${JSON.stringify(account)}. Delaying attempt to reconnect for ${seconds}s`;
}

function dropped(why: string, delayMs: number): PeerErrorConsequence {
  const log = `Leafnode connection dropped ${why}. Delaying attempt to reconnect for ${delayMs / 1000}s`;
  return { delayMs, log, closes: false };
}
