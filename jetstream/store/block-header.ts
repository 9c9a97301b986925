/**
 * The head of a block file:
 *
 *      0  8 bytes  magic and version
 *      8  u32      stream
 *     12  u32      block
 *     16  u48      first sequence
 *     22  u16      0
 *     24  u32      key; 0: not encrypted
 *     28  u32      CRC of bytes 0 to 27
 *     32           zeros
 */

import { Buffer } from 'node:buffer';
import { crc32 } from './crc32.ts';
import { get32, get48, put32, put48 } from './integers.ts';

export const BLOCK_HEADER_BYTES = 64;
const MAGIC = 'PETBLK01';
const CRC_AT = 28;

export interface BlockHeader {
  readonly stream: number;
  readonly block: number;
  readonly firstSequence: number;
}

export function encodeBlockHeader(header: BlockHeader): Buffer {
  const bytes = Buffer.alloc(BLOCK_HEADER_BYTES);
  bytes.write(MAGIC, 0, 'latin1');
  put32(bytes, 8, header.stream);
  put32(bytes, 12, header.block);
  put48(bytes, 16, header.firstSequence);
  put32(bytes, CRC_AT, crc32(bytes, 0, CRC_AT));
  return bytes;
}

/** The header in `bytes`, or `null` when there is no intact one. */
export function decodeBlockHeader(bytes: Buffer): BlockHeader | null {
  if (bytes.length < BLOCK_HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return null;
  if (get32(bytes, CRC_AT) !== crc32(bytes, 0, CRC_AT)) return null;
  return { stream: get32(bytes, 8), block: get32(bytes, 12), firstSequence: get48(bytes, 16) };
}
