/**
 * `npm start`: from a fresh clone to a running server in one command. Installs and builds what is missing, then runs
 * dist/petiole on port 4222 with monitoring on 8222, JetStream under ./data, and its process id in ./data/petiole.pid.
 *
 *     npm start -- -p 4333 -D        more flags; of a repeated flag the last one counts
 *     npm start -- -c site.conf      the file decides: none of the flags above are given
 *
 * Signals go to the server, and its exit code is this command's.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { runInForeground } from './foreground.mjs';
import { root } from './workspace.mjs';

const data = join(root, 'data');
const defaults = ['-p', '4222', '-m', '8222', '-js', '-sd', data, '-P', join(data, 'petiole.pid')];

const given = process.argv.slice(2);
const hasConfigFile = given.some((argument) => /^--?(?:c|config)(?:=|$)/.test(argument));

build();
if (!hasConfigFile) mkdirSync(data, { recursive: true });
runInForeground(join(root, 'dist', 'petiole'), hasConfigFile ? given : [...defaults, ...given]);

/** A process of its own: it installs the packages that it then needs. Standard output belongs to the server. */
function build() {
  const built = spawnSync(process.execPath, [join(root, 'tools', 'build.mjs')], { stdio: ['ignore', 2, 2] });
  if (built.error) throw new Error('the build could not be started', { cause: built.error });
  if (built.status !== 0) process.exit(built.status ?? 1);
}
