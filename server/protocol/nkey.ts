/**
 * nkeys as text: base 32 of a prefix, 32 bytes and a CRC-16.
 *
 *     │ prefix │ 32 bytes: an Ed25519 public key │ CRC-16/XMODEM, low byte first │      35 bytes, 56 characters
 *
 * A seed has two prefixes, the second one of the key that comes from it, in five and eight bits (`S` and its letter):
 *
 *     │ 10010 kkk │ kkkkk 000 │ 32 bytes │ CRC-16 │                                          36 bytes, 58 characters
 *
 * Source: nats-io/nkeys.
 */

import { Buffer } from 'node:buffer';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const RAW_BYTES = 35;
const TEXT_LENGTH = 56;
const SEED_LENGTH = 58;
const SEED_PREFIX = 18 << 3;

/** What a key is for, by its first letter. */
const PREFIXES: Readonly<Record<NkeyKind, number>> = { user: 20 << 3, account: 0, server: 13 << 3 };

export type NkeyKind = 'user' | 'account' | 'server';

export function encodeNkey(kind: NkeyKind, key: Buffer): string {
  const raw = Buffer.alloc(RAW_BYTES);
  raw[0] = PREFIXES[kind];
  key.copy(raw, 1, 0, 32);
  raw.writeUInt16LE(crc16(raw.subarray(0, 33)), 33);
  return base32(raw);
}

/** The 32 bytes of a public key of this kind; `null` if the text is none. */
export function decodeNkey(kind: NkeyKind, text: string): Buffer | null {
  if (text.length !== TEXT_LENGTH) return null;
  const raw = decodeChecked(text);
  return raw !== null && raw[0] === PREFIXES[kind] ? raw.subarray(1, 33) : null;
}

export interface NkeySeed {
  /** Only a user's is of use for a login. */
  readonly isUser: boolean;
  /** 32 bytes, from which both halves of the key come. */
  readonly bytes: Buffer;
}

/** What a seed holds; `null` if the text is none. */
export function decodeSeed(text: string): NkeySeed | null {
  const raw = text.length === SEED_LENGTH ? decodeChecked(text) : null;
  if (raw === null) return null;
  const [first, second] = [raw[0] as number, raw[1] as number];
  if ((first & 0xf8) !== SEED_PREFIX) return null;
  const kind = ((first & 7) << 5) | ((second & 0xf8) >>> 3);
  return { isUser: kind === PREFIXES.user, bytes: raw.subarray(2, 34) };
}

/** The bytes with their checksum, which is right. */
function decodeChecked(text: string): Buffer | null {
  const raw = Buffer.alloc(Math.floor((text.length * 5) / 8));
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const letter of text) {
    const value = BASE32.indexOf(letter);
    if (value < 0) return null;
    held = ((held << 5) | value) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    raw[at++] = (held >>> bits) & 0xff;
  }
  const end = raw.length - 2;
  return raw.readUInt16LE(end) === crc16(raw.subarray(0, end)) ? raw : null;
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

function crc16(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  }
  return crc & 0xffff;
}
