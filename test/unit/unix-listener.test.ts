/** Clients on a socket of the file system: who may connect, what they are told, and what becomes of the file. */
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startServer } from '../../server/index.ts';
import { TestAuthority } from '../helpers/certificates.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

async function start(config: string): Promise<Awaited<ReturnType<typeof startServer>>> {
  const server = await startServer({ config });
  onTestFinished(() => server.close());
  return server;
}

async function talk(path: string): Promise<{ text: string; socket: Socket }> {
  const socket = connect(path);
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('data', (bytes) => (text += bytes.toString()));
  socket.write('CONNECT {"verbose":false}\r\nSUB a 1\r\nPUB a 2\r\nhi\r\nPING\r\n');
  await until(() => text.includes('PONG\r\n'), 'the answer');
  return { text, socket };
}

test('clients are served there, and only those who may open the file', async () => {
  const path = join(temporaryDirectory(), 'nats.sock');
  const server = await start(`unix: "${path}", unix_mode: "0600"`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect((await talk(path)).text).toMatch(/^INFO \{.*\} \r\nMSG a 1 2\r\nhi\r\nPONG\r\n/);
  await server.close();
  expect(existsSync(path)).toBe(false);
});

test('they are not asked for TLS, whatever the port does', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'nats.sock');
  const { certFile, keyFile } = new TestAuthority(directory).issueServer();
  await start(`unix: "${path}"\ntls { cert_file: "${certFile}", key_file: "${keyFile}" }`);
  expect((await talk(path)).text).not.toContain('tls_');
});

test('credentials are wanted as on the port', async () => {
  const path = join(temporaryDirectory(), 'nats.sock');
  await start(`unix: "${path}", authorization { token: secret }`);
  const socket = connect(path);
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('data', (bytes) => (text += bytes.toString()));
  socket.write('CONNECT {}\r\n');
  await until(() => text.includes(`-ERR 'Authorization Violation'\r\n`), 'the refusal');
  expect(text).toContain('"auth_required":true');
});

test('a file in use is not taken over, and nothing that is no socket is removed', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'nats.sock');
  const first = await start(`unix: "${path}"`);
  await expect(startServer({ config: `unix: "${path}"` })).rejects.toThrow(`Error listening on unix:${path}`);
  expect((await talk(path)).text).toContain('PONG');
  await first.close();
  const other = join(directory, 'file');
  writeFileSync(other, 'mine');
  await expect(startServer({ config: `unix: "${other}"` })).rejects.toThrow(`Error listening on unix:${other}`);
  expect(existsSync(other)).toBe(true);
});

test('a file that a killed server left is taken over', async () => {
  const path = join(temporaryDirectory(), 'nats.sock');
  const dead = createServer().listen(path);
  await until(() => existsSync(path), 'the file');
  // Closing would remove it, as an orderly end does.
  const handle = (dead as unknown as { _handle: { close(): void } })._handle;
  const { spawnSync } = await import('node:child_process');
  spawnSync('mv', [path, `${path}.kept`]);
  handle.close();
  spawnSync('mv', [`${path}.kept`, path]);
  expect(existsSync(path)).toBe(true);
  await start(`unix: "${path}"`);
  expect((await talk(path)).text).toContain('PONG');
});
