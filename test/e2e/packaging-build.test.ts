/** What `npm run build` promises: the same bytes each time, names replaced on request, nothing done twice. */
import { fork, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, readlinkSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';

const tools = join(import.meta.dirname, '../../tools');

describe('the bundle', () => {
  it('holds the value of a defined name, and not the branch that it excludes', () => {
    const out = temporaryDirectory();
    const entry = program(out, "console.log(typeof PETIOLE_PROBE === 'undefined' ? 'absent' : PETIOLE_PROBE);");
    build('--entry', entry, '--out', out, '--bundle-only');
    expect(readFileSync(join(out, 'petiole.cjs'), 'utf8')).toContain('absent');
    build('--entry', entry, '--out', out, '--bundle-only', '--define', 'PETIOLE_PROBE="present"');
    const bundle = readFileSync(join(out, 'petiole.cjs'), 'utf8');
    expect(bundle).toContain('present');
    expect(bundle).not.toContain('absent');
    expect(existsSync(join(out, 'petiole'))).toBe(false);
  });

  it('keeps the names of functions in stack traces, and lines that can be read', () => {
    const out = temporaryDirectory();
    const filler = Array.from({ length: 200 }, (_, index) => `console.log(${index});`).join('');
    const entry = program(out, `${filler} function deepInside() { throw new Error('lost'); } deepInside();`);
    build('--entry', entry, '--out', out, '--bundle-only');
    const { stderr } = spawnSync('node', [join(out, 'petiole.cjs')], { encoding: 'utf8' });
    expect(stderr).toContain('at deepInside');
    expect(Math.max(...stderr.split('\n').map((line) => line.length))).toBeLessThan(300);
  });

  it.each([
    ['without JetStream', ['server_name: edge'], ['zlib']],
    ['with JetStream', ['server_name: edge', 'jetstream: { store_dir: STORE }'], []],
  ])('loads nothing at a start %s that few need and that takes as long as all the rest', async (_, lines, more) => {
    const out = temporaryDirectory();
    build('--out', out, '--bundle-only');
    const config = join(out, 'site.conf');
    writeFileSync(config, lines.join('\n').replace('STORE', JSON.stringify(join(out, 'data'))));
    const modules = await modulesLoaded(join(out, 'petiole.cjs'), ['-a', '127.0.0.1', '-p', '-1', '-c', config]);
    expect(modules).toContain('NativeModule net');
    const late = ['crypto', 'worker_threads', 'tls', 'https', ...more].map((name) => `NativeModule ${name}`);
    expect(late.filter((name) => modules.includes(name))).toEqual([]);
  });

  it('fails on what the bundler warns of', () => {
    const out = temporaryDirectory();
    const entry = program(out, 'console.log({ same: 1, same: 2 });');
    const result = tryBuild('--entry', entry, '--out', out, '--bundle-only');
    expect(result.status).toBe(1);
    expect(result.stderr).toMatch(/Build failed: the bundler gave/);
  });

  it('is refused with a word on what is wrong', () => {
    expect(tryBuild('--define', 'NONSENSE').stderr).toContain('--define wants NAME=VALUE, not "NONSENSE"');
    expect(tryBuild('--nonsense').status).toBe(1);
  });
});

describe('the executable', () => {
  it('has the same bytes each time, is not made twice, and is made again when it was changed', () => {
    const [first, second] = [temporaryDirectory(), temporaryDirectory()];
    const entry = program(first, "console.log('here');");
    build('--entry', entry, '--out', first);
    build('--entry', entry, '--out', second);
    expect(digestOf(join(second, 'petiole'))).toBe(digestOf(join(first, 'petiole')));
    expect(readlinkSync(join(first, 'nats-server'))).toBe('petiole');

    const made = statSync(join(first, 'petiole'));
    expect(build('--entry', entry, '--out', first)).toMatch(/petiole: .* MB \(unchanged\)/);
    expect(statSync(join(first, 'petiole')).ino).toBe(made.ino);

    utimesSync(join(first, 'petiole'), 0, 0);
    expect(build('--entry', entry, '--out', first)).toMatch(/petiole: .* MB\n/);
    expect(statSync(join(first, 'petiole')).mtimeMs).toBeGreaterThan(0);
  });
});

function program(folder: string, source: string): string {
  const path = join(folder, 'probe.ts');
  writeFileSync(path, source);
  return path;
}

function build(...args: readonly string[]): string {
  const { status, stdout, stderr } = tryBuild(...args);
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

function tryBuild(...args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync('node', [join(tools, 'build.mjs'), ...args], { encoding: 'utf8' });
}

/** The modules of the runtime that a server has loaded when it is ready. */
async function modulesLoaded(bundle: string, args: readonly string[]): Promise<string[]> {
  const preload = join(temporaryDirectory(), 'preload.cjs');
  writeFileSync(preload, "process.on('message', () => process.send(process.moduleLoadList));");
  const server = fork(bundle, args, {
    execArgv: ['--require', preload],
    // Outside the executable the SQLite addon is the one that npm installed.
    env: { ...process.env, NODE_PATH: join(tools, '../node_modules') },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let log = '';
  server.stderr?.on('data', (data: Buffer) => (log += data.toString()));
  await expect.poll(() => log, { timeout: 15_000 }).toContain('Server is ready');
  server.send('which');
  const [modules] = (await once(server, 'message')) as [string[]];
  server.kill();
  await once(server, 'exit');
  return modules;
}

function digestOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
