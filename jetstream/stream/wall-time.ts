/** The present wall time as JSON of JetStream shows it. */

import type { Clock } from '../../server/io/io.ts';
import { formatTime } from '../../server/protocol/rfc3339.ts';

/** The present wall time. */
export function nowText(clock: Clock): string {
  return millisecondsText(clock.wallMs());
}

/** Wall milliseconds with a fraction. */
export function millisecondsText(wallMs: number): string {
  const seconds = Math.floor(wallMs / 1000);
  return formatTime({ seconds, nanoseconds: Math.floor((wallMs - seconds * 1000) * 1e6) });
}
