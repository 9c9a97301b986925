/** nats-server#3528: a purge of one subject left messages of it in a stream of several blocks. */
import { expect, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { jetStreamOf } from '../helpers/jetstream-client.ts';

const MESSAGES = 8192;
const PAYLOAD = 'x'.repeat(2000);

describeTargets('a purge of one subject', (target) => {
  test.each(['file', 'memory'])('leaves none of its messages, and the others, in %s', async (storage) => {
    const client = await jetStreamOf(target);
    await client.ask('STREAM.CREATE.S', { name: 'S', subjects: ['s.*'], storage });
    for (let i = 0; i < MESSAGES; i++) client.connection.publish(i % 1024 === 5 ? 's.b' : 's.a', PAYLOAD);
    await client.publish('s.b');
    expect(await client.ask('STREAM.PURGE.S', { filter: 's.a' })).toMatchObject({
      success: true,
      purged: MESSAGES - 8,
    });
    expect(await client.state('S')).toMatchObject({ messages: 9, last_seq: MESSAGES + 1 });
    expect(await client.message('S', { last_by_subj: 's.a' })).toBeNull();
    expect(await client.message('S', { next_by_subj: 's.b' })).toMatchObject({ seq: 6 });
  });
});
