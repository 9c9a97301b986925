/** The SQLite addon inside a single executable: unpacked where it may be, loaded, and found again. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

const root = join(import.meta.dirname, '../..');
const dist = join(root, 'dist');
const uid = process.geteuid?.() ?? -1;
/** Mounting over /tmp for one process alone takes privileges that not everyone has. */
const canMount = spawnSync('unshare', ['-m', 'true']).status === 0;

interface Answer {
  readonly answer?: number;
  readonly heavy?: readonly string[];
  readonly code?: string;
  readonly tried?: { readonly place: string; readonly reason: string }[];
}

/** The answer of an addon that was loaded without what takes long to load itself. */
const loaded: Answer = { answer: 42, heavy: [] };

let folder: string;
let executable: string;

beforeAll(() => {
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
    expect(run([executable, store])).toEqual(loaded);
    const unpacked = join(store, `petiole-addon-${uid}`);
    const [name = ''] = readdirSync(unpacked);
    const first = statSync(join(unpacked, name));
    expect(run([executable, store])).toEqual(loaded);
    expect(readdirSync(unpacked)).toEqual([name]);
    expect(statSync(join(unpacked, name)).mtimeMs).toBe(first.mtimeMs);
  });

  it('is unpacked under the digest of its bytes', () => {
    const store = makeStore();
    run([executable, store]);
    const unpacked = join(store, `petiole-addon-${uid}`);
    const digests = readdirSync(unpacked).map((name) => {
      return createHash('sha256')
        .update(readFileSync(join(unpacked, name)))
        .digest('hex');
    });
    expect(readdirSync(unpacked)).toEqual(digests.map((digest) => `better-sqlite3-${digest}.node`));
    expect(digests).toHaveLength(1);
  });

  it('is loaded with an empty environment', () => {
    expect(run([executable, makeStore()], {})).toEqual(loaded);
  });

  it('goes to the runtime directory when the store directory does not serve', () => {
    const runtime = makeStore();
    expect(run([executable, '/proc'], { XDG_RUNTIME_DIR: runtime })).toEqual(loaded);
    expect(readdirSync(runtime)).toEqual([`petiole-addon-${uid}`]);
  });

  it.skipIf(!canMount)('needs neither /tmp nor /dev/shm to be writable', () => {
    const store = makeStore();
    expect(runMounted({ '/tmp': 'ro', '/dev/shm': 'ro' }, join('/mnt', basename(store)))).toEqual(loaded);
    expect(readdirSync(store)).toEqual([`petiole-addon-${uid}`]);
  });

  it.skipIf(!canMount)('passes over a place that is mounted noexec', () => {
    expect(runMounted({ '/dev/shm': 'noexec', '/tmp': 'exec' })).toEqual(loaded);
  });

  it.skipIf(!canMount)('says where it tried and why, when no place serves', () => {
    const { code, tried = [] } = runMounted({ '/dev/shm': 'noexec', '/tmp': 'ro' }, '/proc');
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

/**
 * The executable's answer where these folders, for it alone, are empty file systems mounted with these options. It
 * sees its own folder as /mnt, because that may be inside one of them.
 */
function runMounted(mounts: Readonly<Record<string, string>>, ...args: readonly string[]): Answer {
  const steps = [
    'mount --bind "$0" /mnt',
    ...Object.entries(mounts).map(([place, options]) => `mount -t tmpfs -o ${options} none ${place}`),
    'exec /mnt/petiole "$@"',
  ];
  return run(['unshare', '-m', 'sh', '-c', steps.join(' && '), folder, ...args], { PATH: process.env['PATH'] });
}

function run([program = '', ...args]: readonly string[], env: NodeJS.ProcessEnv = process.env): Answer {
  return JSON.parse(execFileSync(program, args, { env, encoding: 'utf8' })) as Answer;
}
