/** nats-server#8470: the moment at which a stream was created changed after a restart, an update and another restart. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { startServer, type Target } from '../helpers/targets.ts';
import { makeTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { rmSync } from 'node:fs';

describeTargets('the moment at which a stream was created', (target) => {
  test('stays', async () => {
    const store = makeTemporaryDirectory();
    onTestFinished(() => rmSync(store, { recursive: true, force: true }));
    const config = `jetstream { store_dir: "${store}" }`;
    const created = [
      await inLife(target, config, async (client) => {
        await ask(client, 'STREAM.CREATE.S', '{"name":"S","subjects":["s"]}');
        return createdOf(client);
      }),
      await inLife(target, config, async (client) => {
        await ask(client, 'STREAM.UPDATE.S', '{"name":"S","subjects":["s"],"max_msgs":5}');
        return createdOf(client);
      }),
      await inLife(target, config, createdOf),
    ];
    expect(created[0]).toMatch(/^20.*Z$/);
    expect(new Set(created).size).toBe(1);
  });
});

async function inLife<T>(target: Target, config: string, use: (client: NatsConnection) => Promise<T>): Promise<T> {
  const server = await startServer(target, { config });
  try {
    const { host, port } = server.address();
    const client = await connect({ servers: `${host}:${port}` });
    const result = await use(client);
    await client.close();
    return result;
  } finally {
    await server.stop();
  }
}

async function createdOf(client: NatsConnection): Promise<string> {
  return (await ask(client, 'STREAM.INFO.S', '')).created;
}

async function ask(client: NatsConnection, request: string, body: string): Promise<{ created: string }> {
  return (await client.request(`$JS.API.${request}`, body)).json();
}
