/**
 * The delay in a negative acknowledgement: `-NAK {"delay": nanoseconds}` or `-NAK 5s`. What can't be read counts as no
 * delay, as with nats-server.
 */

import { parseDuration } from '../../server/config/duration.ts';

const NS_PER_MS = 1e6;

/** Milliseconds; `null`: redeliver at once. */
export function nakDelayMs(argument: string): number | null {
  if (argument === '') return null;
  try {
    if (!argument.startsWith('{')) return parseDuration(argument);
    const { delay } = JSON.parse(argument) as { delay?: unknown };
    return typeof delay === 'number' ? delay / NS_PER_MS : 0;
  } catch {
    return null;
  }
}
