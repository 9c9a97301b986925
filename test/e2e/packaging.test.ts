/**
 * The one file that petiole is distributed as, under both of its names: it takes the command line as nats-server does
 * (each of those expectations is also held against a nats-server where there is one), needs nothing around it, and is
 * as small as promised.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { absenceIsFailure, isAbsent, natsServer, startServer } from '../helpers/targets.ts';
import type { RunningServer, Target } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';
import { dial } from '../helpers/wire-client.ts';

const root = join(import.meta.dirname, '../..');
const binary = join(root, 'dist/petiole');
const link = join(root, 'dist/nats-server');

const BINARY_BYTES_MAX = 115_000_000;
const COMPRESSED_BYTES_MAX = 30_000_000;

/** Mounting over /tmp for one process alone takes privileges that not everyone has. */
const canMount = spawnSync('unshare', ['-m', 'true']).status === 0;
const hasXz = spawnSync('xz', ['--version']).status === 0;

beforeAll(() => {
  execFileSync('node', [join(root, 'tools/build.mjs')], { stdio: 'pipe' });
});

const reference = natsServer();
const targets: readonly Target[] = [
  ...(isAbsent(reference) ? [] : [reference]),
  { name: 'petiole', version: 'in dist', command: [binary] },
  { name: 'petiole', version: 'in dist, as nats-server', command: [link] },
];

describe.each(targets)('the command line of $name $version', (target) => {
  it('-v prints the version', () => {
    for (const flag of ['-v', '--version', 'version']) {
      expect(run(target, flag)).toEqual({ status: 0, stdout: 'nats-server: v2.15.2\n', stderr: '' });
    }
  });

  it('--help prints the usage', () => {
    for (const flag of ['-h', '--help', 'help']) {
      const { status, stdout, stderr } = run(target, flag);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toMatch(/^\nUsage: nats-server \[options\]\n\nServer Options:\n {4}-a, --addr, --net <host> /);
    }
  });

  it('an unknown flag is named on stderr, then comes the usage', () => {
    const { status, stdout, stderr } = run(target, '-zzz');
    expect({ status, stderr }).toEqual({ status: 0, stderr: 'flag provided but not defined: -zzz\n' });
    expect(stdout).toMatch(/^\nUsage: nats-server/);
  });

  it('an unknown command is refused', () => {
    expect(run(target, 'serve')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'nats-server: unrecognized command: "serve"\n',
    });
  });

  it('-t checks a config file and says where it is wrong', () => {
    const path = join(temporaryDirectory(), 'site.conf');
    writeFileSync(path, 'port: 4333\n');
    expect(run(target, '-t', '-c', path)).toEqual({
      status: 0,
      stdout: '',
      stderr: expect.stringMatching(
        /^nats-server: configuration file \S+site.conf is valid \(sha256:5942f673[0-9a-f]{56}\)\n$/,
      ),
    });
    writeFileSync(path, 'parts: 4333\n');
    expect(run(target, '-t', '-c', path)).toEqual({
      status: 1,
      stdout: '',
      stderr: `nats-server: ${path}:1:0: unknown field "parts"\n\n`,
    });
  });

  it('starts, greets a client, and exits with 0 on TERM', async () => {
    const server = await started(target);
    const client = await dial(server.address());
    const greeting = await until(() => /^INFO (\{.*\}) ?\r\n$/.exec(client.unread.toString())?.[1], 'INFO');
    expect(JSON.parse(greeting)).toMatchObject({
      version: '2.15.2',
      proto: 1,
      headers: true,
      port: server.address().port,
    });
    server.signal('SIGTERM');
    await until(() => server.exited, 'the server to exit');
    expect(server.exitCode).toBe(0);
    expect(server.log).toContain('Trapped "terminated" signal');
  });
});

describe('what nats-server itself does', () => {
  it.skipIf(!absenceIsFailure())('is compared with it', () => {
    expect(reference).not.toHaveProperty('absent');
  });
});

describe('the binary', () => {
  it('is deaf to NODE_OPTIONS', async () => {
    const command = ['env', 'NODE_OPTIONS=--inspect=0 --require=/nonexistent.cjs', binary];
    const server = await started({ name: 'petiole', version: 'with NODE_OPTIONS', command });
    expect(server.log).not.toMatch(/debugger|nonexistent/i);
  });

  it('runs with an empty environment', async () => {
    const command = ['env', '-i', binary];
    const server = await started({ name: 'petiole', version: 'without an environment', command });
    expect(server.ready).toBe(true);
  });

  it.skipIf(!canMount)('runs where nothing may be written to /tmp', async () => {
    // Streams will load the addon from elsewhere (packaging-addon.test.ts); the core needs no place at all.
    // It sees its own folder as /mnt, because that may be inside /tmp.
    const mount = 'mount --bind "$0" /mnt && mount -t tmpfs -o ro none /tmp && exec /mnt/petiole "$@"';
    const command = ['unshare', '-m', 'sh', '-c', mount, dirname(binary)];
    const server = await started({ name: 'petiole', version: 'without /tmp', command });
    expect(server.ready).toBe(true);
  });

  it('writes nothing that Node has to say about itself', async () => {
    const server = await started({ name: 'petiole', version: 'in dist', command: [binary] });
    expect(server.log).not.toMatch(/Warning|node:/);
  });

  it(`has at most ${BINARY_BYTES_MAX} bytes`, () => {
    expect(statSync(binary).size).toBeLessThanOrEqual(BINARY_BYTES_MAX);
    expect(statSync(link).ino).toBe(statSync(binary).ino);
  });

  it.skipIf(process.env['CI'] !== 'true' || !hasXz)(`has at most ${COMPRESSED_BYTES_MAX} bytes as xz`, () => {
    const counted = execFileSync('sh', ['-c', 'xz --stdout --threads=2 "$1" | wc -c', 'sh', binary], {
      encoding: 'utf8',
    });
    expect(Number(counted)).toBeGreaterThan(0);
    expect(Number(counted)).toBeLessThanOrEqual(COMPRESSED_BYTES_MAX);
  });
});

describe('npm start', () => {
  const command = ['node', join(root, 'tools/start.mjs')];

  it('hands on flags and the exit code', () => {
    const target: Target = { name: 'petiole', version: 'by npm start', command };
    expect(run(target, '-v')).toMatchObject({ status: 0, stdout: 'nats-server: v2.15.2\n' });
    expect(run(target, 'serve')).toMatchObject({ status: 1, stdout: '' });
  });

  it('hands on signals, and leaves the ports to a config file', async () => {
    const target: Target = { name: 'petiole', version: 'by npm start', command };
    const server = await started(target, 'max_payload: 2048\n');
    const client = await dial(server.address());
    await until(() => client.unread.includes('"max_payload":2048'), 'INFO');
    expect(server.log).not.toContain('Starting http monitor');
    server.signal('SIGTERM');
    await until(() => server.exited, 'the server to exit');
    expect(server.exitCode).toBe(0);
    expect(server.log).toContain('Trapped "terminated" signal');
  });
});

async function started(target: Target, config?: string): Promise<RunningServer> {
  const server = await startServer(target, { config });
  onTestFinished(() => server.stop());
  return server;
}

function run(
  { command }: Target,
  ...args: readonly string[]
): { status: number | null; stdout: string; stderr: string } {
  const [program = '', ...first] = command;
  const { status, stdout, stderr } = spawnSync(program, [...first, ...args], { encoding: 'utf8', timeout: 20_000 });
  return { status, stdout, stderr };
}
