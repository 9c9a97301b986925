/**
 * `npm start`: from a fresh clone to a running server in one command. Installs and builds what is missing, then runs
 * dist/petiole on port 4222 with monitoring on 8222 and JetStream under ./data.
 *
 *     npm start -- -p 4333 -D        more flags; of a repeated flag the last one counts
 *     npm start -- -c site.conf      the file decides: none of the flags above are given
 *
 * Signals go to the server, and its exit code is this command's.
 */
import { spawn, spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';

import { describe, root } from './workspace.mjs';

const defaults = ['-p', '4222', '-m', '8222', '-js', '-sd', join(root, 'data')];
const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'];

const given = process.argv.slice(2);
const hasConfigFile = given.some((argument) => /^--?(?:c|config)(?:=|$)/.test(argument));

build();
serve(hasConfigFile ? given : [...defaults, ...given]);

/** A process of its own: it installs the packages that it then needs. Standard output belongs to the server. */
function build() {
  const built = spawnSync(process.execPath, [join(root, 'tools', 'build.mjs')], { stdio: ['ignore', 2, 2] });
  if (built.error) throw new Error('the build could not be started', { cause: built.error });
  if (built.status !== 0) process.exit(built.status ?? 1);
}

function serve(args) {
  const server = spawn(join(root, 'dist', 'petiole'), args, { stdio: 'inherit' });
  for (const signal of forwarded) process.on(signal, () => server.kill(signal));
  server.on('error', (error) => {
    process.stderr.write(`${describe(new Error('the server could not be started', { cause: error }))}\n`);
    process.exitCode = 1;
  });
  server.on('exit', (code, signal) => {
    // The shell's convention for a process that a signal ended.
    process.exitCode = code ?? 128 + constants.signals[signal];
    for (const name of forwarded) process.removeAllListeners(name);
  });
}
