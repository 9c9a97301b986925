/**
 * A program that a command of the README ends in: it takes the command's place as far as whoever started that can tell.
 * Signals go to it, and its exit code is the command's.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

import { describe } from './workspace.mjs';

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'];

/** Starts `program` and leaves this process nothing to do but to wait for its end. */
export function runInForeground(program, args) {
  const child = spawn(program, args, { stdio: 'inherit' });
  for (const signal of forwarded) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`${describe(new Error(`${program} could not be started`, { cause: error }))}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    // The shell's convention for a process that a signal ended.
    process.exitCode = code ?? 128 + constants.signals[signal];
    for (const name of forwarded) process.removeAllListeners(name);
  });
}
