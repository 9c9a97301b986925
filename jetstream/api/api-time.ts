/** Times as the API shows them. */

import type { Clock } from '../../server/io/io.ts';
import { formatTime } from '../../server/protocol/rfc3339.ts';
import type { Time } from '../store/store.ts';

export const ZERO_TIME_TEXT = '0001-01-01T00:00:00Z';

export function encodeTime(time: Time): string {
  return formatTime(time);
}

/** The present wall time. */
export function nowText(clock: Clock): string {
  return millisecondsText(clock.wallMs());
}

/** Wall milliseconds with a fraction. */
export function millisecondsText(wallMs: number): string {
  const seconds = Math.floor(wallMs / 1000);
  return formatTime({ seconds, nanoseconds: Math.floor((wallMs - seconds * 1000) * 1e6) });
}
