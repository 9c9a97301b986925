/**
 * Durations in whole nanoseconds, as Go counts them and the JetStream API carries them. One `number` is exact up to
 * 2^53 ns, which is only 104 days; beyond that, and only there, it is a `bigint`. The two compare with each other
 * (`<`, `===` after `nanoseconds()`), but never add.
 */

export type Nanoseconds = number | bigint;

const NS_PER_MS = 1_000_000;
export const NS_PER_SECOND = 1_000_000_000;

/** The canonical form: a `number` wherever that is exact, so that `===` tells whether two durations are the same. */
export function nanoseconds(value: bigint): Nanoseconds {
  const rounded = Number(value);
  return Number.isSafeInteger(rounded) ? rounded : value;
}

/** Milliseconds with a fraction, exact to the nanosecond up to 104 days, to a fraction of a microsecond beyond. */
export function millisecondsOf(ns: Nanoseconds): number {
  return Number(ns) / NS_PER_MS;
}
