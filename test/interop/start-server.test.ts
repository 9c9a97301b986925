import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, wsconnect } from '@nats-io/transport-node';
import { expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { type RunningServer, startServer, type StartServerOptions } from '../../server/entry.mjs';
import type { startServer as implemented } from '../../server/index.ts';
import { freePort } from '../helpers/free-port.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';

const ROOT = join(import.meta.dirname, '../..');

async function start(options?: StartServerOptions): Promise<RunningServer> {
  const server = await startServer(options);
  onTestFinished(() => server.close());
  return server;
}

async function publish(server: RunningServer): Promise<number> {
  const connection = await connect({ servers: server.url });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: 'READINGS', subjects: ['reading.>'] });
  const { seq } = await jetstream(connection).publish('reading.1', 'warm');
  await connection.close();
  return seq;
}

test('two servers in one process know nothing of each other', async () => {
  const [first, second] = await Promise.all([start(), start()]);
  expect(first.port).not.toBe(second.port);
  const publisher = await connect({ servers: first.url });
  const here = await connect({ servers: first.url });
  const there = await connect({ servers: second.url });
  const heard: string[] = [];
  here.subscribe('greeting', { callback: () => void heard.push('here') });
  there.subscribe('greeting', { callback: () => void heard.push('there') });
  await Promise.all([here.flush(), there.flush()]);
  publisher.publish('greeting');
  await publisher.flush();
  await Promise.all([here.flush(), there.flush()]);
  expect(heard).toEqual(['here']);
  await Promise.all([publisher.close(), here.close(), there.close()]);
});

test('WebSocket, where its port is configured', async () => {
  const { webSocketUrl } = await start({ config: 'websocket { listen: "127.0.0.1:-1", no_tls: true }' });
  const connection = await wsconnect({ servers: webSocketUrl ?? '' });
  await connection.flush();
  await connection.close();
  expect((await start()).webSocketUrl).toBeNull();
});

test('JetStream in a temporary folder, which goes with the server', async () => {
  const before = new Set(readdirSync(tmpdir()));
  const server = await startServer({ jetstream: true });
  expect(await publish(server)).toBe(1);
  await server.close();
  const left = readdirSync(tmpdir()).filter((name) => name.startsWith('petiole-') && !before.has(name));
  expect(left.filter((name) => /^petiole-[0-9a-f]{16}$/.test(name))).toEqual([]);
});

test('JetStream in a folder of its own, where another server finds it again', async () => {
  const folder = temporaryDirectory();
  const first = await startServer({ jetstream: folder });
  expect(await publish(first)).toBe(1);
  await first.close();
  const second = await start({ jetstream: folder });
  expect(await publish(second)).toBe(2);
  expect(existsSync(`${folder}/petiole`)).toBe(true);
});

test('monitoring, configuration and log', async () => {
  const lines: string[] = [];
  const server = await start({
    monitorPort: 0,
    config: 'server_name: inside, port: 4222, authorization { token: s3cr3t }',
    log: (line) => lines.push(line),
  });
  expect(server.port).not.toBe(4222);
  const varz = (await (await fetch(`${server.monitorUrl}/varz`)).json()) as { server_name: string };
  expect(varz.server_name).toBe('inside');
  await expect(connect({ servers: server.url, reconnect: false })).rejects.toThrow('Authorization Violation');
  const connection = await connect({ servers: server.url, token: 's3cr3t' });
  await connection.close();
  expect(lines.join('')).toContain('Server is ready\n');
});

test('what is wrong is said', async () => {
  await expect(startServer({ config: 'port: 4222\nhost: [1, 2]' })).rejects.toThrow(/startServer\.conf:2:\d+: /);
  const server = await start();
  await expect(startServer({ port: server.port })).rejects.toThrow('bind: address already in use');
  await expect(startServer({ jetstream: '/proc/nowhere' })).rejects.toThrow("Can't start JetStream: ");
});

/** What can be in the way of a start, in the order in which it comes. */
const STEPS = ['monitor', 'websocket', 'leafnodes', 'client', 'unix'] as const;

