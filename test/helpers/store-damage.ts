/**
 * Flips bits in the files of a store that is not open, and says what each may cost: at most what stands there and nowhere
 * else.
 */
import { databaseIn } from '../../jetstream/store/catalog.ts';
import { crc32 } from '../../jetstream/store/crc32.ts';
import {
  FRAME_HEADER_BYTES,
  FrameKind,
  frameAsset,
  frameAt,
  frameBatchLsn,
  frameKind,
} from '../../jetstream/store/frame.ts';
import { get32, get48 } from '../../jetstream/store/integers.ts';
import { recordAt } from '../../jetstream/store/record.ts';
import { decodeHeader, SEGMENT_HEADER_BYTES, type SegmentHeader } from '../../jetstream/store/segment.ts';
import { decodeCheckpoint } from '../../jetstream/store/stream-checkpoint.ts';
import { CHECKPOINT_SLOTS, checkpointPath } from '../../jetstream/store/stream-recovery.ts';
import { PLACE_HEAD_BYTES } from '../../jetstream/store/stream-replay.ts';
import type { Disk } from '../../server/io/io.ts';
import type { SimulatedDisk } from '../../server/io/simulated/simulated-disk.ts';
import type { SeededRandom } from '../../server/io/simulated/seeded-random.ts';
import { FOLDER, type StoreSite } from './store-site.ts';

/** What may be lost of one asset. */
export interface Cost {
  readonly asset: number;
  /** The sequence of a message that may be lost; 0: something else may be lost. */
  readonly sequence: number;
}

interface Frame {
  /** Where in the file it stands. */
  readonly start: number;
  readonly end: number;
  readonly batchLsn: number;
  readonly kind: number;
  readonly cost: Cost;
}

interface LogFile {
  readonly path: string;
  readonly header: SegmentHeader;
  readonly bytes: Buffer;
}

/** Flips a bit of the file, at the place or in the middle. */
export function damageFile({ machine }: StoreSite, path: string, at?: number): void {
  const view = machine.start();
  machine.disk.flipBit(path, at ?? view.io.disk.readFileNow(path).length >> 1, 2);
  view.kill();
}

/** Damages every checkpoint of the stream that has this directory. */
export function damageCheckpoints(site: StoreSite, directory: string): void {
  for (let slot = 0; slot < CHECKPOINT_SLOTS; slot++) damageFile(site, checkpointPath(directory, slot));
}

/** Flips one bit somewhere; `null` where that may cost more than can be told, and nothing is flipped. */
export function flipSomewhere(disk: SimulatedDisk, view: Disk, random: SeededRandom): Cost[] | null {
  const paths = filesBelow(view, `${FOLDER}/petiole`);
  if (paths.length === 0) return null;
  const path = random.pick(paths);
  const bytes = view.readFileNow(path);
  if (bytes.length === 0) return null;
  const position = random.below(bytes.length);
  // Without any catalog the start is refused.
  const isOther = (each: string): boolean => each !== path && each.endsWith('.db') && !isDamaged(view, each);
  if (path.endsWith('.db') && !paths.some(isOther)) return null;
  // A consumer has nothing but its two checkpoints and what the log has beyond them.
  if (isOnlyState(view, path)) return null;
  const costs = path.endsWith('.seg') ? costInLog(view, path, position) : costElsewhere(view, path, bytes, position);
  if (costs !== null) disk.flipBit(path, position, random.below(8));
  return costs;
}

/** Flips one bit in a block of one of these streams that no longer grows; the message that may cost, or `null`. */
export function flipInClosedBlock(
  disk: SimulatedDisk,
  view: Disk,
  random: SeededRandom,
  isWanted: (asset: number) => boolean,
): Cost | null {
  const blocks = filesBelow(view, `${FOLDER}/petiole`).filter((path) => isWanted(blockAsset(path)));
  const closed = blocks.filter((path) => view.statusNow(path.replace(/blk$/, 'idx')) !== null);
  if (closed.length === 0) return null;
  const path = random.pick(closed);
  const bytes = view.readFileNow(path);
  if (bytes.length === 0) return null;
  const position = random.below(bytes.length);
  const [cost = null] = costElsewhere(view, path, bytes, position);
  if (cost !== null) disk.flipBit(path, position, random.below(8));
  return cost;
}

/** Without any checkpoint of a stream its blocks are read, and what was removed from them may come back. */
function vague(asset: number): Cost {
  return { asset, sequence: 0 };
}

function hasCheckpoint(view: Disk, path: string): boolean {
  return view.statusNow(path) !== null && decodeCheckpoint(view.readFileNow(path)) !== null;
}

