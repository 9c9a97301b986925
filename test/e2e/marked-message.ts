/**
 * Messages that are found again among other bytes. Each has a number, which is its message id, and with which its
 * payload begins and ends, so that the whole of it is told from a part:
 *
 *     Nats-Msg-Id: 123            [000123:::000123]       17 bytes and more: filled up with dots
 *                                 [000123::000123]        16 bytes, the least
 */

const PAYLOAD = /\[(\d{6}):(\.*):\1\]/g;
const HEADER = /Nats-Msg-Id: (\d+)\r\n/g;
const EMPTY_BYTES = 16;

export function markedPayload(number: number, bytes: number): string {
  const digits = String(number).padStart(6, '0');
  return `[${digits}:${'.'.repeat(bytes - EMPTY_BYTES)}:${digits}]`;
}

/** The numbers of the messages whose payloads stand whole in these bytes. */
export function payloadNumbers(bytes: Buffer): readonly number[] {
  return Array.from(bytes.toString('latin1').matchAll(PAYLOAD), ([, digits]) => Number(digits));
}

/** The numbers of the messages whose ids stand in these bytes. */
export function idNumbers(bytes: Buffer): readonly number[] {
  return Array.from(bytes.toString('latin1').matchAll(HEADER), ([, digits]) => Number(digits));
}
