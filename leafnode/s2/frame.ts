/**
 * The frames of an S2 stream, which are Snappy's with larger blocks:
 *
 *     │ type │ length, 3 bytes, low first │ body │
 *
 *     0xff        stream identifier: `S2sTwO`, or `sNaPpY` for blocks of at most 64 KiB; first, and any time again
 *     0x00        masked CRC-32C of the content, 4 bytes low first │ block (block-decoder.ts)
 *     0x01        masked CRC-32C of the content, 4 bytes low first │ content as it is
 *     0x80..0xfe  to be skipped: an index (0x99), padding (0xfe), whatever others think of
 *     0x02..0x7f  reserved: an error
 *
 * Source: github.com/google/snappy, framing_format.txt; github.com/klauspost/compress, s2/README.md.
 */

export const CHUNK_HEADER_BYTES = 4;
export const CHECKSUM_BYTES = 4;

export const COMPRESSED = 0x00;
export const UNCOMPRESSED = 0x01;
export const IDENTIFIER = 0xff;
/** Below are reserved types, from here on those to be skipped. */
export const SKIPPABLE_FROM = 0x80;

export const S2_NAME = 'S2sTwO';
export const SNAPPY_NAME = 'sNaPpY';
export const NAME_BYTES = 6;

/** Content of one chunk at most. */
export const BLOCK_BYTES_MAX = 4_194_304;
export const SNAPPY_BLOCK_BYTES_MAX = 65_536;

/** Bytes that a block's length and a literal's beginning add to a content that does not compress, at most. */
const BLOCK_OVERHEAD_BYTES = 10;
/** Body of a chunk of content at most. */
export const CHUNK_BYTES_MAX: number = CHECKSUM_BYTES + BLOCK_BYTES_MAX + BLOCK_OVERHEAD_BYTES;
