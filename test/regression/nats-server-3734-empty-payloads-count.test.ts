/** nats-server#3734: messages without a payload did not count against max_bytes. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import type { Target } from '../helpers/targets.ts';

const PUBLISHED = 100;

describeTargets('empty messages', (target) => {
  test.each([
    ['file', 31],
    ['memory', 17],
  ])('count what it takes to store them, in %s', async (storage, bytes) => {
    const client = await clientOf(target);
    const max_bytes = 10 * bytes + 5;
    await api(client, 'STREAM.CREATE.S', { name: 'S', subjects: ['s'], storage, max_bytes });
    for (let at = 0; at < PUBLISHED; at++) await client.request('s');
    expect(await api(client, 'STREAM.INFO.S', {})).toMatchObject({
      state: { messages: 10, bytes: 10 * bytes, first_seq: PUBLISHED - 9, last_seq: PUBLISHED },
    });
  });
});

async function clientOf(target: Target): Promise<NatsConnection> {
  const server = await serve(target, 'jetstream { store_dir: "store" }');
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}` });
  onTestFinished(() => client.close());
  return client;
}

async function api(client: NatsConnection, request: string, body: object): Promise<object> {
  return (await client.request(`$JS.API.${request}`, JSON.stringify(body))).json();
}
