/**
 * The working copy that the commands of the README run in: where it is, whether its packages are installed, and which
 * Node to use. Everything here runs under the Node that a fresh clone finds (20 or later), before anything is
 * installed, and therefore imports nothing but Node's own modules.
 *
 * - Packages are stale when what npm recorded about its last installation differs from package-lock.json. Optional
 *   packages count only where both have them: npm leaves those of other platforms out.
 * - The runtime is Node 24: the copy that npm installed, or else the Node running this if it is a 24 itself.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const binaries = join(root, 'node_modules', '.bin');
const runtimeMajor = 24;

/** Errors only: npm warns of packages that want another Node than the one it runs on, which is not the one used here. */
const installFlags = [
  '--include=dev',
  '--include=optional',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
];

/** Installs the packages unless those of package-lock.json are there. npm's output goes to standard error. */
export function install() {
  if (!isStale()) return;
  process.stderr.write('Installing packages (npm ci)\n');
  // Not from node_modules/.bin: npm would be run by the very Node it is about to replace.
  const env = {
    ...process.env,
    PATH: searchPath()
      .filter((folder) => folder !== binaries)
      .join(delimiter),
  };
  const npm = spawnSync('npm', ['ci', ...installFlags], { cwd: root, env, stdio: ['ignore', 2, 2] });
  if (npm.error) throw new Error('npm could not be started', { cause: npm.error });
  if (npm.status !== 0) throw new Error(`npm ci failed with exit code ${npm.status ?? npm.signal}`);
}

/** The path of Node 24. */
export function runtime() {
  const installed = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
  if (existsSync(installed)) return installed;
  if (process.versions.node.startsWith(`${runtimeMajor}.`)) return process.execPath;
  throw new Error(
    `petiole needs Node ${runtimeMajor}: npm has no node-${process.platform}-${process.arch} in node_modules, ` +
      `and this is Node ${process.versions.node}. Run the command with Node ${runtimeMajor}.`,
  );
}

/** The environment in which the tools of node_modules run: they come first, and their `node` is Node 24. */
export function toolEnvironment() {
  return { ...process.env, PATH: [binaries, dirname(runtime()), ...searchPath()].join(delimiter) };
}

/** The message of an error with those of its causes. */
export function describe(error) {
  return error.cause ? `${error.message}: ${describe(error.cause)}` : error.message;
}

function isStale() {
  const recordPath = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(recordPath)) return true;
  const wanted = packagesOf(join(root, 'package-lock.json'));
  const present = packagesOf(recordPath);
  return Object.entries(wanted).some(([path, entry]) => {
    if (path === '') return false;
    const found = present[path];
    return found === undefined ? !entry.optional : found.integrity !== entry.integrity;
  });
}

function packagesOf(lockPath) {
  return JSON.parse(readFileSync(lockPath, 'utf8')).packages;
}

function searchPath() {
  return (process.env.PATH ?? '').split(delimiter);
}
