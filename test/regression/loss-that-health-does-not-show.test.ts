/** A start that found the newest part of its log gone said so in the log, and called itself healthy. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { clientOf, page, serve } from '../helpers/describe-targets.ts';
import { isAbsent, petiole, type Target } from '../helpers/targets.ts';
import { makeTemporaryDirectory } from '../helpers/temporary-directory.ts';

const LOSS = 'the commit log is gone: what was stored last may be lost';

test('a log that is gone shows in /healthz, until the next start', async () => {
  const folder = makeTemporaryDirectory();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const config = `http: "127.0.0.1:-1"\njetstream { store_dir: "${folder}" }`;
  const first = await serve(present(), config);
  const client = await clientOf(first);
  const stream = '{"name":"S","subjects":["s"]}';
  client.send(`SUB R 1\r\nPUB $JS.API.STREAM.CREATE.S R ${stream.length}\r\n${stream}\r\n`);
  expect(await client.line()).toMatch(/^MSG R 1 /);
  await first.stop();
  const log = join(folder, 'petiole/log');
  for (const name of readdirSync(log)) rmSync(join(log, name));

  const second = await serve(present(), config);
  expect(second.log).toContain(`[ERR] ${LOSS}`);
  const error = `JetStream lost messages: ${LOSS}`;
  const short = { status: 503, body: { status: 'unavailable', error } };
  expect(await page(second, '/healthz')).toEqual(short);
  expect(await page(second, '/healthz?account=$G&stream=S')).toEqual(short);
  const detailed = { status: 'error', errors: [{ type: 'JETSTREAM', error }] };
  expect(await page(second, '/healthz?details=1')).toEqual({ status: 503, body: detailed });
  // It is there and works: what asks no more than that is answered well.
  for (const asked of ['js-enabled-only', 'js-server-only']) {
    expect(await page(second, `/healthz?${asked}=1`)).toEqual({ status: 200, body: { status: 'ok' } });
  }
  await second.stop();

  expect(await page(await serve(present(), config), '/healthz')).toEqual({ status: 200, body: { status: 'ok' } });
});

function present(): Target {
  const target = petiole();
  if (isAbsent(target)) throw new Error(target.absent);
  return target;
}
