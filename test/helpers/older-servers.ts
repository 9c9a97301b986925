/**
 * Older versions of nats-server, for what has to work with hubs and leaves that are not of today: looked for in
 * `~/.cache/petiole/nats-server-VERSION/nats-server`, of each line the newest that is found.
 */
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { AbsentTarget, Target } from './targets.ts';

const LINES: readonly string[] = ['2.12', '2.10'];
const CACHE: string = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'petiole');

/** One server of each line, or why there is none. */
export function olderServers(): (Target | AbsentTarget)[] {
  return LINES.map((line) => {
    const versions = installedOf(line);
    const version = versions.at(-1);
    if (version === undefined) {
      return { name: 'nats-server', absent: `no nats-server ${line} in ${CACHE}/nats-server-${line}.N` };
    }
    return { name: 'nats-server', version, command: [programOf(version)] };
  });
}

/** Versions of the line, oldest first. */
function installedOf(line: string): string[] {
  const names = existsSync(CACHE) ? readdirSync(CACHE) : [];
  return names
    .filter((name) => name.startsWith(`nats-server-${line}.`))
    .map((name) => name.slice('nats-server-'.length))
    .filter((version) => existsSync(programOf(version)))
    .toSorted((a, b) => patchOf(a) - patchOf(b));
}

function programOf(version: string): string {
  return join(CACHE, `nats-server-${version}`, 'nats-server');
}

function patchOf(version: string): number {
  return Number(version.split('.')[2]);
}
