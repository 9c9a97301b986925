/** nats-server#7511: a stream that stores everything under other subjects could not publish it again as it is stored. */
import type { Msg } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { jetStreamOf } from '../helpers/jetstream-client.ts';
import { until } from '../helpers/until.ts';

describeTargets('a stream that transforms all subjects', (target) => {
  test('publishes messages again under the subjects that it stores', async () => {
    const client = await jetStreamOf(target);
    const came: Msg[] = [];
    client.connection.subscribe('stored.>', { callback: (_error, message) => void came.push(message) });
    const rewriting = { subject_transform: { src: 'in.>', dest: 'stored.>' }, republish: { src: '>', dest: '>' } };
    const made = await client.ask('STREAM.CREATE.S', { name: 'S', subjects: ['in.>'], ...rewriting });
    expect(made).toMatchObject({ config: { republish: { src: 'stored.>', dest: 'stored.>' } } });
    await client.publish('in.a.b', 'x');
    await until(() => came.length === 1, 'the message to come');
    expect(came.map(({ subject }) => subject)).toEqual(['stored.a.b']);
    expect(came[0]?.headers?.get('Nats-Subject')).toBe('stored.a.b');
  });
});
