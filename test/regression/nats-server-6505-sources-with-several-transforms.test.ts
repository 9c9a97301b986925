/** nats-server#6505, nats.java#1315: clients refused messages that were drawn from a stream with several transforms. */
import { jetstream } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { jetStreamOf } from '../helpers/jetstream-client.ts';
import { until } from '../helpers/until.ts';

describeTargets('messages of a source with several transforms', (target) => {
  test('come to a client, and say where they are from', async () => {
    const client = await jetStreamOf(target);
    await client.ask('STREAM.CREATE.O', { name: 'O', subjects: ['o.>'] });
    const subjectTransforms = [
      { src: 'o.a', dest: 'a' },
      { src: 'o.b', dest: 'b' },
    ];
    await client.ask('STREAM.CREATE.S', { name: 'S', sources: [{ name: 'O', subject_transforms: subjectTransforms }] });
    await client.publish('o.a', 'one');
    await client.publish('o.b', 'two');
    await until(async () => (await client.state('S')).messages === 2, 'both messages');
    const consumer = await jetstream(client.connection).consumers.get('S');
    const came: string[][] = [];
    for await (const message of await consumer.fetch({ max_messages: 2, expires: 5000 })) {
      came.push([message.subject, message.string(), message.headers?.get('Nats-Stream-Source') ?? '']);
    }
    // Form feeds part the filters, as ever: nats.js takes them.
    const source = (sequence: number, subject: string): unknown =>
      expect.stringMatching(new RegExp(`^O ${sequence} o\\.a\fo\\.b a\fb ${subject} \\S{8}$`));
    expect(came).toEqual([
      ['a', 'one', source(1, 'o.a')],
      ['b', 'two', source(2, 'o.b')],
    ]);
  });
});
