/** The SQLite addon inside a single executable: unpacked where it may be, loaded, and found again. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

const root = join(import.meta.dirname, '../..');
const dist = join(root, 'dist');
const uid = process.geteuid?.() ?? -1;
/** Mounting over /tmp for one process alone takes privileges that not everyone has. */
const canMount = spawnSync('unshare', ['-m', 'true']).status === 0;

interface Answer {
  readonly answer?: number;
  readonly code?: string;
  readonly tried?: { readonly place: string; readonly reason: string }[];
}

let folder: string;
let executable: string;

beforeAll(() => {
  // In dist and not in /tmp: some tests take /tmp away.
  mkdirSync(dist, { recursive: true });
  folder = mkdtempSync(join(dist, 'packaging-addon-'));
  executable = join(folder, 'petiole');
  const entry = join(import.meta.dirname, 'packaging-addon-entry.ts');
  execFileSync('node', [join(root, 'tools/build.mjs'), '--entry', entry, '--out', folder], { stdio: 'pipe' });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the addon in the executable', () => {
  it('is unpacked into the store directory, once', () => {
    const store = makeStore();
    expect(run([executable, store])).toEqual({ answer: 42 });
    const unpacked = join(store, `petiole-addon-${uid}`);
    const [name = ''] = readdirSync(unpacked);
    const first = statSync(join(unpacked, name));
    expect(run([executable, store])).toEqual({ answer: 42 });
    expect(readdirSync(unpacked)).toEqual([name]);
    expect(statSync(join(unpacked, name)).mtimeMs).toBe(first.mtimeMs);
  });

  it('is loaded with an empty environment', () => {
    expect(run([executable, makeStore()], {})).toEqual({ answer: 42 });
  });

  it('goes to the runtime directory when the store directory does not serve', () => {
    const runtime = makeStore();
    expect(run([executable, '/proc'], { XDG_RUNTIME_DIR: runtime })).toEqual({ answer: 42 });
    expect(readdirSync(runtime)).toEqual([`petiole-addon-${uid}`]);
  });

  it.skipIf(!canMount)('needs neither /tmp nor /dev/shm to be writable', () => {
    const mounts = 'mount -t tmpfs -o ro none /tmp && mount -t tmpfs -o ro none /dev/shm';
    expect(run(mounted(mounts, [executable, makeStore()]))).toEqual({ answer: 42 });
  });

  it.skipIf(!canMount)('passes over a place that is mounted noexec', () => {
    const mounts = 'mount -t tmpfs -o noexec none /dev/shm && mount -t tmpfs none /tmp';
    expect(run(mounted(mounts, [executable]))).toEqual({ answer: 42 });
  });

  it.skipIf(!canMount)('says where it tried and why, when no place serves', () => {
    const mounts = 'mount -t tmpfs -o noexec none /dev/shm && mount -t tmpfs -o ro none /tmp';
    const { code, tried = [] } = run(mounted(mounts, [executable, '/proc']), {});
    expect(code).toBe('ADDON_NOT_LOADED');
    expect(tried.map(({ place }) => place)).toEqual(['/proc', '/dev/shm', '/tmp']);
    expect(tried[1]?.reason).toMatch(/failed to map segment/);
    expect(tried[2]?.reason).toMatch(/EROFS/);
  });
});

function makeStore(): string {
  const store = mkdtempSync(join(folder, 'store-'));
  onTestFinished(() => rmSync(store, { recursive: true, force: true }));
  return store;
}

/** The command in a mount namespace of its own, after these mounts. */
function mounted(mounts: string, command: readonly string[]): string[] {
  return ['unshare', '-m', 'sh', '-c', `${mounts} && exec "$@"`, 'sh', ...command];
}

function run([program = '', ...args]: readonly string[], environment?: Record<string, string>): Answer {
  // The search path is for `unshare`: an empty one finds nothing.
  const path = program === 'unshare' ? { PATH: process.env['PATH'] } : {};
  const env = environment === undefined ? process.env : { ...path, ...environment };
  return JSON.parse(execFileSync(program, args, { env, encoding: 'utf8' })) as Answer;
}
