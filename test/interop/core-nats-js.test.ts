/** What programs do with nats.js every day, without JetStream: the same on petiole as on nats-server. */
import { connect, createInbox, headers, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import { FaultProxy } from '../helpers/fault-proxy.ts';
import type { Target } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import type { ServerAddress } from '../helpers/wire-client.ts';

async function connected({ host, port }: ServerAddress, options: object = {}): Promise<NatsConnection> {
  const connection = await connect({ servers: `${host}:${port}`, ...options });
  onTestFinished(() => connection.close());
  return connection;
}

async function pair(target: Target): Promise<[NatsConnection, NatsConnection]> {
  const address = (await serve(target)).address();
  return [await connected(address), await connected(address)];
}

describeTargets('nats.js', (target) => {
  test('publishes and subscribes, in order and to wildcards', async () => {
    const [publisher, subscriber] = await pair(target);
    const heard: string[] = [];
    subscriber.subscribe('plant.*.temperature', {
      callback: (_, message) => void heard.push(`${message.subject} ${message.string()}`),
    });
    const all = subscriber.subscribe('plant.>', { max: 3 });
    await subscriber.flush();
    for (let i = 0; i < 3; i++) publisher.publish(`plant.${i}.temperature`, String(20 + i));
    publisher.publish('plant.0.pressure', 'unheard');
    const subjects: string[] = [];
    for await (const message of all) subjects.push(message.subject);
    expect(subjects).toEqual(['plant.0.temperature', 'plant.1.temperature', 'plant.2.temperature']);
    expect(heard).toEqual(['plant.0.temperature 20', 'plant.1.temperature 21', 'plant.2.temperature 22']);
  });

  test('passes payloads and headers on unchanged', async () => {
    const [publisher, subscriber] = await pair(target);
    const subscription = subscriber.subscribe('raw', { max: 3 });
    await subscriber.flush();
    const large = new Uint8Array(1_000_000).map((_, i) => i % 251);
    const given = headers();
    given.append('Unit', '°C');
    given.append('Site', 'north');
    given.append('Site', 'south');
    publisher.publish('raw', large);
    publisher.publish('raw', 'warm', { headers: given, reply: 'answers' });
    publisher.publish('raw');
    const messages = [];
    for await (const message of subscription) messages.push(message);
    expect(Buffer.compare(messages[0]!.data, large)).toBe(0);
    expect(messages[1]!.string()).toBe('warm');
    expect(messages[1]!.reply).toBe('answers');
    expect(messages[1]!.headers?.get('Unit')).toBe('°C');
    expect(messages[1]!.headers?.values('Site')).toEqual(['north', 'south']);
    expect(messages[2]!.data.length).toBe(0);
  });

  test('asks and answers, also several answers, and hears at once when nobody answers', async () => {
    const [asking, answering] = await pair(target);
    answering.subscribe('square', {
      callback: (_, message) => void message.respond(String(Number(message.string()) ** 2)),
    });
    answering.subscribe('everyone', {
      callback: (_, message) => {
        for (const name of ['a', 'b', 'c']) message.respond(name);
      },
    });
    await answering.flush();
    const answers = await Promise.all([1, 2, 3, 4].map((n) => asking.request('square', String(n))));
    expect(answers.map((answer) => answer.string())).toEqual(['1', '4', '9', '16']);
    const old = await asking.request('square', '5', { noMux: true, timeout: 2000, reply: createInbox('_INBOX.own') });
    expect(old.string()).toBe('25');
    const many = await asking.requestMany('everyone', '', { maxMessages: 3, maxWait: 2000 });
    const names: string[] = [];
    for await (const each of many) names.push(each.string());
    expect(names).toEqual(['a', 'b', 'c']);
    await expect(asking.request('nobody')).rejects.toThrow('no responders');
  });

  test('shares the work of a queue group, and everybody else hears all of it', async () => {
    const address = (await serve(target)).address();
    const counts = [0, 0, 0, 0];
    const connections = await Promise.all(counts.map(() => connected(address)));
    for (const [i, connection] of connections.entries()) {
      const queue = i === 3 ? {} : { queue: 'workers' };
      connection.subscribe('jobs', { ...queue, callback: () => void counts[i]!++ });
      await connection.flush();
    }
    const publisher = await connected(address);
    for (let i = 0; i < 300; i++) publisher.publish('jobs');
    await publisher.flush();
    for (const connection of connections) await connection.flush();
    expect(counts[3]).toBe(300);
    expect(counts[0]! + counts[1]! + counts[2]!).toBe(300);
    expect(Math.min(...counts)).toBeGreaterThan(50);
  });

  test('drains: what was sent before is still heard, and nothing after', async () => {
    const [publisher, subscriber] = await pair(target);
    let heard = 0;
    const subscription = subscriber.subscribe('readings', { callback: () => void heard++ });
    await subscriber.flush();
    for (let i = 0; i < 1000; i++) publisher.publish('readings');
    await publisher.flush();
    await subscription.drain();
    expect(heard).toBe(1000);
    publisher.publish('readings');
    await publisher.flush();
    await subscriber.drain();
    expect([heard, subscriber.isClosed()]).toEqual([1000, true]);
  });

  test('connects again after the connection was reset, with its subscriptions', async () => {
    const server = await serve(target);
    const proxy = new FaultProxy(server.address());
    await proxy.listen();
    onTestFinished(() => proxy.close());
    const subscriber = await connected(proxy.address, { reconnectTimeWait: 10 });
    const publisher = await connected(server.address());
    const heard: string[] = [];
    subscriber.subscribe('news', { callback: (_, message) => void heard.push(message.string()) });
    await subscriber.flush();
    publisher.publish('news', 'before');
    await until(() => heard.length === 1, 'what was published before');
    proxy.reset();
    await until(() => proxy.accepted === 2, 'the second connection');
    await subscriber.flush();
    publisher.publish('news', 'after');
    await until(() => heard.length === 2, 'what was published after');
    expect(heard).toEqual(['before', 'after']);
  });

  test('is told why it may not connect', async () => {
    const config = 'authorization { user: joe, password: s3cret }';
    const { host, port } = (await serve(target, config)).address();
    const servers = `${host}:${port}`;
    await expect(connect({ servers, user: 'joe', pass: 'wrong' })).rejects.toThrow('Authorization Violation');
    await expect(connect({ servers })).rejects.toThrow('Authorization Violation');
    const connection = await connected({ host, port }, { user: 'joe', pass: 's3cret' });
    expect(connection.info?.max_payload).toBe(1_048_576);
  });
});
