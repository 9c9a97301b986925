/**
 * SHA-256 of a few bytes, for what a start has to name or to digest: node:crypto would do it, and takes longer to load
 * than everything else that a start does.
 *
 *     bytes 0x80 0… bits     in blocks of 64 bytes
 *       └─ a block: 16 words ─► 64 of the schedule ─► 64 rounds ─► added to the 8 words of state
 *
 *     a round makes two words of eight; instead of moving the others on it leaves them where they are:
 *
 *         abcd   d c b a ─► a'            efgh   h g f e ─► e'
 *                  d c b a ─► a'                   h g f e ─► e'
 *
 * Before it is compiled it takes a microsecond a byte or less, then some 20 ns, so it is for names and small files; it
 * is not for secrets. Whoever may have more than some ten thousand bytes is better served by node:crypto.
 *
 * Source: FIPS 180-4, with its names.
 */

import { Buffer } from 'node:buffer';

const BLOCK_BYTES = 64;
const BLOCK_WORDS = 16;
const STATE_WORDS = 8;
const DIGEST_BYTES = 32;
/** Behind the bytes: the mark of their end, and how many bits they are. */
const LENGTH_BYTES = 8;
const END_MARK = 0x80;

// oxfmt-ignore
const K: Int32Array = Int32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
);

const INITIAL: readonly number[] = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

const ROUNDS = K.length;
/** Of the block that is being worked in: its schedule, and the words a to d and e to h, the oldest first. */
const w: Int32Array = new Int32Array(ROUNDS);
const abcd: Int32Array = new Int32Array(ROUNDS + 4);
const efgh: Int32Array = new Int32Array(ROUNDS + 4);

/** The 32 bytes of the digest. */
export function sha256(bytes: Uint8Array): Buffer {
  const blocks = padded(bytes);
  const state = Int32Array.from(INITIAL);
  for (let at = 0; at < blocks.length; at += BLOCK_BYTES) {
    schedule(blocks, at);
    compress(state);
  }
  const digest = Buffer.allocUnsafe(DIGEST_BYTES);
  for (let i = 0; i < STATE_WORDS; i++) digest.writeInt32BE(state[i] as number, 4 * i);
  return digest;
}

function padded(bytes: Uint8Array): Buffer {
  const blockCount = Math.ceil((bytes.length + 1 + LENGTH_BYTES) / BLOCK_BYTES);
  const blocks = Buffer.alloc(blockCount * BLOCK_BYTES);
  blocks.set(bytes);
  blocks[bytes.length] = END_MARK;
  blocks.writeBigUInt64BE(BigInt(bytes.length) * 8n, blocks.length - LENGTH_BYTES);
  return blocks;
}

/** The words of the block at `at`, and those that follow from them. */
function schedule(blocks: Buffer, at: number): void {
  for (let i = 0; i < BLOCK_WORDS; i++) w[i] = blocks.readInt32BE(at + 4 * i);
  for (let i = BLOCK_WORDS; i < ROUNDS; i++) {
    const early = w[i - 15] as number;
    const late = w[i - 2] as number;
    const sigma0 = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
    const sigma1 = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
    w[i] = (w[i - 16] as number) + sigma0 + (w[i - 7] as number) + sigma1;
  }
}

/** Works the block of the schedule into the state. */
function compress(state: Int32Array): void {
  for (let i = 0; i < 4; i++) {
    abcd[3 - i] = state[i] as number;
    efgh[3 - i] = state[4 + i] as number;
  }
  for (let i = 0; i < ROUNDS; i++) {
    const a = abcd[i + 3] as number;
    const b = abcd[i + 2] as number;
    const c = abcd[i + 1] as number;
    const e = efgh[i + 3] as number;
    const choice = (e & (efgh[i + 2] as number)) ^ (~e & (efgh[i + 1] as number));
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const sum0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
    const sum1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const t1 = (efgh[i] as number) + sum1 + choice + (K[i] as number) + (w[i] as number);
    efgh[i + 4] = (abcd[i] as number) + t1;
    abcd[i + 4] = t1 + sum0 + majority;
  }
  for (let i = 0; i < 4; i++) {
    state[i] = (state[i] as number) + (abcd[ROUNDS + 3 - i] as number);
    state[4 + i] = (state[4 + i] as number) + (efgh[ROUNDS + 3 - i] as number);
  }
}

/** A word turned to the right by so many bits. */
function turned(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
