/** nats-server#8386: a message larger than the store could read back was acknowledged, and broke the stream. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { JetStreamClient } from '../helpers/jetstream-client.ts';
import { startServer } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';

const LARGE_BYTES = 40 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

describeTargets('a message of 40 MiB', (target) => {
  test('is refused, or is there after a restart, and other messages are', async () => {
    const config = `max_payload: 64MB\nmax_pending: 128MB\njetstream { store_dir: "${temporaryDirectory()}" }`;
    const live = async (use: (client: NatsConnection) => Promise<void>): Promise<void> => {
      const server = await startServer(target, { config });
      onTestFinished(() => server.stop());
      const { host, port } = server.address();
      const client = await connect({ servers: `${host}:${port}` });
      await use(client);
      await client.close();
      await server.stop();
    };
    let isRefused = false;
    await live(async (client) => {
      const create = { name: 'S', subjects: ['s'], allow_direct: true };
      await client.request('$JS.API.STREAM.CREATE.S', JSON.stringify(create));
      await client.request('s', 'before');
      const answer = await client.request('s', Buffer.alloc(LARGE_BYTES, 'x'), { timeout: TIMEOUT_MS });
      isRefused = 'error' in answer.json<object>();
      await client.request('s', 'after');
    });
    await live(async (client) => {
      const last = isRefused ? 2 : 3;
      expect(await new JetStreamClient(client).state('S')).toMatchObject({ messages: last, last_seq: last });
      const get = async (seq: number): Promise<Uint8Array> =>
        (await client.request('$JS.API.DIRECT.GET.S', JSON.stringify({ seq }), { timeout: TIMEOUT_MS })).data;
      expect(Buffer.from(await get(1)).toString()).toBe('before');
      expect(Buffer.from(await get(last)).toString()).toBe('after');
      const second = isRefused ? Buffer.from('after') : Buffer.alloc(LARGE_BYTES, 'x');
      expect(Buffer.from(await get(2)).equals(second)).toBe(true);
    });
  });
});
