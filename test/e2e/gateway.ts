/**
 * A petiole of its own process as the gateway of a site: its store outlives it, so it can be killed and started again
 * with what it had. Each start listens on a port of its own; clients ask for the address when they connect.
 *
 *     down ─start─► up ─kill (KILL) or stop (TERM)─► down
 *
 * The process may have others around it, a tracer for example: what is killed is the server itself, by the process id
 * that it writes in front of its log lines. The ones around it end when it has ended.
 */
import { onTestFailed, onTestFinished } from 'vitest';
import { startServer } from '../helpers/targets.ts';
import type { RunningServer, Target } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

const EXIT_MS = 10_000;
const UP_MS = 20_000;
const LOG_LINE = /^\[(\d+)\] /m;

export interface GatewayOptions {
  readonly target: Target;
  /** Of the config file, beside `jetstream`. */
  readonly config?: string;
  /** The command that runs the command that it is given; asked anew for each start. */
  readonly around?: (command: readonly string[]) => readonly string[];
}

export class Gateway {
  readonly storeDirectory: string = temporaryDirectory();
  readonly #options: GatewayOptions;
  #server: RunningServer | null = null;
  #endedLog = '';
  #pid = 0;
  #isUp = false;

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { target, config = '', around = (command) => command } = this.#options;
    const wrapped = { ...target, command: around(target.command) };
    const text = `jetstream { store_dir: "${this.storeDirectory}" }\n${config}\n`;
    const server = await startServer(wrapped, { config: text });
    this.#pid = Number(LOG_LINE.exec(server.log)?.[1]);
    alive.add(this.#pid);
    this.#server = server;
    this.#isUp = true;
  }

  /** It has been started and nobody has ended it. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** host:port for clients, once it is up. */
  async address(): Promise<string> {
    await until(() => this.isUp, 'the gateway to be up', UP_MS);
    const { host, port } = (this.#server as RunningServer).address();
    return `${host}:${port}`;
  }

  /** What the server has logged since its last start. */
  get log(): string {
    return this.#server?.log ?? this.#endedLog;
  }

  /** As `kill -9`, or a power cut to the process: it gets no chance to do anything. */
  async kill(): Promise<void> {
    if (this.#server?.exited !== false) throw new Error(`the gateway was gone before it was killed:\n${this.log}`);
    await this.#end('SIGKILL');
  }

  /** Asks it to shut down and waits until it has. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  /** Kills it if it is there still, in whatever state. */
  async clear(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    this.#isUp = false;
    if (!server.exited) {
      signalIfAlive(this.#pid, signal);
      await until(() => server.exited, `the gateway to end by ${signal}`, EXIT_MS);
    }
    alive.delete(this.#pid);
    this.#server = null;
    this.#endedLog = server.log;
    await server.stop();
  }
}

/** Starts one; it is killed when the test has ended, and its log is shown when that failed. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const gateway = new Gateway(options);
  onTestFailed(() => console.error(`the gateway's log:\n${gateway.log}`));
  onTestFinished(() => gateway.clear());
  await gateway.start();
  return gateway;
}

/** A killed tracer would leave its server running. */
const alive = new Set<number>();
process.on('exit', () => {
  for (const pid of alive) signalIfAlive(pid, 'SIGKILL');
});

function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
