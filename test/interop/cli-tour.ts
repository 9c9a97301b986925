/**
 * Tours of the nats CLI: the same commands, one after the other, against nats-server and against petiole. What a command
 * prints, and its exit code, are the same on both; what differs from run to run (moments, ages, ids, ports, rates) is
 * replaced by what kind of value it is.
 *
 * A stop on a tour is a line as one would type it, with single quotes around arguments that hold blanks. `A | B` runs
 * `nats B` once `nats A` listens in the background, and shows both; `A & B` interrupts A when B has ended. Where a tour
 * has users, a line begins with the one that it is of: `joe: pub news hello`. `SERVER` stands for the server's id.
 */
/* oxlint-disable vitest/valid-title, vitest/no-conditional-tests -- tests are wrapped here */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeUnless } from '../helpers/describe-unless.ts';
import { absenceIsFailure, isAbsent, natsServer, petiole, startServer } from '../helpers/targets.ts';
import type { RunningServer, Target } from '../helpers/targets.ts';

const CONFIG = 'server_name: toured\njetstream { store_dir: "store", max_mem: 64MB, max_file: 1GB }';
const COMMAND_MS_MAX = 20_000;
const LISTENING_MS = 700;
/** What is shown of the log of a server that ended. */
const LOG_CHARACTERS = 2000;
/** Servers start, and a stop may wait for a time-out of the CLI. */
const RETRIES = 5;
const STOP_MS_MAX = 60_000;

export interface Tour {
  readonly title: string;
  /** Instead of a server with JetStream and without accounts. Its users' password is `p`. */
  readonly config?: string;
  /** What is left of a text when what differs from run to run is out of it, besides what is taken out of all texts. */
  readonly settle?: (text: string) => string;
  readonly stops: readonly string[];
  /** Stops at which the two servers still differ, and why. */
  readonly differing?: Readonly<Record<string, string>>;
}

const cli = findCli();

export function tour({ title, stops, differing = {}, config = CONFIG, settle = (text) => text }: Tour): void {
  const targets = [natsServer(), petiole()];
  const absences = targets.filter(isAbsent).map(({ absent }) => absent);
  if (cli === null) absences.push('no nats CLI');
  describeUnless(absences.length > 0 && !absenceIsFailure() ? absences.join(', ') : null, title, () => {
    let servers: RunningServer[] = [];
    const present = targets.filter((target): target is Target => !isAbsent(target));

    beforeAll(async () => {
      servers = await Promise.all(present.map((target) => startServer(target, { config })));
    }, STOP_MS_MAX);
    afterAll(() => Promise.all(servers.map((server) => server.stop())));

    for (const stop of stops) {
      const reason = differing[stop];
      const run = reason === undefined ? test : test.fails;
      // Of what is counted while it changes, both print what they saw at the moment.
      run(
        reason === undefined ? stop : `${stop} (differs: ${reason})`,
        { timeout: STOP_MS_MAX, retry: reason === undefined ? RETRIES : 0 },
        async () => {
          const [theirs, ours] = await Promise.all(servers.map((server) => visit(server, stop)));
          expect(settle(ours ?? '')).toBe(settle(theirs ?? ''));
        },
      );
    }
  });
}

/** What both parts of a stop print, normalized. */
async function visit(server: RunningServer, stop: string): Promise<string> {
  const { port } = server.address();
  const [front = '', back] = stop.split(/ [|&] /);
  if (back === undefined) return normalized(await start(server, front).outcome, port);
  const listener = start(server, front);
  // Some commands say that they listen, right before they do, and some say nothing.
  await delay(LISTENING_MS);
  const after = await start(server, back).outcome;
  if (stop.includes(' & ')) {
    await delay(LISTENING_MS);
    listener.interrupt();
  }
  return `${normalized(after, port)}──\n${normalized(await listener.outcome, port)}`;
}

interface Command {
  /** What it printed and its exit code. */
  readonly outcome: Promise<string>;
  interrupt(): void;
}

/** Runs `nats LINE` without the contexts and variables of whoever runs the tests. */
function start(server: RunningServer, line: string): Command {
  const { host, port } = server.address();
  const [, user, typed = line] = /^(\w+): (.*)$/.exec(line) ?? [];
  const login = user === undefined ? '' : `${user}:p@`;
  const known = typed.replaceAll('SERVER', /ID: +(N[A-Z2-7]{55})/.exec(server.log)?.[1] ?? 'SERVER');
  const args = ['--no-context', '-s', `nats://${login}${host}:${port}`, '--timeout', '3s', ...words(known)];
  const child = spawn(cli ?? 'nats', args, {
    cwd: server.directory,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { HOME: server.directory, XDG_CONFIG_HOME: server.directory, NO_COLOR: '1', TZ: 'UTC', COLUMNS: '120' },
    timeout: COMMAND_MS_MAX,
  });
  // What goes to which of the two comes in any order.
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (printed[name] += text));
  }
  const outcome = ended(child).then((how) => {
    if (server.exited) throw new Error(`${server.target.name} is gone: ${server.log.slice(-LOG_CHARACTERS)}`);
    return `${printed.stdout}${printed.stderr}exit ${how}\n`;
  });
  return { outcome, interrupt: () => child.kill('SIGINT') };
}

function ended(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
}

function words(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

function findCli(): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), join(homedir(), 'go/bin')];
  return folders.map((folder) => join(folder, 'nats')).find((path) => existsSync(path)) ?? null;
}

const NORMALIZED: readonly (readonly [pattern: RegExp, by: string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, 'MOMENT'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?/g, 'MOMENT'],
  [/\b\d\d:\d\d:\d\d\b/g, 'TIME'],
  [/\b\d\d [A-Z][a-z]{2} \d\d \d\d:\d\d [A-Z]+\b/g, 'MOMENT'],
  [/_INBOX\.[A-Za-z0-9]+(\.[A-Za-z0-9]+)?/g, 'INBOX'],
  [/\b[A-Za-z0-9]{22}\b/g, 'ID'],
  [/\bN[A-Z2-7]{55}\b/g, 'SERVER'],
  [/\b[\d,]+(\.\d+)?(µs|us|ms)(?! ?(window|age))/g, 'SHORT'],
  [/\b0\.\d+s\b/g, 'SHORT'],
  [/\b\d+\.\d{2}s ago\b/g, 'AGO'],
  [/\bSHORT ago\b/g, 'AGO'],
  [/[\d,.]+ msgs\/sec( ~ [\d.]+ [KMG]?i?B\/sec)?/g, 'RATE'],
  // Measures in tables, and the widths that come of them.
  [/│ 0\.\d+ *│/g, '│ MEASURE │'],
  [/│ \d+\.\d\ds *│/g, '│ AGE │'],
  [/─+/g, '─'],
  [/ +(?=[│\n])/g, ' '],
  [/│ age │ \d+(\.\d+)? │/g, '│ age │ AGE │'],
  [/\((\d+h)?\d+m\d+s remaining\)/g, '(REMAINING)'],
  [/\(\d+\.\d\ds\)/g, '(AGE)'],
  [/petiole-test-\w{6}/g, 'FOLDER'],
  // It grows with what petiole can do.
  [/hosted at level \d/g, 'hosted at level LEVEL'],
  [/"_nats\.level": ?"\d"/g, '"_nats.level": LEVEL'],
  // Numbers of connections; nats-server has some of its own.
  [/Client ID: \d+/g, 'Client ID: NUMBER'],
];

function normalized(text: string, port: number): string {
  let shown = text.replaceAll(String(port), 'PORT');
  for (const [pattern, by] of NORMALIZED) shown = shown.replace(pattern, by);
  return shown;
}
