/**
 * The three programs of a bench: petiole, the nats-server beside it, and the nats CLI, which is the load. What is not
 * named on the command line is looked for in PATH and in ~/go/bin, where `go install` puts it.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import type { BenchOptions } from './options.ts';

const ROOT: string = join(import.meta.dirname, '../..');

export type ContenderName = 'petiole' | 'nats-server';

/** One of the two servers that are compared. */
export interface Contender {
  readonly name: ContenderName;
  readonly path: string;
}

export interface Programs {
  readonly petiole: Contender;
  readonly natsServer: Contender;
  readonly natsCli: string;
  /** All three in a line each, with versions. */
  readonly description: string;
}

/** Finds the programs and builds petiole unless one was named. Throws an `Error` for people if one is missing. */
export function preparePrograms(options: BenchOptions): Programs {
  const natsServer = options.natsServer ?? find('nats-server');
  const natsCli = options.natsCli ?? find('nats');
  if (natsServer === null || natsCli === null) throw new Error(missing({ natsServer, natsCli }));
  if (options.petiole === undefined) build();
  const petiole = resolve(options.petiole ?? join(ROOT, 'dist/petiole'));
  return {
    petiole: { name: 'petiole', path: petiole },
    natsServer: { name: 'nats-server', path: natsServer },
    natsCli,
    description: [
      `petiole      ${petioleVersion()}, ${petiole}`,
      `nats-server  ${versionOf(natsServer, '-v')}, ${natsServer}`,
      `nats CLI     ${versionOf(natsCli, '--version')}, ${natsCli}`,
    ].join('\n'),
  };
}

function find(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), join(homedir(), 'go/bin')];
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  // dist/nats-server is petiole by its other name, and may be in PATH.
  if (resolve(path) === join(ROOT, 'dist/nats-server')) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function missing({ natsServer, natsCli }: { natsServer: string | null; natsCli: string | null }): string {
  const lines = [
    'The bench compares petiole with nats-server, and its load is the nats CLI. Missing, in PATH and ~/go/bin:',
  ];
  if (natsServer === null) lines.push('    nats-server  go install github.com/nats-io/nats-server/v2@v2.15.2');
  if (natsCli === null) lines.push('    nats         go install github.com/nats-io/natscli/nats@v0.5.0');
  lines.push('Install what is missing as shown beside it, or say where it is with --nats-server FILE and --nats FILE.');
  return lines.join('\n');
}

function build(): void {
  const built = spawnSync(process.execPath, [join(ROOT, 'tools/build.mjs')], { stdio: ['ignore', 2, 2] });
  if (built.error !== undefined) throw new Error('the build could not be started', { cause: built.error });
  if (built.status !== 0) throw new Error('nothing is measured, because the build failed');
}

function petioleVersion(): string {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  return version;
}

function versionOf(program: string, flag: string): string {
  const text = execFileSync(program, [flag], { encoding: 'utf8' }).trim();
  return /\d+\.\d+\.\d+\S*/.exec(text)?.[0] ?? text;
}
