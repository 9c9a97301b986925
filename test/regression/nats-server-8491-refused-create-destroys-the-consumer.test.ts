/** nats-server#8491: creating a consumer that exists with another configuration was refused, and destroyed the one there. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { startServer, type Target } from '../helpers/targets.ts';
import { makeTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { rmSync } from 'node:fs';

const NEXT = { timeout: 2000, noMux: true };

describeTargets('a consumer that is created again with another configuration', (target) => {
  test('goes on as before, also after a restart', async () => {
    const store = makeTemporaryDirectory();
    onTestFinished(() => rmSync(store, { recursive: true, force: true }));
    const config = `jetstream { store_dir: "${store}" }`;
    await inLife(target, config, async (client) => {
      await client.request('$JS.API.STREAM.CREATE.S', '{"name":"S","subjects":["s"]}');
      for (const payload of ['1', '2', '3']) await client.request('s', payload);
      expect(await create(client, 'explicit')).toBeNull();
      expect(await next(client)).toBe('1');
      expect(await create(client, 'none')).toBeGreaterThan(10_000);
      expect(await next(client)).toBe('2');
    });
    await inLife(target, config, async (client) => {
      expect(await next(client)).toBe('3');
    });
  });
});

async function inLife(target: Target, config: string, use: (client: NatsConnection) => Promise<void>): Promise<void> {
  const server = await startServer(target, { config });
  try {
    const { host, port } = server.address();
    const client = await connect({ servers: `${host}:${port}` });
    await use(client);
    await client.close();
  } finally {
    await server.stop();
  }
}

/** The code of the error that refuses it, if there is one. */
async function create(client: NatsConnection, ackPolicy: string): Promise<number | null> {
  const config = { name: 'C', durable_name: 'C', ack_policy: ackPolicy };
  const body = JSON.stringify({ stream_name: 'S', action: 'create', config });
  const answer = await client.request('$JS.API.CONSUMER.CREATE.S.C', body);
  return answer.json<{ error?: { err_code: number } }>().error?.err_code ?? null;
}

/** Gets a message, acknowledges it, and returns its payload. */
async function next(client: NatsConnection): Promise<string> {
  const message = await client.request('$JS.API.CONSUMER.MSG.NEXT.S.C', '', NEXT);
  await client.request(message.reply ?? '', '+ACK');
  return message.string();
}
