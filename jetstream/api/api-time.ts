/** Times as the API shows them. */

import type { Clock } from '../../server/io/io.ts';
import { formatTime } from '../../server/protocol/rfc3339.ts';
import { millisecondsText } from '../../server/protocol/wall-time.ts';
import type { Time } from '../store/store.ts';

export { millisecondsText } from '../../server/protocol/wall-time.ts';

export const ZERO_TIME_TEXT = '0001-01-01T00:00:00Z';

export function encodeTime(time: Time): string {
  return formatTime(time);
}

/** The present wall time. */
export function nowText(clock: Clock): string {
  return millisecondsText(clock.wallMs());
}
