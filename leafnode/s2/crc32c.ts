/**
 * CRC-32C (Castagnoli) of bytes that may come in pieces, and the masked form that frames carry.
 *
 * Eight tables of 256 entries take eight bytes a step; they are made when they are first needed, since most servers
 * never compress. The runtime computes only the other CRC-32.
 */

const POLYNOMIAL = 0x82f63b78;
const MASK_OFFSET = 0xa282ead8;
const STRIDE = 8;
const ENTRIES = 256;

let tables: Int32Array | null = null;

/** The checksum of `bytes[start, end)` behind bytes whose checksum is `before` (0: behind none). */
export function crc32c(bytes: Uint8Array, start: number, end: number, before: number): number {
  const t = (tables ??= makeTables());
  let crc = ~before;
  let at = start;
  for (const last = end - STRIDE; at <= last; at += STRIDE) {
    crc ^=
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24);
    crc =
      (t[1792 + (crc & 0xff)] as number) ^
      (t[1536 + ((crc >>> 8) & 0xff)] as number) ^
      (t[1280 + ((crc >>> 16) & 0xff)] as number) ^
      (t[1024 + (crc >>> 24)] as number) ^
      (t[768 + (bytes[at + 4] as number)] as number) ^
      (t[512 + (bytes[at + 5] as number)] as number) ^
      (t[256 + (bytes[at + 6] as number)] as number) ^
      (t[bytes[at + 7] as number] as number);
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ (t[(crc ^ (bytes[at] as number)) & 0xff] as number);
  return ~crc;
}

/** As a frame carries it: rotated and shifted, so that a checksum over frames is of use too. 32 bits, signed. */
export function masked(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + MASK_OFFSET) | 0;
}

function makeTables(): Int32Array {
  const made = new Int32Array(STRIDE * ENTRIES);
  for (let byte = 0; byte < ENTRIES; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    made[byte] = crc;
  }
  for (let at = ENTRIES; at < made.length; at++) {
    const crc = made[at - ENTRIES] as number;
    made[at] = (crc >>> 8) ^ (made[crc & 0xff] as number);
  }
  return made;
}
