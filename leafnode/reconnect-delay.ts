/**
 * How long a remote waits before it dials again.
 *
 *     round of the URL list      1       2       3       4 and later
 *     at least                   I       2 I     4 I     4 I, but never more than 4 s or I      I: reconnect interval
 *     at most                    twice as long, at random, so that sites that lost one hub don't return all at once
 *
 * nats-server waits I to 2 I for ever. A hub that came back is found within 8 s here, and one that refuses this site is
 * asked less often. What the hub says when it closes may prescribe more (nats-server's times).
 */

const CEILING_MS = 4000;
const DOUBLINGS_MAX = 16;

export const DELAY_AFTER_LOOP_MS = 30_000;
export const DELAY_AFTER_VIOLATION_MS = 30_000;
const DELAY_AFTER_SAME_CLUSTER_MS = 30_000;
const DELAY_AFTER_OLD_VERSION_MS = 5000;

/** Milliseconds to wait; `failures` in a row so far, `fraction` in [0, 1). */
export function reconnectDelayMs(intervalMs: number, failures: number, urls: number, fraction: number): number {
  const rounds = Math.min(Math.floor(failures / Math.max(1, urls)), DOUBLINGS_MAX);
  const least = Math.min(intervalMs * 2 ** rounds, Math.max(intervalMs, CEILING_MS));
  return least * (1 + fraction);
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
