/**
 * Passwords and tokens. Hashes of them are recognized and refused: nobody could log in with one yet.
 */

import type { Reading } from './reading.ts';
import type { ConfigNode } from './tree.ts';

/** Whether it is a bcrypt hash and not a password. */
export function isPasswordHash(text: string): boolean {
  return /^\$2[abxy]\$\d{2}\$/.test(text);
}

/** The text of a password or token; null, with an error, if it is no string. */
export function readSecret(node: ConfigNode, reading: Reading, name: string): string | null {
  const text = reading.string(node);
  if (text !== null && isPasswordHash(text)) reading.notSupported(node.place, `bcrypt ${name}`);
  return text;
}
