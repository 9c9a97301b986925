/** nats-server#2314, #4247: a stream with a limit per subject and `discard: new` went on taking messages, or did not say why not. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import type { Target } from '../helpers/targets.ts';

const REFUSED = { err_code: 10077, description: 'maximum messages per subject exceeded' };

describeTargets('a stream that discards what is new of a subject', (target) => {
  test.each(['file', 'memory'])('refuses the sixth message of a subject that may have five, in %s', async (storage) => {
    const client = await clientOf(target);
    const config = { name: 'S', subjects: ['s.*'], storage, discard: 'new', max_msgs_per_subject: 5 };
    await api(client, 'STREAM.CREATE.S', { ...config, discard_new_per_subject: true });
    const subjects = Array.from({ length: 12 }, (_, at) => `s.${at % 2}`);
    const answers = await Promise.all(
      subjects.map(async (each) => (await client.request(each)).json<{ seq: number; error?: object }>()),
    );
    expect(answers.slice(0, 10).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(answers.slice(10)).toMatchObject([{ error: REFUSED }, { error: REFUSED }]);
    await api(client, 'STREAM.PURGE.S', { filter: 's.0', keep: 4 });
    expect((await client.request('s.0')).json()).toMatchObject({ seq: 11 });
    expect((await client.request('s.1')).json()).toMatchObject({ error: REFUSED });
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
