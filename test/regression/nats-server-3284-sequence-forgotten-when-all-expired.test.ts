/** nats-server#3284: a stream whose messages had all expired began at 1 again when the server was restarted twice. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { startServer, type Target } from '../helpers/targets.ts';
import { makeTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

const RESTARTS = 2;

describeTargets('an empty stream', (target) => {
  test('goes on with its sequences after restarts', async () => {
    const directory = makeTemporaryDirectory();
    const create = { name: 'S', subjects: ['s'], max_age: 200_000_000 };
    await during(target, directory, async (client) => {
      await client.request('$JS.API.STREAM.CREATE.S', JSON.stringify(create));
      for (let i = 0; i < 3; i++) await client.request('s');
      await until(async () => (await stateOf(client)).messages === 0, 'the messages to expire', 10_000);
      expect(await stateOf(client)).toMatchObject({ messages: 0, first_seq: 4, last_seq: 3 });
    });
    for (let restart = 0; restart < RESTARTS; restart++) {
      await during(target, directory, async (client) => {
        expect(await stateOf(client)).toMatchObject({ messages: 0, first_seq: 4, last_seq: 3 });
      });
    }
    await during(target, directory, async (client) => {
      expect((await client.request('s')).json()).toMatchObject({ stream: 'S', seq: 4 });
    });
  });
});

async function during(
  target: Target,
  directory: string,
  use: (client: NatsConnection) => Promise<void>,
): Promise<void> {
  const server = await startServer(target, { config: `jetstream { store_dir: "${directory}" }` });
  onTestFinished(() => server.stop());
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}` });
  await use(client);
  await client.close();
  await server.stop();
}

interface State {
  readonly messages: number;
}

async function stateOf(client: NatsConnection): Promise<State> {
  return (await client.request('$JS.API.STREAM.INFO.S')).json<{ state: State }>().state;
}
