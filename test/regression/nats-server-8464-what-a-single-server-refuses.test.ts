/** nats-server#8464, #8126: some checks were made in clusters only, others on single servers only. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import type { Target } from '../helpers/targets.ts';

describeTargets('a single server', (target) => {
  test('refuses replicas that come later', async () => {
    const client = await clientOf(target);
    const config = { name: 'S', subjects: ['s'] };
    await api(client, 'STREAM.CREATE.S', config);
    expect(await api(client, 'STREAM.UPDATE.S', { ...config, num_replicas: 3 })).toMatchObject({
      error: { err_code: 10074 },
    });
    expect(await api(client, 'STREAM.INFO.S', {})).toMatchObject({ config: { num_replicas: 1 } });
  });

  test.each(['last', 'new', 'last_per_subject'])('refuses a work queue consumer that begins at %s', async (policy) => {
    const client = await clientOf(target);
    await api(client, 'STREAM.CREATE.S', { name: 'S', subjects: ['s'], retention: 'workqueue' });
    const config = { durable_name: 'c', ack_policy: 'explicit', deliver_policy: policy, filter_subject: 's' };
    const answer = await api(client, 'CONSUMER.DURABLE.CREATE.S.c', { stream_name: 'S', config });
    expect(answer).toMatchObject({ error: { err_code: 10101 } });
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
