/** The targets themselves, tried on whichever of them this machine has. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../helpers/free-port.ts';
import { isAbsent, natsServer, petiole, startRefused, startServer } from '../helpers/targets.ts';
import type { RunningServer, StartOptions, Target } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';
import { dial } from '../helpers/wire-client.ts';

const targets = [natsServer(), petiole()].filter((target): target is Target => !isAbsent(target));

describe.each(targets)('$name $version', (target) => {
  test('starts where it is told to', async () => {
    const port = await freePort();
    const server = await start(target, { flags: ['-p', String(port)] });
    expect(server.address()).toEqual({ host: '127.0.0.1', port });
    const client = await dial(server.address());
    expect(await client.line()).toMatch(/^INFO \{/);
    await client.close();
  });

  test('two at once have ports and processes of their own', async () => {
    const [a, b] = await Promise.all([start(target), start(target)]);
    expect(a.address().port).not.toBe(b.address().port);
    expect(a.pid).not.toBe(b.pid);
  });

  test('is gone when it has been stopped', async () => {
    const server = await start(target);
    await server.stop();
    expect(server.exited).toBe(true);
    await expect(dial(server.address())).rejects.toThrow('ECONNREFUSED');
  });

  test('takes flags: the pid file names its process', async () => {
    const path = join(temporaryDirectory(), 'server.pid');
    const server = await start(target, { flags: ['-P', path] });
    expect(readFileSync(path, 'utf8')).toBe(String(server.pid));
  });

  test('a config that it refuses is reported with its words', async () => {
    const { code, log } = await startRefused(target, { config: 'no_such_option: 1' });
    expect(code).toBe(1);
    expect(log).toContain('unknown field "no_such_option"');
    await expect(startServer(target, { config: 'no_such_option: 1' })).rejects.toThrow('unknown field');
  });
});

test('until names what it waited for in vain', async () => {
  await expect(until(() => false, 'the impossible', 30)).rejects.toThrow('waited 30 ms in vain for the impossible');
});

async function start(target: Target, options?: StartOptions): Promise<RunningServer> {
  const server = await startServer(target, options);
  onTestFinished(() => server.stop());
  return server;
}
