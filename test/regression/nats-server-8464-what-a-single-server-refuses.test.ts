/** nats-server#8464, #8126: some checks were made in clusters only, others on single servers only. */
import { expect, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { jetStreamOf } from '../helpers/jetstream-client.ts';

describeTargets('a single server', (target) => {
  test('refuses replicas that come later', async () => {
    const client = await jetStreamOf(target);
    const config = { name: 'S', subjects: ['s'] };
    await client.ask('STREAM.CREATE.S', config);
    expect(await client.ask('STREAM.UPDATE.S', { ...config, num_replicas: 3 })).toMatchObject({
      error: { err_code: 10074 },
    });
    expect(await client.ask('STREAM.INFO.S', {})).toMatchObject({ config: { num_replicas: 1 } });
  });

  test.each(['last', 'new', 'last_per_subject'])('refuses a work queue consumer that begins at %s', async (policy) => {
    const client = await jetStreamOf(target);
    await client.ask('STREAM.CREATE.S', { name: 'S', subjects: ['s'], retention: 'workqueue' });
    const config = { durable_name: 'c', ack_policy: 'explicit', deliver_policy: policy, filter_subject: 's' };
    const answer = await client.ask('CONSUMER.DURABLE.CREATE.S.c', { stream_name: 'S', config });
    expect(answer).toMatchObject({ error: { err_code: 10101 } });
  });
});
