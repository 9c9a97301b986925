/** A moment of the wall clock as JSON shows it. */

import { formatTime } from './rfc3339.ts';

/** Wall milliseconds with a fraction, in RFC 3339. */
export function millisecondsText(wallMs: number): string {
  const seconds = Math.floor(wallMs / 1000);
  return formatTime({ seconds, nanoseconds: Math.floor((wallMs - seconds * 1000) * 1e6) });
}
