/**
 * The binary that end-to-end tests run: the one that PETIOLE_BINARY names, as `npm test` does, or else dist/petiole,
 * which is built when it is not that of the sources. A variant is built the same way, elsewhere, with names replaced.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Target } from '../helpers/targets.ts';

const root = join(import.meta.dirname, '../..');

export function builtPetiole(): Target {
  const named = process.env['PETIOLE_BINARY'];
  if (named !== undefined) return petioleAt(named, 'as PETIOLE_BINARY');
  build();
  return petioleAt(join(root, 'dist/petiole'), 'in dist');
}

/** A petiole built into the folder `out`, in which the global `name` has the value of the expression `value`. */
export function builtVariant(out: string, name: string, value: string): Target {
  build('--out', out, '--define', `${name}=${value}`);
  return petioleAt(join(out, 'petiole'), `with ${name}=${value}`);
}

function petioleAt(path: string, version: string): Target {
  return { name: 'petiole', version, command: [path] };
}

function build(...args: readonly string[]): void {
  execFileSync('node', [join(root, 'tools/build.mjs'), ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
}
