/**
 * The processes and folders that a bench makes, and their end. However the bench ends (done, failed, Ctrl-C, TERM), every
 * process it started is killed by its pid and every folder is removed; only KILL leaves them behind.
 *
 * Servers are killed and not stopped: what they would do at the end is not measured.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const running = new Set<ChildProcess>();
const folders = new Set<string>();
/** Processes that run inside of others. */
const inside = new Set<number>();

/** Starts a process that ends with the bench at the latest. A program that can't be started rejects in `endOf`. */
export function startChild(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(program, args, options);
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Waits until the process has ended and its output is read: its exit code, or the signal that ended it. */
export async function endOf(child: ChildProcess): Promise<number | string> {
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return code ?? signal ?? 'unknown';
}

/** Kills the process unless it has ended, and waits for its end. */
export async function killChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/**
 * Kills what runs inside of the process, by its own pid, and waits for the end of the process: a tracer that is killed
 * leaves what it traces alone.
 */
export async function killInside(child: ChildProcess, pid: number): Promise<void> {
  const ended = once(child, 'exit');
  if (child.exitCode !== null || child.signalCode !== null) return;
  process.kill(pid, 'SIGKILL');
  inside.delete(pid);
  await ended;
}

/** The process runs inside of a child, and ends with the bench at the latest. */
export function noteInside(pid: number): void {
  inside.add(pid);
}

/** A new folder under the one for temporary files, TMPDIR. */
export function makeFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'petiole-bench-'));
  folders.add(path);
  return path;
}

export function removeFolder(path: string): void {
  // A process killed a moment ago may still be making a file.
  rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  folders.delete(path);
}

/** From now on a signal that asks the bench to end makes it exit, and an exit cleans up. */
export function cleanUpAtExit(): void {
  process.on('exit', () => {
    for (const pid of inside) process.kill(pid, 'SIGKILL');
    for (const child of running) child.kill('SIGKILL');
    for (const path of folders) removeFolder(path);
  });
  const codes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
  for (const [signal, code] of Object.entries(codes)) process.on(signal, () => process.exit(code));
}
