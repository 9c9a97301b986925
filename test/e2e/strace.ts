/**
 * strace around a server: it notes the system calls asked for, of all threads, in the order in which they began and
 * returned, and can make them slow. With `--seccomp-bpf` every other system call runs at full speed.
 *
 * The traced process is a child of strace. It is ended by its own process id; strace ends with it.
 */
import { spawnSync } from 'node:child_process';

export interface StraceOptions {
  /** Names of system calls, or classes of them as strace knows them. */
  readonly calls: readonly string[];
  /** The file that the calls are written to, one a line. */
  readonly output: string;
  /** Bytes shown of each buffer. */
  readonly bufferBytes: number;
  /** Of these calls, several with commas between them, the return is delayed. */
  readonly delay?: { readonly call: string; readonly microseconds: number };
}

/** The command that runs `command` under strace. */
export function underStrace(command: readonly string[], options: StraceOptions): readonly string[] {
  const { calls, output, bufferBytes, delay } = options;
  const inject = delay === undefined ? [] : ['-e', `inject=${delay.call}:delay_exit=${delay.microseconds}`];
  const trace = ['-f', '--seccomp-bpf', '-y', '-s', String(bufferBytes), '-e', `trace=${calls.join(',')}`];
  return ['strace', ...trace, ...inject, '-o', output, '--', ...command];
}

/** Why strace can't be used here; `null` when it can. */
export function straceAbsence(): string | null {
  const delay = { call: 'pwrite64', microseconds: 1 };
  const options = { calls: ['pwrite64'], output: '/dev/null', bufferBytes: 0, delay };
  const [program = '', ...args] = underStrace(['true'], options);
  const { error, status } = spawnSync(program, args, { stdio: 'ignore' });
  if (error !== undefined) return 'no strace';
  return status === 0 ? null : 'strace is not permitted';
}
