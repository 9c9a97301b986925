/**
 * Names a server has besides the one it was given: its public id, in the form of an nkey (`N…`), and the short hash by
 * which the log calls a node.
 *
 * Sources: nats-io/nkeys (base 32 of prefix, 32 bytes and a CRC-16); nats-server's hash of names (SHA-256, each byte
 * modulo 62).
 */

import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SERVER_PREFIX = 13 << 3;
const NODE_HASH_LENGTH = 8;

/** The id `N…` made from 32 bytes. */
export function serverId(bytes: Buffer): string {
  const raw = Buffer.alloc(35);
  raw[0] = SERVER_PREFIX;
  bytes.copy(raw, 1, 0, 32);
  raw.writeUInt16LE(crc16(raw.subarray(0, 33)), 33);
  return base32(raw);
}

/** The 8 characters by which the log and Raft call a server of this name. */
export function nodeHash(name: string): string {
  const digest = createHash('sha256').update(name).digest();
  let hash = '';
  for (let i = 0; i < NODE_HASH_LENGTH; i++) hash += BASE62[(digest[i] as number) % 62];
  return hash;
}

function base32(bytes: Buffer): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32[(held >>> bits) & 31];
    }
    held &= 0xff;
  }
  if (bits > 0) text += BASE32[(held << (5 - bits)) & 31];
  return text;
}

/** CRC-16/XMODEM. */
function crc16(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  }
  return crc & 0xffff;
}
