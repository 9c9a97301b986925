/**
 * Subjects, queue groups and sids are strings of bytes inside the server, each char code one byte; outside they are
 * UTF-8 text.
 */

import { Buffer } from 'node:buffer';

/** The text that the bytes spell; what is no UTF-8 becomes U+FFFD. */
export function bytesAsText(bytes: string): string {
  return /^[\0-\u007f]*$/.test(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString();
}

/** The bytes of a text. */
export function textAsBytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}
