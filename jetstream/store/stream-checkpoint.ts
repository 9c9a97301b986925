/**
 * What a stream's store knows beyond its closed blocks' indexes, as of one log position: counts, the list of blocks, what
 * is removed from each, the open block's index, and what the stream itself adds (its dedup window).
 *
 *      0  8 bytes  magic and version
 *      8  u32      CRC of everything behind
 *     12  u32      bytes of the head
 *     16           head: JSON, with the length of each section in order
 *                  sections
 *
 * Two files take turns, `state.0` and `state.1`: while one is written the other stands.
 */

import { Buffer } from 'node:buffer';
import { crc32 } from './crc32.ts';
import { get32, put32 } from './integers.ts';
import type { Time } from './store.ts';

const MAGIC = 'PETSTA01';
const HEADER_BYTES = 16;

export interface BlockSummary {
  readonly number: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
  /** Offset behind the last record that counts. */
  readonly end: number;
  /** More records may follow; its index is in the checkpoint and not in a file of its own. */
  readonly isOpen: boolean;
}

export interface CheckpointHead {
  /** Frames below this position are reflected. */
  readonly lsn: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly lastTime: Time | null;
  readonly lost: number;
  readonly nextBlockNumber: number;
  readonly blocks: readonly BlockSummary[];
}

export interface StreamCheckpoint {
  readonly head: CheckpointHead;
  /** Removed bits, one buffer a block of `head.blocks`. */
  readonly removed: readonly Buffer[];
  /** Index of the open block as in a block index file; empty when there is none. */
  readonly openIndex: Buffer;
  /** What the stream added. */
  readonly extra: Buffer;
}

export function encodeCheckpoint(checkpoint: StreamCheckpoint): Buffer {
  const sections = [...checkpoint.removed, checkpoint.openIndex, checkpoint.extra];
  const head = Buffer.from(JSON.stringify({ ...checkpoint.head, sections: sections.map((each) => each.length) }));
  const prefix = Buffer.alloc(HEADER_BYTES);
  prefix.write(MAGIC, 0, 'latin1');
  put32(prefix, 12, head.length);
  const out = Buffer.concat([prefix, head, ...sections]);
  put32(out, 8, crc32(out, 12, out.length));
  return out;
}

/** The checkpoint in these bytes, or `null` when there is no intact one. */
export function decodeCheckpoint(bytes: Buffer): StreamCheckpoint | null {
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return null;
  if (get32(bytes, 8) !== crc32(bytes, 12, bytes.length)) return null;
  const headEnd = HEADER_BYTES + get32(bytes, 12);
  const parsed = JSON.parse(bytes.toString('utf8', HEADER_BYTES, headEnd)) as CheckpointHead & { sections: number[] };
  const { sections, ...head } = parsed;
  const parts: Buffer[] = [];
  let at = headEnd;
  for (const length of sections) {
    parts.push(bytes.subarray(at, at + length));
    at += length;
  }
  const extra = parts.pop() as Buffer;
  const openIndex = parts.pop() as Buffer;
  return { head, removed: parts, openIndex, extra };
}
