/**
 * A control group with little memory, for one server: the kernel ends a process in it that needs more (and counts that),
 * and takes back the page cache of its files first. Version 1 of control groups and version 2 do the same under other
 * names.
 *
 * The command that is run inside joins the group by itself and then becomes the server, so whoever starts it, a tracer
 * for example, stays outside.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../helpers/until.ts';

interface Layout {
  readonly root: string;
  readonly limit: string;
  readonly events: string;
}

const VERSION_1: Layout = {
  root: '/sys/fs/cgroup/memory',
  limit: 'memory.limit_in_bytes',
  events: 'memory.oom_control',
};
const VERSION_2: Layout = { root: '/sys/fs/cgroup', limit: 'memory.max', events: 'memory.events' };

/** The processes of the group; the kernel lets a process write its own id into it. */
const MEMBERS = 'cgroup.procs';
const PROBE_BYTES = 64 * 1024 * 1024;

let nextNumber = 1;

export class MemoryGroup {
  readonly #layout: Layout;
  readonly #directory: string;

  /** Makes a group without members, limited to so many bytes. */
  constructor(bytes: number) {
    this.#layout = layout();
    this.#directory = join(this.#layout.root, `petiole-test-${process.pid}-${nextNumber++}`);
    mkdirSync(this.#directory);
    writeFileSync(this.#file(this.#layout.limit), String(bytes));
  }

  /** The command that runs `command` as the only member. */
  around(command: readonly string[]): readonly string[] {
    return ['sh', '-c', 'echo $$ > "$0" && exec "$@"', this.#file(MEMBERS), ...command];
  }

  /** How often the kernel ended a process of the group because its memory did not suffice. */
  get outOfMemory(): number {
    const [, count] = /^oom_kill (\d+)$/m.exec(readFileSync(this.#file(this.#layout.events), 'utf8')) ?? [];
    if (count === undefined) throw new Error('this kernel does not count who ran out of memory');
    return Number(count);
  }

  /** Removes the group once its members are gone, which may take the kernel a moment after they ended. */
  async remove(): Promise<void> {
    await until(() => removed(this.#directory), 'the control group to be empty');
  }

  #file(name: string): string {
    return join(this.#directory, name);
  }
}

/** Why memory can't be limited here; `null` when it can. */
export async function memoryGroupAbsence(): Promise<string | null> {
  try {
    const group = new MemoryGroup(PROBE_BYTES);
    await group.remove();
    return null;
  } catch (error) {
    return `no control group can be made: ${(error as Error).message}`;
  }
}

/** Whether the group could be removed: not while something is in it. */
function removed(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EBUSY') return false;
    throw error;
  }
}

function layout(): Layout {
  return existsSync(join(VERSION_1.root, VERSION_1.limit)) ? VERSION_1 : VERSION_2;
}
