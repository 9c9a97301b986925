/** Config files in memory, and short ways to what becomes of them. */
import { expect } from 'vitest';
import { interpretCommandLine } from '../../server/config/load.ts';
import type { ExitOutcome, Outcome } from '../../server/config/load.ts';
import type { ServerOptions } from '../../server/config/options.ts';
import type { ConfigSources } from '../../server/config/sources.ts';

export type Files = Readonly<Record<string, string | Uint8Array>>;

export function sourcesOf(files: Files, environment: Readonly<Record<string, string>> = {}): ConfigSources {
  const readFile = (path: string): Uint8Array | Error => {
    const content = files[path];
    return content === undefined ? Object.assign(new Error('gone'), { code: 'ENOENT' }) : Buffer.from(content);
  };
  return { readFile, environment };
}

/** What the program does with the arguments and `a.conf`. */
export function run(args: readonly string[], config = ''): Outcome {
  return interpretCommandLine(args, sourcesOf({ 'a.conf': config }));
}

/** The options of a config file, which must be fine, and of the flags beside it. */
export function optionsOf(config: string, flags: readonly string[] = []): ServerOptions {
  const outcome = run(['-c', 'a.conf', ...flags], config);
  expect(outcome).toMatchObject({ kind: 'start' });
  return (outcome as Extract<Outcome, { kind: 'start' }>).options;
}

/** What the program prints and ends with; it must not want to start. */
export function exitOf(args: readonly string[], config = ''): Omit<ExitOutcome, 'kind'> {
  const outcome = run(args, config);
  expect(outcome).toMatchObject({ kind: 'exit' });
  const { code, stdout, stderr } = outcome as ExitOutcome;
  return { code, stdout, stderr };
}

/** The lines that a test of the config file complains with, without the file's name before them. */
export function complaints(config: string): string[] {
  const { code, stderr } = exitOf(['-c', 'a.conf', '-t'], config);
  expect(code).toBe(1);
  const text = stderr.replace(/^nats-server: /, '').replace(/\n+$/, '');
  return text.split('\n').map((line) => line.replace(/^a\.conf:/, ''));
}
