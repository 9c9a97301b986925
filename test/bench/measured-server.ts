/**
 * One server as a process of its own, on a free port of 127.0.0.1, with its config and its store in a temporary folder.
 * Both contenders take the same config file, so they are started alike.
 *
 * The pages of the program file are dropped from the page cache before a start: how many of them count as resident
 * otherwise depends on who read the file last, and the two would not compare. `isWarm` leaves them where they are, for
 * those who measure the start itself.
 */
import { spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { realpathSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../helpers/free-port.ts';
import { killChild, killInside, makeFolder, noteInside, removeFolder, startChild } from './children.ts';
import { ProcessUsage } from './process-usage.ts';
import type { Contender } from './programs.ts';

const START_MS_MAX = 60_000;
const BETWEEN_DIALS_MS = 1;
const LOG_LINE = /^\[(\d+)\] /m;
const LOG_CHARACTERS_MAX = 4_000;

export interface ServerConfig {
  /** Lines of the `jetstream` block beside `store_dir`; `null` leaves the block out. Default: none. */
  readonly jetstream?: string | null;
  /** Lines of the config file. */
  readonly more?: string;
  readonly name?: string;
  readonly isWarm?: boolean;
  /** The command that runs the command that it is given, and is killed with it. */
  readonly around?: (command: readonly string[]) => readonly string[];
}

export class MeasuredServer {
  readonly port: number;
  readonly usage: ProcessUsage;
  /** From the start of the process to the first byte of INFO. */
  readonly startMs: number;
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #pid: number;
  readonly #again: () => Promise<MeasuredServer>;

  constructor(
    child: ChildProcess,
    folder: string,
    port: number,
    startMs: number,
    pid: number,
    again: () => Promise<MeasuredServer>,
  ) {
    this.#pid = pid;
    this.#again = again;
    this.port = port;
    this.startMs = startMs;
    this.#child = child;
    this.#folder = folder;
    this.usage = new ProcessUsage(pid);
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Kills the process, and starts it again on what it left, after a while; this one is not to be used any more. */
  async restart(awayMs = 0): Promise<MeasuredServer> {
    await this.#kill();
    await delay(awayMs);
    return this.#again();
  }

  /** Ends the process and removes its files. */
  async stop(): Promise<void> {
    await this.#kill();
    removeFolder(this.#folder);
  }

  async #kill(): Promise<void> {
    if (this.#pid === this.#child.pid) await killChild(this.#child);
    else await killInside(this.#child, this.#pid);
  }
}

/** Starts a server; the promise is kept when it has greeted a client. */
export async function startMeasured(contender: Contender, config: ServerConfig = {}): Promise<MeasuredServer> {
  return startIn(makeFolder(), contender, config);
}

async function startIn(folder: string, contender: Contender, config: ServerConfig): Promise<MeasuredServer> {
  const { path } = contender;
  const port = await freePort();
  const file = join(folder, 'server.conf');
  writeFileSync(file, configText(config, port, folder));
  if (config.isWarm !== true) dropFromPageCache(path);

  const startedMs = performance.now();
  const { around = (command: readonly string[]) => command } = config;
  const [program = '', ...args] = around([path, '-c', file]);
  const child = startChild(program, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-LOG_CHARACTERS_MAX)));
  let hasEnded = false;
  child.on('error', (error) => (log += String(error)));
  child.on('close', () => (hasEnded = true));
  while (!(await greets(port))) {
    if (hasEnded || performance.now() - startedMs > START_MS_MAX) {
      if (!hasEnded) await killChild(child);
      removeFolder(folder);
      throw new Error(`${path} did not start:\n${log}`);
    }
    await delay(BETWEEN_DIALS_MS);
  }
  // The server may run inside of another process; it writes its own id in front of its log lines.
  const pid = config.around === undefined ? (child.pid ?? 0) : Number(LOG_LINE.exec(log)?.[1]);
  if (config.around !== undefined) noteInside(pid);
  const again = (): Promise<MeasuredServer> => startIn(folder, contender, config);
  return new MeasuredServer(child, folder, port, performance.now() - startedMs, pid, again);
}

function configText({ jetstream = '', more = '', name = 'bench' }: ServerConfig, port: number, folder: string): string {
  const lines = [`server_name: ${name}`, `listen: "127.0.0.1:${port}"`, more];
  if (jetstream !== null) lines.push(`jetstream { store_dir: "${join(folder, 'store')}"`, jetstream, '}');
  return `${lines.join('\n')}\n`;
}

/** Whether something listens on the port and says a word. */
function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const end = (isGreeted: boolean): void => {
      socket.destroy();
      resolve(isGreeted);
    };
    socket.once('data', () => end(true));
    socket.once('error', () => end(false));
    socket.once('close', () => end(false));
  });
}

function dropFromPageCache(path: string): void {
  // Reads nothing, but tells the kernel that the file is not needed. Pages that a running process uses stay.
  const dropped = spawnSync('dd', [`if=${realpathSync(path)}`, 'iflag=nocache', 'count=0'], { encoding: 'utf8' });
  if (dropped.error !== undefined) throw new Error('dd is missing', { cause: dropped.error });
  if (dropped.status !== 0) throw new Error(`dd failed: ${dropped.stderr}`);
}
