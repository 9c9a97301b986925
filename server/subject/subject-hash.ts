/**
 * The hash by which subjects, tokens and sids are found: FNV-1a, 32 bits, over bytes.
 *
 * A subject at rest is a string in which each char code is one byte; on the hot path it is a range of a buffer. Both
 * forms of the same bytes hash alike. The seed differs between servers, so that nobody can prepare subjects that
 * collide.
 *
 * FNV for its loop: one xor and one multiplication a byte, no table, no tail handling; subjects are short.
 * http://www.isthe.com/chongo/tech/comp/fnv/
 */

const PRIME = 0x01000193;

/** Hash of `buffer[start, end)`. */
export function hashBytes(buffer: Uint8Array, start: number, end: number, seed: number): number {
  let hash = seed | 0;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (buffer[i] as number), PRIME);
  return hash | 0;
}

/** Hash of a string whose char codes are bytes. */
export function hashText(text: string, seed: number): number {
  let hash = seed | 0;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME);
  return hash | 0;
}

/** Spreads the high bits over the low ones: FNV's low bits alone repeat on short keys. */
export function slotOf(hash: number, mask: number): number {
  return (hash ^ (hash >>> 15)) & mask;
}

/** Whether `text` is exactly the bytes `buffer[start, end)`. */
export function textEqualsBytes(text: string, buffer: Uint8Array, start: number, end: number): boolean {
  const length = end - start;
  if (text.length !== length) return false;
  for (let i = 0; i < length; i++) if (text.charCodeAt(i) !== buffer[start + i]) return false;
  return true;
}
