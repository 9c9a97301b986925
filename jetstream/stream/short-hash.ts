/** nats-server's short hash: eight letters and digits out of a SHA-256, in names that other servers compare. */

import { sha256 } from '@noble/hashes/sha2.js';
import { base62 } from '../../server/protocol/base62.ts';

const LENGTH = 8;

/** `text`: a string of bytes. */
export function shortHash(text: string): string {
  return base62(sha256(Buffer.from(text, 'latin1')).subarray(0, LENGTH));
}
