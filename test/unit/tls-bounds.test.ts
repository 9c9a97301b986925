/** A TLS port that strangers lean on: handshakes that never end, and bytes that are none. */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startServer } from '../../server/index.ts';
import { TestAuthority } from '../helpers/certificates.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { dialTls } from '../helpers/tls-client.ts';
import { until } from '../helpers/until.ts';
import type { ServerAddress } from '../helpers/wire-client.ts';

/** One more than go on at a time. */
const HALF_OPEN = 1_025;
/** The beginning of a ClientHello: a record that announces more than comes. */
const HALF_HELLO = Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]);

async function start(more = ''): Promise<{ address: ServerAddress; authority: TestAuthority; log: () => string }> {
  const directory = temporaryDirectory();
  const authority = new TestAuthority(directory);
  const { certFile, keyFile } = authority.issueServer();
  let log = '';
  const server = await startServer({
    config: `debug: true\ntls { cert_file: "${certFile}", key_file: "${keyFile}", ${more} }`,
    log: (line) => (log += line),
  });
  onTestFinished(() => server.close());
  return { address: { host: server.host, port: server.port }, authority, log: () => log };
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

test('handshakes that never end are so many and no more, and make room when their time is over', async () => {
  const { address, authority, log } = await start('timeout: 4');
  const strangers = Array.from({ length: HALF_OPEN }, () => lean(address, HALF_HELLO));
  const begun = (): number => (log().match(/Starting TLS client connection handshake/g) ?? []).length;
  await until(() => (log().match(/Client connection created/g) ?? []).length === HALF_OPEN, 'all of them');
  expect(begun()).toBe(HALF_OPEN - 1);
  const client = await dialTls(address, { authority });
  client.send('CONNECT {"verbose":false}\r\nPING\r\n');
  await client.sees('PONG\r\n');
  await until(() => strangers.every(({ isClosed }) => isClosed()), 'all of them to be closed', 10_000);
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
