/** Names of single events, by which receivers tell a repeated one from another: 22 letters and digits. */

import { base62 } from './base62.ts';

const LENGTH = 22;

/** A name that no other event has. */
export function eventId(random: { bytes(count: number): Uint8Array }): string {
  return base62(random.bytes(LENGTH));
}
