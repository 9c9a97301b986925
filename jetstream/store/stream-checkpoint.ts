/**
 * What a stream's store knows beyond the index files of its closed blocks, as of one log position: counts, limits, the
 * list of blocks, what is removed from each, the indexes that have no file yet, and what the stream itself adds (its dedup
 * window).
 *
 *      0  8 bytes  magic and version
 *      8  u32      CRC of everything behind
 *     12  u32      bytes of the head
 *     16           head: JSON, with the length of each section in order
 *                  sections
 *
 * Two files take turns, `state.0` and `state.1`: while one is written, as `state.0.new`, the other stands.
 */

import { Buffer } from 'node:buffer';
import { type Captured, PIECE_BYTES } from './captured.ts';
import { crc32 } from './crc32.ts';
import { get32, put32 } from './integers.ts';
import type { PieceFile } from './piece-writer.ts';
import type { StoreLimits, Time } from './store.ts';

const MAGIC = 'PETSTA01';
const HEADER_BYTES = 16;

export interface BlockSummary {
  readonly number: number;
  readonly generation: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
  /** Offset behind the last record that counts. */
  readonly end: number;
  /** More records may follow. */
  readonly isOpen: boolean;
  /** Visible messages in it. */
  readonly liveMessages: number;
  readonly liveBytes: number;
}

export interface CheckpointHead {
  /** Frames below this position are reflected. */
  readonly lsn: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly lastTime: Time | null;
  readonly lost: number;
  /** The limits that hold from here on; `null`: unknown. */
  readonly limits: StoreLimits | null;
  readonly nextBlockNumber: number;
  readonly blocks: readonly BlockSummary[];
}

export interface StreamCheckpoint {
  readonly head: CheckpointHead;
  /** Removed bits, one buffer a block of `head.blocks`. */
  readonly removed: readonly Buffer[];
  /** Index as in a block index file, one buffer a block; empty when it stands in a file of its own. */
  readonly indexes: readonly Buffer[];
  /** What the stream added. */
  readonly extra: Buffer;
}

/** What a checkpoint is written from: `extra` is encoded while it is. */
export interface CheckpointParts {
  readonly head: CheckpointHead;
  readonly removed: readonly Buffer[];
  readonly indexes: readonly Buffer[];
  readonly extra: Captured;
}

export function checkpointFile({ head, removed, indexes, extra }: CheckpointParts): PieceFile {
  const sections = [...removed, ...indexes].map((each) => each.length);
  const json = Buffer.from(JSON.stringify({ ...head, sections: [...sections, extra.bytes] }));
  const bytes = Buffer.alloc(HEADER_BYTES + json.length);
  bytes.write(MAGIC, 0, 'latin1');
  put32(bytes, 12, json.length);
  json.copy(bytes, HEADER_BYTES);
  return {
    head: bytes,
    checksumAt: 8,
    headChecksum: crc32(bytes, 12, bytes.length),
    pieces: piecesOf([...removed, ...indexes], extra),
  };
}

/** Small sections leave together. */
function* piecesOf(sections: readonly Buffer[], extra: Captured): Generator<Buffer> {
  let together: Buffer[] = [];
  let bytes = 0;
  for (const section of sections) {
    together.push(section);
    bytes += section.length;
    if (bytes < PIECE_BYTES) continue;
    yield together.length === 1 ? section : Buffer.concat(together, bytes);
    together = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(together, bytes);
  yield* extra.pieces();
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
  const count = head.blocks.length;
  return {
    head,
    removed: parts.slice(0, count),
    indexes: parts.slice(count, 2 * count),
    extra: parts[2 * count] as Buffer,
  };
}
