/** Other processes of this host that run the same program: which there are, and signals to them. */

import { spawnSync } from 'node:child_process';
import type { IoError } from './io.ts';

/** Who is to get a signal: one process, those whose ids begin alike, or (both null) the only one there is. */
export interface SignalTarget {
  readonly pid: number | null;
  readonly pidPrefix: string | null;
}

const REASONS: Readonly<Record<string, string>> = {
  ESRCH: 'no such process',
  EPERM: 'operation not permitted',
};

/** Sends the signal; null, or why it could not be sent, in nats-server's words. `command` is what people call it. */
export function signalProcesses(
  program: string,
  command: string,
  signal: NodeJS.Signals,
  { pid, pidPrefix }: SignalTarget,
): string | null {
  if (pid !== null) return send(command, signal, pid);
  const all = processesOf(program);
  if (all === null) return 'unable to resolve pid, try providing one';
  if (pidPrefix === null && all.length > 1) return `multiple ${program} processes running:\n${all.join('\n')}`;
  if (all.length === 0) return `no ${program} processes running`;
  const chosen = all.filter((each) => String(each).startsWith(pidPrefix ?? ''));
  const failures = chosen.map((each) => send(command, signal, each)).filter((failure) => failure !== null);
  return failures.length === 0 ? null : failures.join('');
}

function send(command: string, signal: NodeJS.Signals, pid: number): string | null {
  try {
    process.kill(pid, signal);
    return null;
  } catch (error) {
    const { code = '', message } = error as IoError;
    return `\nsignal "${command}" ${pid}: ${REASONS[code] ?? message}`;
  }
}

/** Ids of the processes with this name, without this one; null where they can't be found out. */
function processesOf(program: string): number[] | null {
  const { error, stdout } = spawnSync('pgrep', [program], { encoding: 'utf8' });
  if (error !== undefined) return null;
  const pids = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map(Number);
  return pids.filter((pid) => pid !== process.pid);
}
