/** Letters and digits in the place of bytes, for names that nobody has to read. */

const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** One letter or digit for each byte. */
export function base62(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += LETTERS[byte % LETTERS.length];
  return text;
}
