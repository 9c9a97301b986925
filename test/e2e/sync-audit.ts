/**
 * Whether acknowledgements came after the sync that they promise. A message is on the device when one of these is so:
 *
 *     its record stands in a write to the commit log, through a descriptor that was opened with O_DSYNC, that returned
 *     its record stands in a write to a block; a sync of this block that began after that returned; and a write as
 *     above, that began after that, names the record's place
 *
 * A write through any other descriptor counts from the return of a sync of the same file that began after it. An
 * acknowledgement leaves when the write to the socket begins that holds its last byte.
 */
import { frameAt, FrameKind, frameKind, FRAME_HEADER_BYTES } from '../../jetstream/store/frame.ts';
import { get48 } from '../../jetstream/store/integers.ts';
import { markedNumbers } from './marked-payload.ts';
import { writtenBytes } from './system-calls.ts';
import type { SystemCall } from './system-calls.ts';

export interface SyncFindings {
  /** Sequences of the acknowledgements seen, in the order in which they left; with repetitions. */
  readonly acknowledged: readonly number[];
  /** Those that left before their message was on the device. */
  readonly early: readonly number[];
}

const ACKNOWLEDGEMENT = /\{"stream":"\w+","seq":(\d+)(?:,"duplicate":true)?\}\r\n/g;
const SEGMENT = /\/log\/\d+\.seg$/;
const BLOCK = /\.blk$/;
const FILE_WRITES = new Set(['pwrite64', 'pwritev', 'pwritev2', 'write', 'writev']);
const SOCKET_WRITES = new Set(['write', 'writev', 'sendto', 'sendmsg', 'sendmmsg']);
const SYNCS = new Set(['fsync', 'fdatasync']);
/** In the body of a frame that names the place of a record. */
const PLACE_SEQUENCE_AT = 12;

/** The calls without which nothing can be said; another way to write shows as acknowledgements that were not seen. */
export const AUDITED_CALLS: readonly string[] = ['openat', ...new Set([...FILE_WRITES, ...SOCKET_WRITES]), ...SYNCS];

/** What the calls of a server tell about its acknowledgements; `sequences` are those of the marked payloads by number. */
export function auditSyncs(calls: readonly SystemCall[], sequences: ReadonlyMap<number, number>): SyncFindings {
  const onDevice = new DeviceTimes(calls, sequences);
  const acknowledged: number[] = [];
  const early: number[] = [];
  for (const { sequence, leftAt } of acknowledgements(calls)) {
    acknowledged.push(sequence);
    if (onDevice.of(sequence) > leftAt) early.push(sequence);
  }
  return { acknowledged, early };
}

/** When the messages were on the device; by sequence, in events. */
class DeviceTimes {
  readonly #times = new Map<number, number>();
  readonly #inBlock = new Map<number, number>();
  readonly #syncs: readonly SystemCall[];

  constructor(calls: readonly SystemCall[], sequences: ReadonlyMap<number, number>) {
    this.#syncs = calls.filter(({ name, result }) => SYNCS.has(name) && result === 0);
    const isSynced = new Map<number, boolean>();
    for (const call of calls) {
      if (call.name === 'openat' && call.result >= 0) isSynced.set(call.result, /\bO_D?SYNC\b/.test(call.args));
      if (!FILE_WRITES.has(call.name) || call.result <= 0) continue;
      if (!SEGMENT.test(call.file) && !BLOCK.test(call.file)) continue;
      const time = isSynced.get(call.descriptor) === true ? call.returnedAt : this.#syncedAt(call);
      const bytes = writtenBytes(call);
      const written = markedNumbers(bytes).map((number) => sequences.get(number) ?? -1);
      if (BLOCK.test(call.file)) note(this.#inBlock, written, time);
      else note(this.#times, [...written, ...this.#placed(bytes, call.beganAt)], time);
    }
  }

  of(sequence: number): number {
    return this.#times.get(sequence) ?? Infinity;
  }

  /** The sequences whose places are named in this write to the log and whose records were on the device before it. */
  #placed(bytes: Buffer, beganAt: number): readonly number[] {
    return placedSequences(bytes).filter((sequence) => (this.#inBlock.get(sequence) ?? Infinity) < beganAt);
  }

  #syncedAt(write: SystemCall): number {
    const syncs = this.#syncs.filter(({ file, beganAt }) => file === write.file && beganAt > write.returnedAt);
    return Math.min(...syncs.map(({ returnedAt }) => returnedAt));
  }
}

/** The first time counts: a record is not taken away again. */
function note(times: Map<number, number>, sequences: readonly number[], time: number): void {
  for (const sequence of sequences) times.set(sequence, Math.min(time, times.get(sequence) ?? Infinity));
}

/** The sequences of the records whose place a batch of frames names. */
function placedSequences(bytes: Buffer): readonly number[] {
  const sequences: number[] = [];
  for (let at = 0, length = 0; at < bytes.length; at += length) {
    length = bytes.length - at < FRAME_HEADER_BYTES ? 0 : frameAt(bytes, at, bytes.length, get48(bytes, at + 4));
    // The header of a segment, or zeros that prepare it.
    if (length === 0) return sequences;
    if (frameKind(bytes, at) !== FrameKind.largeMessage) continue;
    sequences.push(get48(bytes, at + FRAME_HEADER_BYTES + PLACE_SEQUENCE_AT));
  }
  return sequences;
}

/** The acknowledgements that left on any socket. They may be cut between two writes: a socket's bytes are put together. */
function acknowledgements(calls: readonly SystemCall[]): readonly { sequence: number; leftAt: number }[] {
  const found: { sequence: number; leftAt: number }[] = [];
  const unread = new Map<string, string>();
  for (const call of calls) {
    if (!SOCKET_WRITES.has(call.name) || !call.file.startsWith('socket:') || call.result <= 0) continue;
    const text = (unread.get(call.file) ?? '') + writtenBytes(call).toString('latin1');
    let end = 0;
    for (const match of text.matchAll(ACKNOWLEDGEMENT)) {
      found.push({ sequence: Number(match[1]), leftAt: call.beganAt });
      end = match.index + match[0].length;
    }
    unread.set(call.file, text.slice(end));
  }
  return found;
}
