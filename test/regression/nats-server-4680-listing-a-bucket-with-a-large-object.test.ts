/** nats-server#4680: listing the objects of a bucket read all the chunks of a large object, and timed out. */
import { readFileSync } from 'node:fs';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { type RunningServer, startServer } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

const CHUNK = Buffer.alloc(128 * 1024, 'x');
const CHUNKS = 512;
const AT_ONCE = 16;
/** What is read of a bucket of 64 MiB: at most a block around each description. */
const READ_BYTES_MAX = 20 * 1024 * 1024;
const STREAM = { name: 'OBJ_B', subjects: ['$O.B.C.>', '$O.B.M.>'], allow_rollup_hdrs: true, allow_direct: true };

describeTargets('listing a bucket with a large object', (target) => {
  test('reads the descriptions, and not the chunks', async () => {
    const config = `jetstream { store_dir: "${temporaryDirectory()}" }`;
    const start = async (): Promise<{ server: RunningServer; client: NatsConnection }> => {
      const server = await startServer(target, { config });
      onTestFinished(() => server.stop());
      const { host, port } = server.address();
      const client = await connect({ servers: `${host}:${port}` });
      onTestFinished(() => client.close());
      return { server, client };
    };
    const first = await start();
    await first.client.request('$JS.API.STREAM.CREATE.OBJ_B', JSON.stringify(STREAM));
    await first.client.request('$O.B.M.first', '{"name":"first"}');
    for (let sent = 0; sent < CHUNKS; sent += AT_ONCE) {
      const chunks = Array.from({ length: AT_ONCE }, () =>
        first.client.request('$O.B.C.large', CHUNK, { timeout: 10_000 }),
      );
      await Promise.all(chunks);
    }
    await first.client.request('$O.B.M.large', '{"name":"large"}');
    await first.client.close();
    await first.server.stop();

    const { server, client } = await start();
    const readBefore = bytesReadBy(server);
    expect(await listed(client)).toEqual(['{"name":"first"}', '{"name":"large"}']);
    expect(bytesReadBy(server) - readBefore).toBeLessThan(READ_BYTES_MAX);
  });
});

/** As the clients list: the last description of each object, by an ordered consumer. */
async function listed(client: NatsConnection): Promise<string[]> {
  const found: string[] = [];
  const deliver_subject = '_INBOX.list';
  client.subscribe(deliver_subject, { callback: (_error, message) => void found.push(message.string()) });
  const config = {
    ack_policy: 'none',
    deliver_policy: 'last_per_subject',
    deliver_subject,
    filter_subject: '$O.B.M.>',
    max_deliver: 1,
  };
  const body = JSON.stringify({ stream_name: 'OBJ_B', config });
  const made = (await client.request('$JS.API.CONSUMER.CREATE.OBJ_B', body)).json<{ num_pending: number }>();
  expect(made).toHaveProperty('ack_floor');
  await until(() => found.length >= 2, 'both descriptions');
  return found;
}

function bytesReadBy(server: RunningServer): number {
  return Number(/^rchar: (\d+)/m.exec(readFileSync(`/proc/${server.pid}/io`, 'utf8'))?.[1]);
}
