/** How much streams may hold is what the configuration says, or what the machine has. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, it, onTestFinished } from 'vitest';
import { isAbsent, natsServer, petiole, startServer, type Target } from '../helpers/targets.ts';

const targets = [natsServer(), petiole()].filter((target): target is Target => !isAbsent(target));
const PAYLOAD = 'x'.repeat(600);

it.each(targets)('a limit of -1 is none, of $name $version', async (target) => {
  const client = await clientOf(target, 'max_mem_store: -1, max_file_store: -1');
  expect(await publishTo(client, 'file', 2)).toMatchObject({ seq: 2 });
  expect(await publishTo(client, 'memory', 2)).toMatchObject({ seq: 2 });
});

it.each(targets)('a stream takes no more than the limit, of $name $version', async (target) => {
  const client = await clientOf(target, 'max_mem_store: 1024, max_file_store: 1024');
  expect(await publishTo(client, 'file', 4)).toMatchObject({ error: { err_code: 10023 } });
  expect(await publishTo(client, 'memory', 4)).toMatchObject({ error: { err_code: 10023 } });
});

async function clientOf(target: Target, limits: string): Promise<NatsConnection> {
  const server = await startServer(target, { config: `jetstream { store_dir: "store", ${limits} }` });
  onTestFinished(() => server.stop());
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}` });
  onTestFinished(() => client.close());
  return client;
}

/** Makes a stream and publishes to it; the last acknowledgement. */
async function publishTo(client: NatsConnection, storage: string, count: number): Promise<unknown> {
  await client.request(
    `$JS.API.STREAM.CREATE.${storage}`,
    JSON.stringify({ name: storage, subjects: [storage], storage }),
  );
  let acknowledgement: unknown = null;
  for (let sent = 0; sent < count; sent++) acknowledgement = (await client.request(storage, PAYLOAD)).json();
  return acknowledgement;
}
