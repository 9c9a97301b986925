/** nats-server's short hash: eight letters and digits out of a SHA-256, in names that other servers compare. */

import { createHash } from 'node:crypto';
import { base62 } from '../../server/protocol/base62.ts';

const LENGTH = 8;

/** `text`: a string of bytes. */
export function shortHash(text: string): string {
  return base62(createHash('sha256').update(text, 'latin1').digest().subarray(0, LENGTH));
}
