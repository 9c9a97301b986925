/**
 * The servers that tests run against: the real nats-server, whose behaviour decides, and petiole. Both take the same
 * flags and config file and say on stderr when they are ready and where they listen, so one `start` serves both.
 *
 * A server listens on 127.0.0.1 at ports it chooses itself, keeps its files in a temporary folder, and is stopped by
 * its own pid: TERM, and KILL when that did not end it within a few seconds. Servers that a test forgot are killed when
 * the test process exits.
 */
import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { makeTemporaryDirectory } from './temporary-directory.ts';
import { until } from './until.ts';
import type { ServerAddress } from './wire-client.ts';

export type TargetName = 'nats-server' | 'petiole';

/** How to start one kind of server. */
export interface Target {
  readonly name: TargetName;
  readonly version: string;
  /** The program and its first arguments. */
  readonly command: readonly string[];
}

/** A target that this machine does not have, and why. */
export interface AbsentTarget {
  readonly name: TargetName;
  readonly absent: string;
}

export interface StartOptions {
  /** The text of the config file; no file is written when it is absent. */
  readonly config?: string | undefined;
  /** Further command line flags. */
  readonly flags?: readonly string[] | undefined;
}

/** The version of nats-server that petiole stands in for; what another version does proves nothing. */
const NATS_SERVER_VERSION = '2.15.2';
const ROOT: string = join(import.meta.dirname, '../..');
const READY_MS = 60_000;
const STOP_MS = 5_000;

/** nats-server from PATH or ~/go/bin, if it has the version that petiole stands in for. */
export function natsServer(): Target | AbsentTarget {
  const name = 'nats-server';
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), join(homedir(), 'go/bin')];
  const program = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (program === undefined) return { name, absent: 'no nats-server' };
  const version = versionOf([program]);
  if (version !== NATS_SERVER_VERSION) {
    return { name, absent: `nats-server ${version} found, ${NATS_SERVER_VERSION} wanted` };
  }
  return { name, version, command: [program] };
}

/** petiole: the binary that PETIOLE_BINARY names, else the sources run by the pinned Node. */
export function petiole(): Target | AbsentTarget {
  const name = 'petiole';
  const binary = process.env['PETIOLE_BINARY'];
  const main = join(ROOT, 'server/main.ts');
  if (binary === undefined && !existsSync(main)) return { name, absent: 'no server/main.ts' };
  const command = binary === undefined ? [join(ROOT, 'node_modules/.bin/node'), main] : [binary];
  return { name, version: versionOf(command), command };
}

export function isAbsent(target: Target | AbsentTarget): target is AbsentTarget {
  return 'absent' in target;
}

/** In CI a missing target is a failure: otherwise nobody would notice that half of the tests did not run. */
export function absenceIsFailure(): boolean {
  return process.env['CI'] === 'true';
}

/** Starts a server and resolves when it says that it is ready. */
export async function startServer(target: Target, options: StartOptions = {}): Promise<RunningServer> {
  const server = new RunningServer(target, options);
  try {
    await until(() => server.ready || server.exited, `${target.name} to be ready`, READY_MS);
    if (server.exited) throw new Error(`${target.name} exited`);
  } catch (cause) {
    await server.stop();
    throw new Error(`${String(cause)}; its log:\n${server.log}`, { cause });
  }
  return server;
}

/** Starts a server that must refuse to start; returns its exit code and what it wrote to stderr. */
export async function startRefused(target: Target, options: StartOptions): Promise<{ code: number; log: string }> {
  const server = new RunningServer(target, options);
  try {
    await until(() => server.ready || server.exited, `${target.name} to exit`, READY_MS);
    if (!server.exited) throw new Error(`${target.name} started:\n${server.log}`);
    return { code: server.exitCode ?? -1, log: server.log };
  } finally {
    await server.stop();
  }
}

export class RunningServer {
  readonly target: Target;
  readonly directory: string;
  readonly #child: ChildProcess;
  #log = '';
  #exited = false;

  constructor(target: Target, options: StartOptions) {
    this.target = target;
    this.directory = makeTemporaryDirectory();
    const [program = '', ...first] = target.command;
    const args = [...first, '-a', '127.0.0.1', '-p', '-1', ...configFlags(this.directory, options.config)];
    this.#child = spawn(program, [...args, ...(options.flags ?? [])], {
      cwd: this.directory,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    running.add(this.#child);
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#log += text));
    const ended = (): void => {
      this.#exited = true;
      running.delete(this.#child);
    };
    this.#child.on('error', (error) => {
      this.#log += String(error);
      ended();
    });
    // 'close' and not 'exit': by then the whole of stderr has been read.
    this.#child.on('close', ended);
  }

  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error(`${this.target.name} did not start: ${this.#log}`);
    return pid;
  }

  /** All that the server has written to stderr. */
  get log(): string {
    return this.#log;
  }

  get ready(): boolean {
    return this.#log.includes('Server is ready');
  }

  get exited(): boolean {
    return this.#exited;
  }

  /** Null while it runs or when a signal ended it. */
  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  /** Where it listens for clients. */
  address(): ServerAddress {
    const found = this.#listening('client');
    if (found === null) throw new Error(`${this.target.name} does not listen:\n${this.#log}`);
    return found;
  }

  /** Where it listens for this kind of peer; some listeners open, and are logged, only after the server is ready. */
  async listening(kind: ListenerKind): Promise<ServerAddress> {
    return until(() => this.#listening(kind), `${this.target.name} to listen for ${kind}`);
  }

  #listening(kind: ListenerKind): ServerAddress | null {
    const [, host, port] = LISTENING[kind].exec(this.#log) ?? [];
    return host === undefined ? null : { host, port: Number(port) };
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Ends the process and removes its files. */
  async stop(): Promise<void> {
    if (!this.#exited) {
      this.signal('SIGTERM');
      const killer = setTimeout(() => this.signal('SIGKILL'), STOP_MS);
      await until(() => this.#exited, `${this.target.name} to stop`, STOP_MS * 2);
      clearTimeout(killer);
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export type ListenerKind = 'client' | 'route' | 'leafnode' | 'websocket' | 'monitor';

const LISTENING: Record<ListenerKind, RegExp> = {
  client: /Listening for client connections on (\S+):(\d+)/,
  route: /Listening for route connections on (\S+):(\d+)/,
  leafnode: /Listening for leafnode connections on (\S+):(\d+)/,
  websocket: /Listening for websocket clients on wss?:\/\/(\S+):(\d+)/,
  monitor: /Starting https? monitor on (\S+):(\d+)/,
};

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

function configFlags(directory: string, config: string | undefined): string[] {
  if (config === undefined) return [];
  const path = join(directory, 'server.conf');
  writeFileSync(path, config);
  return ['-c', path];
}

/** The number that `-v` prints, as in `nats-server: v2.15.2`; what it says instead if it says something else. */
function versionOf(command: readonly string[]): string {
  const [program = '', ...first] = command;
  try {
    const text = execFileSync(program, [...first, '-v'], { encoding: 'utf8', timeout: READY_MS });
    return /v(\d+\.\d+\.\d+\S*)/.exec(text)?.[1] ?? `of unknown version (-v says ${text.trim()})`;
  } catch (error) {
    return `of unknown version (-v fails: ${String(error).split('\n')[0]})`;
  }
}
