/**
 * How long a message lives by its own wish: `Nats-TTL`, in whole seconds behind its time in the stream.
 *
 * Source: ADR-43.
 */

import { parseDuration } from '../../server/config/duration.ts';
import type { PublishHeaders } from './publish-headers.ts';

/** It asks for nothing. */
export const NO_TTL = 0;
/** It stays whatever its age is. */
export const NEVER = -1;

const SHORTEST_MS = 1000;

/** Seconds, NO_TTL, NEVER, or NaN when that is no TTL at all: a number of seconds or a duration from `1s` on. */
export function ttlSeconds({ ttl }: Pick<PublishHeaders, 'ttl'>): number {
  if (ttl === null) return NO_TTL;
  if (ttl.toLowerCase() === 'never') return NEVER;
  // As a duration a plain 0 needs no unit, and is too short.
  if (/^\d+$/.test(ttl) && ttl !== '0') return wrapped(ttl);
  const ms = milliseconds(ttl);
  return ms >= SHORTEST_MS ? Math.floor(ms / 1000) : Number.NaN;
}

/** The number as nats-server adds it up, in 64 bits. */
function wrapped(digits: string): number {
  const seconds = Number(BigInt.asIntN(64, BigInt(digits)));
  return seconds < 0 ? Number.NaN : seconds;
}

/** The duration in milliseconds, -1 when it is none. */
function milliseconds(text: string): number {
  try {
    return parseDuration(text);
  } catch {
    return -1;
  }
}
