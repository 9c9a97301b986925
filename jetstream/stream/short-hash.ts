/** nats-server's short hash: eight letters and digits out of a SHA-256, in names that other servers compare. */

import { createHash } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTH = 8;

/** `text`: a string of bytes. */
export function shortHash(text: string): string {
  const digest = createHash('sha256').update(text, 'latin1').digest();
  let hash = '';
  for (let at = 0; at < LENGTH; at++) hash += BASE62[(digest[at] as number) % BASE62.length];
  return hash;
}
