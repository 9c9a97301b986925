/**
 * Names a server has besides the one it was given: its public id, in the form of an nkey (`N…`), and the short hash by
 * which the log calls a node.
 *
 * Source: nats-server's hash of names (SHA-256, each byte modulo 62).
 */

import { Buffer } from 'node:buffer';
import { sha256 } from '@noble/hashes/sha2.js';
import { encodeNkey } from '../protocol/nkey.ts';
import { base62 } from '../protocol/base62.ts';

const NODE_HASH_LENGTH = 8;

/** The id `N…` made from 32 bytes. */
export function serverId(bytes: Buffer): string {
  return encodeNkey('server', bytes);
}

/** The 8 characters by which the log and Raft call a server of this name. */
export function nodeHash(name: string): string {
  return base62(sha256(Buffer.from(name)).subarray(0, NODE_HASH_LENGTH));
}
