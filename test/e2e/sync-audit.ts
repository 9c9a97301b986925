/**
 * Whether acknowledgements came after the sync that they promise. A message is on the device when one of these is so:
 *
 *     its record, which has its id and its payload, stands in a write to the commit log that was synced
 *     its payload stands in a write to a block that was synced, and its id, with the place of the record, in a write to
 *     the commit log that began after that and was synced
 *
 * A write is synced when it returns, if its descriptor was opened with O_DSYNC, and otherwise when a sync of the same
 * file returns that began after the write had returned. An acknowledgement leaves when the write to the socket begins
 * that holds its last byte. All times are numbers of events of the trace.
 */
import { idNumbers, payloadNumbers } from './marked-message.ts';
import { writtenBytes } from './system-calls.ts';
import type { SystemCall } from './system-calls.ts';

export interface SyncFindings {
  /** Sequences of the acknowledgements seen, in the order in which they left; with repetitions. */
  readonly acknowledged: readonly number[];
  /** Those that left before their message was on the device. */
  readonly early: readonly number[];
}

/** Of messages and of repetitions. */
const ACKNOWLEDGEMENT = /\{"stream":"\w+", ?"seq":(\d+)[^{}]*\}\r\n/g;
const SEGMENT = /\/log\/\d+\.seg$/;
const BLOCK = /\.blk$/;
const FILE_WRITES = new Set(['pwrite64', 'pwritev', 'pwritev2', 'write', 'writev']);
const SOCKET_WRITES = new Set(['write', 'writev', 'sendto', 'sendmsg', 'sendmmsg']);
const SYNCS = new Set(['fsync', 'fdatasync']);

/** The calls without which nothing can be said; another way to write shows as acknowledgements that were not seen. */
export const AUDITED_CALLS: readonly string[] = ['openat', ...new Set([...FILE_WRITES, ...SOCKET_WRITES]), ...SYNCS];

/** What the calls of a server tell about its acknowledgements; `sequences` are those of the marked messages by number. */
export function auditSyncs(calls: readonly SystemCall[], sequences: ReadonlyMap<number, number>): SyncFindings {
  const times = deviceTimes(calls);
  const numbers = new Map(Array.from(sequences, ([number, sequence]) => [sequence, number]));
  const acknowledged: number[] = [];
  const early: number[] = [];
  for (const { sequence, leftAt } of acknowledgements(calls)) {
    acknowledged.push(sequence);
    const time = times.get(numbers.get(sequence) ?? -1) ?? Infinity;
    if (time > leftAt) early.push(sequence);
  }
  return { acknowledged, early };
}

/** When the messages were on the device, by their numbers. */
function deviceTimes(calls: readonly SystemCall[]): ReadonlyMap<number, number> {
  const times = new Map<number, number>();
  const inBlock = new Map<number, number>();
  const syncs = calls.filter(({ name, result }) => SYNCS.has(name) && result === 0);
  /** Whether the descriptor's writes are synced when they return. */
  const isSynced = new Map<number, boolean>();
  for (const call of calls) {
    if (call.name === 'openat' && call.result >= 0) isSynced.set(call.result, /\bO_D?SYNC\b/.test(call.args));
    if (!FILE_WRITES.has(call.name) || call.result <= 0) continue;
    const time = isSynced.get(call.descriptor) === true ? call.returnedAt : syncedAt(call, syncs);
    if (BLOCK.test(call.file)) note(inBlock, payloadNumbers(writtenBytes(call)), time);
    if (SEGMENT.test(call.file)) note(times, loggedNumbers(call, inBlock), time);
  }
  return times;
}

/** The messages that are complete with this write to the log. */
function loggedNumbers(write: SystemCall, inBlock: ReadonlyMap<number, number>): readonly number[] {
  const bytes = writtenBytes(write);
  const whole = new Set(payloadNumbers(bytes));
  return idNumbers(bytes).filter((number) => whole.has(number) || (inBlock.get(number) ?? Infinity) < write.beganAt);
}

function syncedAt(write: SystemCall, syncs: readonly SystemCall[]): number {
  const later = syncs.filter(({ file, beganAt }) => file === write.file && beganAt > write.returnedAt);
  return Math.min(...later.map(({ returnedAt }) => returnedAt));
}

/** The first time counts: a message is not taken away again. */
function note(times: Map<number, number>, numbers: readonly number[], time: number): void {
  for (const number of numbers) times.set(number, Math.min(time, times.get(number) ?? Infinity));
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
