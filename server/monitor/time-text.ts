/**
 * Moments and spans as monitoring shows them.
 *
 *     2026-11-29T22:49:31.119190Z      a moment; to the microsecond, which is as exact as the clock is
 *     1y2d3h4m5s, 1m2s, 0s             an age; the larger units only where there are any
 *     828µs, 1.632351ms, 0s            a round trip; to the microsecond below a millisecond
 */

import { formatDuration } from '../config/duration.ts';
import { formatTime } from '../protocol/rfc3339.ts';

const UNITS: readonly (readonly [name: string, seconds: number])[] = [
  ['y', 365 * 86_400],
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
];

/** RFC 3339 in UTC. */
export function momentText(wallMs: number): string {
  const micros = Math.round(wallMs * 1000);
  const seconds = Math.floor(micros / 1_000_000);
  return formatTime({ seconds, nanoseconds: (micros - seconds * 1_000_000) * 1000 });
}

/** A negative age, as of a clock that was set back, counts as none. */
export function ageText(ms: number): string {
  let left = Math.max(0, Math.floor(ms / 1000));
  let text = '';
  for (const [name, seconds] of UNITS) {
    const count = Math.floor(left / seconds);
    left -= count * seconds;
    if (count > 0 || text !== '' || name === 's') text += `${count}${name}`;
  }
  return text;
}

export function roundTripText(ms: number): string {
  const isShort = ms > 0.001 && ms < 1;
  return formatDuration(isShort ? Math.floor(ms * 1000) / 1000 : ms);
}
