/**
 * Payloads that are found again among other bytes, whole: each begins and ends with its own number.
 *
 *     [000123:::000123]        17 bytes and more: filled up with dots
 *     [000123::000123]         16 bytes, the least
 */

const MARK = /\[(\d{6}):(\.*):\1\]/g;
const EMPTY_BYTES = 16;

export const MARKED_BYTES_MIN: number = EMPTY_BYTES;

export function markedPayload(number: number, bytes: number): string {
  const digits = String(number).padStart(6, '0');
  return `[${digits}:${'.'.repeat(bytes - EMPTY_BYTES)}:${digits}]`;
}

/** The numbers of the marked payloads that stand whole in these bytes. */
export function markedNumbers(bytes: Buffer): readonly number[] {
  return Array.from(bytes.toString('latin1').matchAll(MARK), ([, digits]) => Number(digits));
}
