/** What the ports file tells a tool that started a server and wants to know where to reach it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { isAbsent, natsServer, petiole, startServer, type Target } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';

const targets = [natsServer(), petiole()].filter((target): target is Target => !isAbsent(target));

it.each(targets)('names the address that $name $version listens on', async (target) => {
  const { nats, port } = await portsOf(target, []);
  expect(nats).toEqual([`nats://127.0.0.1:${port}`]);
});

it.each(targets)('names loopback too where $name $version listens on all addresses', async (target) => {
  const { nats, port } = await portsOf(target, ['-a', '0.0.0.0']);
  expect(nats).toContain(`nats://127.0.0.1:${port}`);
});

async function portsOf(target: Target, flags: readonly string[]): Promise<{ nats: string[]; port: number }> {
  const server = await startServer(target, { config: 'ports_file_dir: "."', flags });
  onTestFinished(() => server.stop());
  const { directory } = server;
  const file = await until(() => readdirSync(directory).find((name) => name.endsWith('.ports')), 'the ports file');
  const text = await until(() => readFileSync(join(directory, file), 'utf8') || null, 'its content');
  return { nats: (JSON.parse(text) as { nats: string[] }).nats, port: server.address().port };
}
