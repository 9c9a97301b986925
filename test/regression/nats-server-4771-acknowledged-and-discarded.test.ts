/** nats-server#4771: a work queue that discards what is new acknowledged messages that it had not stored. */
import { connect } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';

const PUBLISHED = 60;

describeTargets('a small work queue that discards what is new', (target) => {
  test('holds exactly what it acknowledged', async () => {
    const server = await serve(target, 'jetstream { store_dir: "store" }');
    const { host, port } = server.address();
    const client = await connect({ servers: `${host}:${port}` });
    onTestFinished(() => client.close());
    const config = {
      name: 'S',
      subjects: ['s'],
      retention: 'workqueue',
      discard: 'new',
      max_bytes: 1000,
      max_msgs: 20,
    };
    await client.request('$JS.API.STREAM.CREATE.S', JSON.stringify(config));
    const answers = await Promise.all(
      Array.from({ length: PUBLISHED }, async (_, at) => {
        const answer = await client.request('s', 'x'.repeat(at % 40));
        return answer.json<{ seq: number; error?: object }>();
      }),
    );
    const stored = answers.filter(({ error }) => error === undefined).map(({ seq }) => seq);
    expect(stored.length).toBeLessThan(PUBLISHED);
    const info = await client.request('$JS.API.STREAM.INFO.S');
    const { state } = info.json<{ state: { messages: number; first_seq: number; last_seq: number } }>();
    expect(stored).toEqual(Array.from({ length: state.messages }, (_, at) => at + 1));
    expect(state).toMatchObject({ first_seq: 1, last_seq: stored.length });
  });
});
