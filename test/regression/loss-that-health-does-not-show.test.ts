/** A start that found the newest part of its log gone, or some of it damaged, said so in the log and called itself healthy. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { clientOf, page, serve } from '../helpers/describe-targets.ts';
import { isAbsent, petiole, type RunningServer, type Target } from '../helpers/targets.ts';
import { makeTemporaryDirectory } from '../helpers/temporary-directory.ts';

const GONE = 'the commit log is gone: what was stored last may be lost';
const HEALTHY = { status: 200, body: { status: 'ok' } };
const MESSAGES = 50;

test('a log that is gone shows in /healthz, until the next start', async () => {
  const { config, log } = await filledStore('SIGTERM');
  for (const name of readdirSync(log)) rmSync(join(log, name));
  const server = await serve(present(), config);
  expect(server.log).toContain(`[ERR] ${GONE}`);
  await showsLoss(server, GONE);
  await server.stop();
  expect(await page(await serve(present(), config), '/healthz')).toEqual(HEALTHY);
});

test('damage in the midst of the log shows in /healthz, until the next start', async () => {
  const { config, log } = await filledStore('SIGKILL');
  const [name = ''] = readdirSync(log);
  const path = join(log, name);
  const bytes = readFileSync(path);
  const written = bytes.findLastIndex((byte) => byte !== 0);
  // Behind the header, and before the last of the batches.
  const at = Math.floor(written * 0.75);
  bytes.fill(0xff, at, at + 40);
  writeFileSync(path, bytes);
  const server = await serve(present(), config);
  const [loss = ''] = /\d+ bytes of the commit log are damaged; .*/.exec(server.log) ?? [];
  expect(loss).not.toBe('');
  await showsLoss(server, loss);
  await server.stop();
  expect(await page(await serve(present(), config), '/healthz')).toEqual(HEALTHY);
});

async function showsLoss(server: RunningServer, loss: string): Promise<void> {
  const error = `JetStream lost messages: ${loss}`;
  const short = { status: 503, body: { status: 'unavailable', error } };
  expect(await page(server, '/healthz')).toEqual(short);
  expect(await page(server, '/healthz?account=$G&stream=S')).toEqual(short);
  const detailed = { status: 'error', errors: [{ type: 'JETSTREAM', error }] };
  expect(await page(server, '/healthz?details=1')).toEqual({ status: 503, body: detailed });
  // It is there and works: what asks no more than that is answered well.
  for (const asked of ['js-enabled-only', 'js-server-only']) {
    expect(await page(server, `/healthz?${asked}=1`)).toEqual(HEALTHY);
  }
}

/** A store with a stream and messages, each in a batch of its own, that no server uses any more. */
async function filledStore(end: 'SIGTERM' | 'SIGKILL'): Promise<{ config: string; log: string }> {
  const folder = makeTemporaryDirectory();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const config = `http: "127.0.0.1:-1"\njetstream { store_dir: "${folder}" }`;
  const server = await serve(present(), config);
  const client = await clientOf(server);
  const stream = '{"name":"S","subjects":["s"]}';
  client.send(`SUB R 1\r\nPUB $JS.API.STREAM.CREATE.S R ${stream.length}\r\n${stream}\r\n`);
  const answered = async (): Promise<void> => {
    expect(await client.line()).toMatch(/^MSG R 1 /);
    await client.line();
  };
  await answered();
  for (let i = 0; i < MESSAGES; i++) {
    client.send('PUB s R 5\r\nhello\r\n');
    await answered();
  }
  if (end === 'SIGKILL') server.signal(end);
  await server.stop();
  return { config, log: join(folder, 'petiole/log') };
}

function present(): Target {
  const target = petiole();
  if (isAbsent(target)) throw new Error(target.absent);
  return target;
}