/** Whether this is a consumer's checkpoint and the other one is not intact: it was being written when all ended. */
function isOnlyState(view: Disk, path: string): boolean {
  const state = /^(.*consumers\/\d+\/state\.)(\d)$/.exec(path);
  if (state === null) return false;
  const other = `${state[1]}${1 - Number(state[2])}`;
  if (view.statusNow(other) === null) return false;
  const bytes = view.readFileNow(other);
  return bytes.length < 20 || get32(bytes, 16) !== crc32(bytes, 20, bytes.length, crc32(bytes, 0, 16));
}

function isDamaged(view: Disk, catalog: string): boolean {
  return databaseIn(view.readFileNow(catalog)) === null;
}

function filesBelow(view: Disk, folder: string): string[] {
  return view.readDirectoryNow(folder).flatMap((name) => {
    const path = `${folder}/${name}`;
    if (view.statusNow(path)?.isDirectory === true) return filesBelow(view, path);
    return /\.(seg|blk|idx|db)$|state\.\d$/.test(name) ? [path] : [];
  });
}

/** The number of the stream whose block this is; 0: it is no block. */
function blockAsset(path: string): number {
  return Number(/streams\/(\d+)\/[\d-]+\.blk$/.exec(path)?.[1] ?? 0);
}

function costElsewhere(view: Disk, path: string, bytes: Buffer, position: number): Cost[] {
  const state = /^(.*streams\/(\d+)\/state\.)(\d)$/.exec(path);
  if (state !== null) return hasCheckpoint(view, `${state[1]}${1 - Number(state[3])}`) ? [] : [vague(Number(state[2]))];
  const asset = blockAsset(path);
  if (asset === 0) return [];
  // The record in which the bit stands, or that of the next one whose head is found.
  for (let at = Math.max(0, position - 70_000); at <= position; at++) {
    const length = recordAt(bytes, at, bytes.length);
    if (length === 0) continue;
    if (position < at + length) return [{ asset, sequence: get48(bytes, at + 12) }];
    at += length - 1;
  }
  return [];
}

/** What stands in the log at this place. The last batch can't be told from one that was never completed. */
function costInLog(view: Disk, path: string, position: number): Cost[] | null {
  const segments = logFiles(view);
  const at = segments.findIndex((segment) => segment.path === path);
  const segment = segments[at];
  // A file that is not used, or the head of one.
  if (segment === undefined || position < SEGMENT_HEADER_BYTES) return [];
  const limit = segments[at + 1]?.header.baseLsn;
  const frames = framesIn(segment, limit);
  const frame = frames.find(({ start, end }) => position >= start && position < end);
  if (frame === undefined) return [];
  if (limit === undefined && frame.batchLsn === frames.at(-1)?.batchLsn) return null;
  return frame.kind === FrameKind.catalog ? null : [frame.cost];
}

function logFiles(view: Disk): LogFile[] {
  const folder = `${FOLDER}/petiole/log`;
  const found = view.readDirectoryNow(folder).flatMap((name) => {
    const bytes = view.readFileNow(`${folder}/${name}`);
    const header = decodeHeader(bytes);
    return header === null ? [] : [{ path: `${folder}/${name}`, header, bytes }];
  });
  return found.sort((a, b) => a.header.number - b.header.number);
}

function framesIn({ bytes, header }: LogFile, limitLsn: number | undefined): Frame[] {
  const frames: Frame[] = [];
  const lsnAt = (at: number): number => header.baseLsn + at - SEGMENT_HEADER_BYTES;
  const isOver = (at: number): boolean => at >= bytes.length || (limitLsn !== undefined && lsnAt(at) >= limitLsn);
  for (let at = SEGMENT_HEADER_BYTES; !isOver(at);) {
    const length = frameAt(bytes, at, bytes.length, lsnAt(at));
    // Behind a frame that is damaged already others follow.
    if (length === 0) {
      at++;
      continue;
    }
    const kind = frameKind(bytes, at);
    const body = at + FRAME_HEADER_BYTES + (kind === FrameKind.largeMessage ? PLACE_HEAD_BYTES : 0);
    const isMessage = kind === FrameKind.message || kind === FrameKind.largeMessage;
    const cost = { asset: frameAsset(bytes, at), sequence: isMessage ? get48(bytes, body + 12) : 0 };
    frames.push({ start: at, end: at + length, batchLsn: frameBatchLsn(bytes, at), kind, cost });
    at += length;
  }
  return frames;
}
