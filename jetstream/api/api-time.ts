/** Times as the API shows them. */

import { formatTime } from '../../server/protocol/rfc3339.ts';
import type { Time } from '../store/store.ts';

export { millisecondsText, nowText } from '../stream/wall-time.ts';

export const ZERO_TIME_TEXT = '0001-01-01T00:00:00Z';

export function encodeTime(time: Time): string {
  return formatTime(time);
}
