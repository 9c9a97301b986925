/** nats-server#2607, #3838: a purge of one subject disturbed consumers of another. */
import { expect, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { type JetStreamClient, jetStreamOf } from '../helpers/jetstream-client.ts';
import { until } from '../helpers/until.ts';

describeTargets('a purge of one subject', (target) => {
  test.each(['file', 'memory'])('leaves consumers of another as they are, in %s', async (storage) => {
    const client = await jetStreamOf(target);
    await client.ask('STREAM.CREATE.S', { name: 'S', subjects: ['s.*'], storage });
    const config = { name: 'c', durable_name: 'c', ack_policy: 'explicit', filter_subject: 's.b' };
    await client.ask('CONSUMER.CREATE.S.c.s.b', { stream_name: 'S', config });
    for (let i = 0; i < 10; i++) await client.publish(i % 2 === 0 ? 's.a' : 's.b', `${i}`);
    expect(await next(client)).toBe('1');
    await client.ask('STREAM.PURGE.S', { filter: 's.a' });
    expect(await client.ask('CONSUMER.INFO.S.c')).toMatchObject({ num_pending: 4, num_ack_pending: 1 });
    for (const payload of ['3', '5', '7', '9']) expect(await next(client)).toBe(payload);
    expect(await client.ask('CONSUMER.INFO.S.c')).toMatchObject({ num_pending: 0, num_ack_pending: 5 });
  });
});

/** The payload of the next message. It comes under its own subject, which no request would know for an answer. */
async function next({ connection }: JetStreamClient): Promise<string> {
  const came: string[] = [];
  const inbox = `_INBOX.${Math.random().toString(36).slice(2)}`;
  const subscription = connection.subscribe(inbox, { callback: (_error, message) => void came.push(message.string()) });
  connection.publish('$JS.API.CONSUMER.MSG.NEXT.S.c', '{"batch":1,"no_wait":true}', { reply: inbox });
  await until(() => came.length > 0, 'the next message');
  subscription.unsubscribe();
  return came.join();
}