test.each(STEPS)('a start that finds no place for %s leaves nothing behind', async (taken) => {
  const folder = temporaryDirectory();
  const before = new Set(readdirSync(tmpdir()));
  const ports = { monitor: await freePort(), websocket: await freePort(), leafnodes: await freePort() };
  const port = await freePort();
  const path = join(folder, 'socket');
  const options = {
    port,
    monitorPort: ports.monitor,
    config: [
      `websocket { listen: "127.0.0.1:${ports.websocket}", no_tls: true }`,
      `leafnodes { listen: "127.0.0.1:${ports.leafnodes}" }`,
      `unix: "${path}"`,
    ].join('\n'),
  };
  const other = createServer();
  other.listen(taken === 'unix' ? path : { host: '127.0.0.1', port: { client: port, ...ports }[taken] });
  await once(other, 'listening');
  await expect(startServer({ ...options, jetstream: true })).rejects.toThrow(/address already in use|EADDRINUSE/);
  const left = readdirSync(tmpdir()).filter((name) => /^petiole-[0-9a-f]{16}$/.test(name) && !before.has(name));
  expect(left).toEqual([]);
  await expect(startServer({ ...options, jetstream: folder })).rejects.toThrow(/address already in use|EADDRINUSE/);
  other.close();
  await once(other, 'close');
  const server = await start({ ...options, jetstream: folder });
  expect(await publish(server)).toBe(1);
});

test('a process whose only server could not start ends by itself', () => {
  const entry = join(ROOT, 'server/entry.mjs');
  const text = `
    import { startServer } from ${JSON.stringify(entry)};
    const config = 'leafnodes { listen: "127.0.0.1:-1" }, websocket { listen: "127.0.0.1:-1", no_tls: true }';
    for (const options of [{ port: 99_999, jetstream: true }, { jetstream: '/proc/nowhere' }]) {
      await startServer({ ...options, config }).catch(({ message }) => console.log(message));
    }`;
  const flags = ['--input-type=module', '--eval', text];
  const { stdout, status } = spawnSync(process.execPath, flags, { encoding: 'utf8', timeout: 20_000 });
  expect(stdout).toMatch(/^Error listening on port: .*\nCan't start JetStream: .*\n$/);
  expect(status).toBe(0);
});

test('closing twice is closing once', async () => {
  const server = await startServer();
  await Promise.all([server.close(), server.close()]);
  await expect(connect({ servers: server.url, reconnect: false })).rejects.toThrow('connection refused');
});

test('a strict TypeScript program needs no settings for the types', () => {
  const folder = temporaryDirectory();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules/petiole'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(
    join(folder, 'program.ts'),
    `import { startServer, type RunningServer } from 'petiole';
     const server: RunningServer = await startServer({ port: 0 });
     // @ts-expect-error a port is a number
     await startServer({ port: '4222' });
     await server.close();`,
  );
  const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--types', '', 'program.ts'];
  const compiled = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), flags, { cwd: folder, encoding: 'utf8' });
  expect({ status: compiled.status, stdout: compiled.stdout }).toEqual({ status: 0, stdout: '' });
  // What is declared by hand is what is there.
  expectTypeOf(startServer).toEqualTypeOf<typeof implemented>();
});

test('a port that there is not', async () => {
  await expect(startServer({ port: 99_999 })).rejects.toThrow(
    'Error listening on port: 127.0.0.1:99999, "listen tcp: address 99999: invalid port"',
  );
  await expect(startServer({ monitorPort: -5 })).rejects.toThrow(
    "Can't start monitoring: can't listen to the monitor port: listen tcp: address -5: invalid port",
  );
});

test.each([
  [
    { jetsteam: true },
    'startServer has no option "jetsteam"; its options are host, port, monitorPort, jetstream, config, log',
  ],
  [
    { toString: 1 },
    'startServer has no option "toString"; its options are host, port, monitorPort, jetstream, config, log',
  ],
  [{ jetstream: 5 }, 'the option jetstream of startServer takes true, false or the path of a folder, and got 5'],
  [{ jetstream: '' }, 'the option jetstream of startServer takes true, false or the path of a folder, and got ""'],
  [{ log: 'x' }, 'the option log of startServer takes a function, and got "x"'],
  [{ port: '4222' }, 'the option port of startServer takes an integer, and got "4222"'],
  [{ port: 1.5 }, 'the option port of startServer takes an integer, and got 1.5'],
  [{ monitorPort: null }, 'the option monitorPort of startServer takes an integer, and got null'],
  [{ host: ['::1'] }, 'the option host of startServer takes a string, and got a value of type object'],
  [{ config: () => '' }, 'the option config of startServer takes a string, and got a value of type function'],
  [4222, 'startServer takes an object with options, and got 4222'],
  [null, 'startServer takes an object with options, and got null'],
])('a program without types hears which option is wrong: %o', async (options, message) => {
  await expect(startServer(options as StartServerOptions)).rejects.toThrow(new TypeError(message));
});

test('an option that is undefined is not given', async () => {
  const options = { host: undefined, port: undefined, monitorPort: undefined, jetstream: undefined, log: undefined };
  const server = await start(options as unknown as StartServerOptions);
  expect(server.host).toBe('127.0.0.1');
  expect(server.monitorUrl).toBeNull();
});
