/**
 * CRC-32C (Castagnoli) of bytes that may come in pieces, and the masked form that frames carry. The runtime computes only
 * the other CRC-32.
 *
 * Four checksums run side by side, each over every fourth word, so that none waits for the others; the last four words
 * bring them together:
 *
 *     word      0   1   2   3 │ 4   5   6   7 │ …             a step is 16 bytes
 *     lane      a   b   c   d │ a   b   c   d │ …
 *
 * Table k says what a byte does to a checksum k bytes further on: a lane moves on by 16 bytes with the tables 12 to 15,
 * and by 4 with 0 to 3. They are made when they are first needed, since most servers never compress.
 *
 * Source: Kadatch and Jenkins, "Everything we know about CRC but afraid to forget" (2010).
 */

const POLYNOMIAL = 0x82f63b78;
const MASK_OFFSET = 0xa282ead8;
const ENTRIES = 256;
const WORD_BYTES = 4;
const LANES = 4;
/** Below, the bytes are taken one by one. */
const LANES_BYTES_MIN = 64;

/** One behind the other: table k begins at k times ENTRIES. */
let tables: Int32Array | null = null;

/** The checksum of `bytes[start, end)` behind bytes whose checksum is `before` (0: behind none). */
export function crc32c(bytes: Uint8Array, start: number, end: number, before: number): number {
  const t = (tables ??= makeTables());
  if (end - start < LANES_BYTES_MIN) return ~ofBytes(t, bytes, start, end, ~before);
  const wordsStart = start + (-(bytes.byteOffset + start) & (WORD_BYTES - 1));
  const count = Math.floor((end - wordsStart) / (WORD_BYTES * LANES)) * LANES;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + wordsStart, count);
  const crc = ofWords(t, words, ofBytes(t, bytes, start, wordsStart, ~before));
  return ~ofBytes(t, bytes, wordsStart + count * WORD_BYTES, end, crc);
}

function ofBytes(t: Int32Array, bytes: Uint8Array, start: number, end: number, before: number): number {
  let crc = before;
  for (let at = start; at < end; at++) crc = (crc >>> 8) ^ (t[(crc ^ (bytes[at] as number)) & 0xff] as number);
  return crc;
}

/** Of a multiple of four words, and at least four. Wherever this runs the lowest byte of a word comes first. */
function ofWords(t: Int32Array, words: Int32Array, before: number): number {
  const last = words.length - LANES;
  let a = before;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let at = 0; at < last; at += LANES) {
    a = by16(t, a ^ (words[at] as number));
    b = by16(t, b ^ (words[at + 1] as number));
    c = by16(t, c ^ (words[at + 2] as number));
    d = by16(t, d ^ (words[at + 3] as number));
  }
  const crcA = by4(t, a ^ (words[last] as number));
  const crcB = by4(t, crcA ^ b ^ (words[last + 1] as number));
  const crcC = by4(t, crcB ^ c ^ (words[last + 2] as number));
  return by4(t, crcC ^ d ^ (words[last + 3] as number));
}

/** Takes a word into its lane, up to the lane's next word. */
function by16(t: Int32Array, word: number): number {
  return (
    (t[3840 + (word & 0xff)] as number) ^
    (t[3584 + ((word >>> 8) & 0xff)] as number) ^
    (t[3328 + ((word >>> 16) & 0xff)] as number) ^
    (t[3072 + (word >>> 24)] as number)
  );
}

/** Takes a word into the only checksum there is. */
function by4(t: Int32Array, word: number): number {
  return (
    (t[768 + (word & 0xff)] as number) ^
    (t[512 + ((word >>> 8) & 0xff)] as number) ^
    (t[256 + ((word >>> 16) & 0xff)] as number) ^
    (t[word >>> 24] as number)
  );
}

/** As a frame carries it: rotated and shifted, so that a checksum over frames is of use too. 32 bits, signed. */
export function masked(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + MASK_OFFSET) | 0;
}

function makeTables(): Int32Array {
  const made = new Int32Array(WORD_BYTES * LANES * ENTRIES);
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
