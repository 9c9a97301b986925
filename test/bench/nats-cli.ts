/**
 * The nats CLI as load: `nats bench …`, run to its end or in the background, and the figures it prints.
 *
 * It runs without the caller's contexts and NATS_* variables, which could point it elsewhere.
 */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../helpers/until.ts';
import { endOf, killChild, startChild } from './children.ts';
import type { MeasuredServer } from './measured-server.ts';

const RUN_MS_MAX = 180_000;
const READY_MS_MAX = 20_000;
/** What is shown of the output of a failed run. */
const SHOWN_CHARACTERS = 300;
/** The CLI says that it begins right before it subscribes. */
const SUBSCRIBING_MS = 300;

/** What one run measured. Times are absent where the CLI measures none. */
export interface LoadFigures {
  readonly rate: number;
  readonly p50Us?: number;
  readonly p99Us?: number;
}

export class NatsCli {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Runs `nats bench ARGS`. */
  async bench(server: MeasuredServer, args: readonly string[]): Promise<LoadFigures> {
    const load = this.#start(server, args);
    try {
      return await load.figures;
    } finally {
      await load.stop();
    }
  }

  /** Starts `nats bench ARGS` that waits for messages with so many clients; the promise is kept when all subscribed. */
  async listen(server: MeasuredServer, clients: number, args: readonly string[]): Promise<BackgroundLoad> {
    const load = this.#start(server, args);
    try {
      await until(() => load.clientsBegun >= clients, `nats bench ${args[0]} to begin`, READY_MS_MAX);
      await delay(SUBSCRIBING_MS);
      return load;
    } catch (error) {
      await load.stop();
      throw error;
    }
  }

  #start(server: MeasuredServer, args: readonly string[]): BackgroundLoad {
    const whole = ['--no-context', '-s', server.url, 'bench', ...args, '--no-progress'];
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    return new BackgroundLoad(startChild(this.#path, whole, { stdio: [...stdio], env: cleanEnvironment() }));
  }
}

/** A run of `nats bench` that may go on while others run. */
export class BackgroundLoad {
  /** Fails if the CLI fails, ends without figures, or takes longer than three minutes. */
  readonly figures: Promise<LoadFigures>;
  readonly #child: ChildProcess;
  #output = '';

  constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    }
    this.figures = this.#run();
    // Whoever awaits it hears of a failure; until then it is nobody's.
    this.figures.catch(() => undefined);
  }

  /** How many of its clients have said that they begin. */
  get clientsBegun(): number {
    return this.#output.match(/\] Starting /g)?.length ?? 0;
  }

  async stop(): Promise<void> {
    await killChild(this.#child);
  }

  async #run(): Promise<LoadFigures> {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), RUN_MS_MAX);
    try {
      const code = await endOf(this.#child);
      if (code !== 0) throw new Error(`the nats CLI failed (${code}): ${this.#output.trim().slice(-SHOWN_CHARACTERS)}`);
    } finally {
      clearTimeout(timer);
    }
    return figuresOf(this.#output);
  }
}

/** The last of each figure: with several clients the sum of all follows their own lines. */
function figuresOf(output: string): LoadFigures {
  const last = (pattern: RegExp): number | undefined => {
    const text = [...output.matchAll(pattern)].at(-1)?.[1];
    return text === undefined ? undefined : Number(text.replaceAll(',', ''));
  };
  const rate = last(/stats: ([\d,]+) msgs\/sec/g);
  if (rate === undefined) throw new Error(`the nats CLI gave no figures: ${output.trim().slice(-SHOWN_CHARACTERS)}`);
  const [p50Us, p99Us] = [last(/P50:? ([\d.,]+)us/g), last(/P99:? ([\d.,]+)us/g)];
  return { rate, ...(p50Us !== undefined && { p50Us }), ...(p99Us !== undefined && { p99Us }) };
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith('NATS_'));
  return { ...Object.fromEntries(entries), NO_COLOR: '1' };
}
