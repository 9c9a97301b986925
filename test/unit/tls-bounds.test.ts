/** A TLS port that strangers lean on: handshakes that never end, and bytes that are none. */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startServer } from '../../server/index.ts';
import { TestAuthority } from '../helpers/certificates.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { dialTls } from '../helpers/tls-client.ts';
import { until } from '../helpers/until.ts';
import type { ServerAddress } from '../helpers/wire-client.ts';

const DRIPPING = 1_025;
/** More than go on at a time. */
const HALF_OPEN = 500;
/** The beginning of a ClientHello: a record that announces more than comes. */
const HALF_HELLO = Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]);

interface Site {
  readonly address: ServerAddress;
  readonly authority: TestAuthority;
  readonly log: () => string;
  /** What /metrics answers. */
  readonly metrics: () => Promise<string>;
}

async function start(more = ''): Promise<Site> {
  const directory = temporaryDirectory();
  const authority = new TestAuthority(directory);
  const { certFile, keyFile } = authority.issueServer();
  let log = '';
  const server = await startServer({
    config: `debug: true\ntls { cert_file: "${certFile}", key_file: "${keyFile}", ${more} }`,
    log: (line) => (log += line),
    monitorPort: 0,
  });
  onTestFinished(() => server.close());
  const metrics = async (): Promise<string> => (await fetch(new URL('/metrics', server.monitorUrl ?? ''))).text();
  return { address: { host: server.host, port: server.port }, authority, log: () => log, metrics };
}

function lean({ host, port }: ServerAddress, bytes: Uint8Array): { socket: Socket; isClosed: () => boolean } {
  const socket = connect(port, host);
  let isClosed = false;
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => (isClosed = true));
  socket.on('close', () => (isClosed = true));
  socket.on('data', () => undefined);
  socket.write(bytes);
  return { socket, isClosed: () => isClosed };
}

/** The first that a client sends. */
function hello(): Promise<Buffer> {
  return new Promise((resolve) => {
    const far = new Duplex({
      read: () => undefined,
      write: (bytes: Buffer, _encoding, done) => {
        resolve(bytes);
        done();
      },
    });
    const near = connectTls({ socket: far, servername: 'localhost' });
    onTestFinished(() => void near.destroy());
  });
}

async function login(address: ServerAddress, authority: TestAuthority): Promise<void> {
  const client = await dialTls(address, { authority });
  client.send('CONNECT {"verbose":false}\r\nPING\r\n');
  await client.sees('PONG\r\n');
}

test('clients that do not end their hello keep nobody out, however many, and go when their time is over', async () => {
  const { address, authority } = await start('timeout: 2');
  const strangers = Array.from({ length: DRIPPING }, () => lean(address, HALF_HELLO));
  await login(address, authority);
  expect(strangers.some(({ isClosed }) => isClosed())).toBe(false);
  await until(() => strangers.every(({ isClosed }) => isClosed()), 'all of them to be closed', 10_000);
});

test('a hello that comes in pieces is as good as another', async () => {
  const { address } = await start();
  const whole = await hello();
  const { socket } = lean(address, whole.subarray(0, 3));
  let received = 0;
  socket.on('data', (bytes: Buffer) => (received += bytes.length));
  await until(() => received > 0, 'INFO');
  const info = received;
  for (let at = 3; at < whole.length; at += 50) {
    socket.write(whole.subarray(at, at + 50));
    await delay(1);
  }
  await until(() => received > info, 'the answer to the hello');
  expect(received - info).toBeGreaterThan(100);
});

test('handshakes that never end make room for others before their time is over', async () => {
  const { address, authority, log, metrics } = await start('timeout: 20');
  const bytes = await hello();
  const strangers = Array.from({ length: HALF_OPEN }, () => lean(address, bytes));
  const givenUp = (): number => (log().match(/TLS handshake given up/g) ?? []).length;
  await until(() => givenUp() > 0, 'the first to be given up', 10_000);
  await login(address, authority);
  await until(() => strangers.filter(({ isClosed }) => isClosed()).length >= givenUp(), 'these to be closed');
  expect(givenUp()).toBeLessThan(HALF_OPEN);
  const [, counted] = /^petiole_handshakes_given_up_total\{.*\} (\d+)$/m.exec(await metrics()) ?? [];
  expect(Number(counted)).toBeGreaterThan(0);
  expect(Number(counted)).toBeLessThanOrEqual(givenUp());
});

test('bytes that are no handshake end one connection each, and nothing else', async () => {
  const { address, authority } = await start();
  const early = await dialTls(address, { authority });
  early.send('CONNECT {"verbose":false}\r\nPING\r\n');
  await early.sees('PONG\r\n');
  const strangers = Array.from({ length: 100 }, (_, at) => {
    const noise = randomBytes(1 + at * 7);
    return lean(address, at % 2 === 0 ? noise : Buffer.concat([HALF_HELLO, noise]));
  });
  await until(() => strangers.every(({ isClosed }) => isClosed()), 'all of them to be closed', 10_000);
  early.send('SUB a 1\r\nPUB a 2\r\nhi\r\n');
  await early.sees('MSG a 1 2\r\nhi\r\n');
  expect(early.isClosed).toBe(false);
});
