/** nats-server#5697, #6538: work queues and interest streams dropped messages that somebody could still want. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { jetStreamOf } from '../helpers/jetstream-client.ts';
import { JetStreamTalk } from '../helpers/jetstream-talk.ts';

describeTargets('a stream that keeps messages for its consumers', (target) => {
  test('keeps in a work queue what no filter passes yet', async () => {
    const { connection: client } = await jetStreamOf(target);
    await makeStream(client, 'workqueue');
    await makeConsumer(client, 'b', { filter_subject: 's.b' });
    for (const subject of ['s.a', 's.b', 's.c']) await client.request(subject, subject);
    for (const message of await pull(client, 'b')) await client.request(message.reply as string, '+ACK');
    await makeConsumer(client, 'c', { filter_subject: 's.c' });
    expect((await pull(client, 'c')).map((each) => each.subject)).toEqual(['s.c']);
    expect(await messagesOf(client)).toBe(2);
  });

  test('keeps what one consumer got as often as allowed while others acknowledge the rest', async () => {
    const { connection: client } = await jetStreamOf(target);
    await makeStream(client, 'interest');
    await makeConsumer(client, 'once', { max_deliver: 1, ack_wait: 100_000_000 });
    await makeConsumer(client, 'other', {});
    for (const payload of ['1', '2']) await client.request('s.a', payload);
    await pull(client, 'once');
    await delay(800);
    for (const message of await pull(client, 'other')) await client.request(message.reply as string, '+ACK');
    const found = await client.request('$JS.API.STREAM.MSG.GET.S', '{"seq":2}');
    expect(found.json()).toMatchObject({ message: { subject: 's.a', seq: 2 } });
    expect(await messagesOf(client)).toBe(2);
  });

  test('lets go what nobody wants any more when a filter changes', async () => {
    const { connection: client } = await jetStreamOf(target);
    await makeStream(client, 'interest');
    await makeConsumer(client, 'c', { filter_subject: 's.*' });
    for (const subject of ['s.a', 's.b', 's.a']) await client.request(subject, subject);
    await makeConsumer(client, 'c', { filter_subject: 's.b' });
    expect(await messagesOf(client)).toBe(1);
    expect((await pull(client, 'c')).map((each) => each.subject)).toEqual(['s.b']);
  });
});

async function makeStream(client: NatsConnection, retention: string): Promise<void> {
  await client.request('$JS.API.STREAM.CREATE.S', JSON.stringify({ name: 'S', subjects: ['s.*'], retention }));
}

async function makeConsumer(client: NatsConnection, name: string, fields: object): Promise<void> {
  const config = { durable_name: name, ack_policy: 'explicit', ...fields };
  await client.request(`$JS.API.CONSUMER.DURABLE.CREATE.S.${name}`, JSON.stringify({ stream_name: 'S', config }));
}

/** All messages that the consumer has now. */
async function pull(client: NatsConnection, consumer: string): Promise<Msg[]> {
  return new JetStreamTalk(client).pull('S', consumer, 10);
}

async function messagesOf(client: NatsConnection): Promise<number> {
  const info = await client.request('$JS.API.STREAM.INFO.S');
  return info.json<{ state: { messages: number } }>().state.messages;
}
