/** Names of single events, by which receivers tell a repeated one from another: 22 letters and digits. */

import type { Buffer } from 'node:buffer';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** How many unpredictable bytes a name is made of. */
export const EVENT_ID_BYTES = 22;

export function eventId(bytes: Buffer): string {
  let id = '';
  for (const byte of bytes) id += BASE62[byte % BASE62.length];
  return id;
}
