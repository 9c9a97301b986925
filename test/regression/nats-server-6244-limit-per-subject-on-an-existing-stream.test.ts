/** nats-server#6244, #4643: a limit per subject that came, or fell, removed nothing, or made lookups fail. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import type { Target } from '../helpers/targets.ts';

describeTargets('a stream that gets a limit per subject', (target) => {
  test.each(['file', 'memory'])('has what the limit allows at once, and finds it, in %s', async (storage) => {
    const client = await clientOf(target);
    const config = { name: 'S', subjects: ['s.*'], storage };
    await api(client, 'STREAM.CREATE.S', config);
    for (let at = 0; at < 30; at++) await client.request(`s.${at % 3}`, String(at));
    for (const max of [8, 2, 1]) {
      const answer = await api(client, 'STREAM.UPDATE.S', { ...config, max_msgs_per_subject: max });
      expect(answer).toMatchObject({ config: { max_msgs_per_subject: max } });
      expect(await api(client, 'STREAM.INFO.S', {})).toMatchObject({ state: { messages: 3 * max, last_seq: 30 } });
      for (const last of [27, 28, 29]) {
        const found = await api(client, 'STREAM.MSG.GET.S', { last_by_subj: `s.${last % 3}` });
        expect(found).toMatchObject({ message: { seq: last + 1, data: Buffer.from(String(last)).toString('base64') } });
      }
    }
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
