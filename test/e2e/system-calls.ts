/**
 * What strace wrote, as a list of system calls. strace sees one event at a time, whatever the threads do at once: the
 * thread that returns from a call does nothing more before strace has noted it. So the order of the events is an order
 * in which causes stand before what they cause.
 *
 *     4876  pwrite64(26</store/log/000000.seg>, "D\0\0"..., 68, 4780 <unfinished ...>      began: event 0
 *     4841  write(24<socket:[9141]>, "+OK\r\n", 5) = 5                                       began: 1, returned: 2
 *     4876  <... pwrite64 resumed>) = 68                                                     returned: 3
 *
 * Signals and ends of processes are no calls and are left out.
 */
import { readFileSync } from 'node:fs';

export interface SystemCall {
  readonly name: string;
  /** As strace prints them. */
  readonly args: string;
  /** The descriptor that is its first argument and what it is open on; -1 and empty for other calls. */
  readonly descriptor: number;
  readonly file: string;
  /** -1 for a call that failed, and for one that never returned. */
  readonly result: number;
  /** Numbers of the events; a call that never returned has Infinity as its return. */
  readonly beganAt: number;
  readonly returnedAt: number;
}

const WHOLE = /^(\d+) +(\w+)\((.*)\) += (-?\d+|\?)/s;
const BEGUN = /^(\d+) +(\w+)\((.*) ?<unfinished \.\.\.>$/s;
const RESUMED = /^(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (-?\d+|\?)/s;
const NO_CALL = /^\d+ +(?:---|\+\+\+) /;
const DESCRIPTOR = /^(\d+)<([^>]*)>/;
const STRING = /"((?:[^"\\]|\\.)*)"(\.\.\.)?/gs;

/** The calls in the file, in the order in which they began. Fails on a line that it doesn't understand. */
export function readSystemCalls(path: string): readonly SystemCall[] {
  const calls: SystemCall[] = [];
  /** By thread, the place in `calls` of the call that it is in. */
  const open = new Map<string, number>();
  let event = 0;
  for (const line of readFileSync(path, 'latin1').split('\n')) {
    if (line === '' || NO_CALL.test(line)) continue;
    const [, resumer = '', , rest = '', outcome = ''] = RESUMED.exec(line) ?? [];
    const begun = calls[open.get(resumer) ?? -1];
    if (begun !== undefined) {
      const args = begun.args + rest;
      calls[open.get(resumer) as number] = { ...begun, args, result: resultOf(outcome), returnedAt: event++ };
      open.delete(resumer);
      continue;
    }
    const [, thread, name, args, result] = WHOLE.exec(line) ?? BEGUN.exec(line) ?? [];
    if (thread === undefined || name === undefined || args === undefined) throw new Error(`strange line: ${line}`);
    const beganAt = event++;
    const returnedAt = result === undefined ? Infinity : event++;
    if (result === undefined) open.set(thread, calls.length);
    calls.push({ name, args, ...descriptorOf(args), result: resultOf(result), beganAt, returnedAt });
  }
  return calls;
}

/** The bytes that a writing call took from its buffers; only those that it wrote. */
export function writtenBytes(call: SystemCall): Buffer {
  const buffers = Array.from(call.args.matchAll(STRING), ([, text = '', cut]) => {
    if (cut !== undefined) throw new Error(`strace did not show the whole buffer of ${call.name} on ${call.file}`);
    return unescaped(text);
  });
  return Buffer.concat(buffers).subarray(0, Math.max(0, call.result));
}

function descriptorOf(args: string): { descriptor: number; file: string } {
  const [, descriptor, file = ''] = DESCRIPTOR.exec(args) ?? [];
  return { descriptor: descriptor === undefined ? -1 : Number(descriptor), file };
}

function resultOf(text: string | undefined): number {
  return text === undefined || text === '?' ? -1 : Number(text);
}

const ESCAPES: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, v: 11, f: 12 };

/** The bytes that a string of strace stands for: C escapes with up to three octal digits. */
function unescaped(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== '\\') {
      bytes[length++] = text.codePointAt(at) as number;
      continue;
    }
    const next = text[++at] as string;
    if (next < '0' || next > '7') {
      bytes[length++] = ESCAPES[next] ?? (next.codePointAt(0) as number);
      continue;
    }
    let value = 0;
    const end = Math.min(at + 3, text.length);
    for (; at < end && /[0-7]/.test(text[at] as string); at++) value = value * 8 + Number(text[at]);
    at--;
    bytes[length++] = value;
  }
  return bytes.subarray(0, length);
}
