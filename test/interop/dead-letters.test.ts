/** Messages that nobody could handle go where the consumer's metadata say, and leave the consumer only when they are there. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, headers, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { expect, it, onTestFinished } from 'vitest';
import { describeUnless } from '../helpers/describe-unless.ts';
import {
  type AbsentTarget,
  isAbsent,
  petiole,
  type RunningServer,
  startServer,
  type Target,
} from '../helpers/targets.ts';
import { describeWithHub, startHub } from '../helpers/real-hub.ts';
import { until } from '../helpers/until.ts';

const target = petiole();
const KEY = 'petiole.dead_letter_subject';
const ACK_WAIT_NS = 100_000_000;
/** The answer shows the subject under which it was stored. */
const NEXT = { timeout: 2000, noMux: true };

interface Answer {
  readonly error?: { readonly err_code: number; readonly description: string };
  readonly num_ack_pending?: number;
  readonly state?: { readonly messages: number };
  readonly message?: { readonly data?: string; readonly hdrs: string };
}

describeUnless(isAbsent(target) ? target.absent : null, 'dead letters', () => {
  it.each(['pull', 'push'])('are messages that a %s consumer delivered too often', async (kind) => {
    const client = await clientOf(await serve());
    await makeStreams(client);
    await makeConsumer(client, kind === 'push' ? { deliver_subject: 'work' } : {});
    const delivered: Msg[] = [];
    client.subscribe('work', { callback: (_error, message) => void delivered.push(message) });
    await client.request('orders.new', 'broken');
    if (kind === 'pull') client.publish('$JS.API.CONSUMER.MSG.NEXT.ORDERS.worker', '{"batch":5}', { reply: 'work' });
    await until(async () => (await messagesIn(client, 'DEAD')) === 1, 'the dead letter');
    const letter = (await ask(client, 'STREAM.MSG.GET.DEAD', '{"seq":1}')).message;
    expect(delivered).toHaveLength(2);
    expect(atob(letter?.data ?? '')).toBe('broken');
    expect(headersOf(letter?.hdrs)).toEqual({
      'Nats-Msg-Id': expect.stringMatching(/^ORDERS\.worker\.1\.20/),
      'Petiole-Dead-Letter-Stream': 'ORDERS',
      'Petiole-Dead-Letter-Consumer': 'worker',
      'Petiole-Dead-Letter-Subject': 'orders.new',
      'Petiole-Dead-Letter-Sequence': '1',
      'Petiole-Dead-Letter-Time': expect.stringMatching(/Z$/),
      'Petiole-Dead-Letter-Deliveries': '2',
      'Petiole-Dead-Letter-Reason': 'max_deliver',
    });
    await until(async () => (await consumerInfo(client)).num_ack_pending === 0, 'the message to leave');
  });

  it('are messages that were terminated, with their own headers and the reason', async () => {
    const client = await clientOf(await serve());
    await makeStreams(client);
    await makeConsumer(client);
    const headers = 'NATS/1.0\r\nA: 1\r\nNats-Msg-Id: x\r\nNats-Expected-Last-Sequence: 0\r\n\r\n';
    await publishWithHeaders(client, 'orders.new', headers);
    const message = await client.request('$JS.API.CONSUMER.MSG.NEXT.ORDERS.worker', '', NEXT);
    const confirmed = await client.request(message.reply ?? '', '+TERM bad\tzip code');
    expect(confirmed.string()).toBe('');
    const letter = (await ask(client, 'STREAM.MSG.GET.DEAD', '{"seq":1}')).message;
    expect(headersOf(letter?.hdrs)).toMatchObject({
      A: '1',
      'Petiole-Dead-Letter-Reason': 'terminated',
      'Petiole-Dead-Letter-Text': 'bad\tzip code',
      'Petiole-Dead-Letter-Msg-Id': 'x',
      'Nats-Msg-Id': expect.stringMatching(/^ORDERS\.worker\.1\.20/),
    });
    expect(headersOf(letter?.hdrs)).not.toHaveProperty('Nats-Expected-Last-Sequence');
    expect((await consumerInfo(client)).num_ack_pending).toBe(0);
  });

  it.each(['', '+TERM'])('leave a work queue, when the worker says %j', async (says) => {
    const client = await clientOf(await serve());
    await makeStreams(client, { retention: 'workqueue' });
    await makeConsumer(client, { max_deliver: 1 });
    await client.request('orders.new', 'broken');
    const message = await client.request('$JS.API.CONSUMER.MSG.NEXT.ORDERS.worker', '', NEXT);
    if (says !== '') message.respond(says);
    await until(async () => (await messagesIn(client, 'DEAD')) === 1, 'the dead letter');
    await until(async () => (await messagesIn(client, 'ORDERS')) === 0, 'the message to leave the queue');
    expect((await consumerInfo(client)).num_ack_pending).toBe(0);
  });

  it('go where an update says', async () => {
    const client = await clientOf(await serve());
    await makeStreams(client);
    await makeConsumer(client, { metadata: {} });
    await makeConsumer(client, { metadata: { [KEY]: 'dead.later' } });
    await client.request('orders.new', 'broken');
    const message = await client.request('$JS.API.CONSUMER.MSG.NEXT.ORDERS.worker', '', NEXT);
    message.respond('+TERM');
    await until(async () => (await messagesIn(client, 'DEAD')) === 1, 'the dead letter');
    await makeConsumer(client, { metadata: {} });
    await client.request('orders.new', 'broken');
    const other = await client.request('$JS.API.CONSUMER.MSG.NEXT.ORDERS.worker', '', NEXT);
    await client.request(other.reply ?? '', '+TERM');
    expect(await messagesIn(client, 'DEAD')).toBe(1);
    expect((await consumerInfo(client)).num_ack_pending).toBe(0);
  });

  it('stay in the consumer until a stream takes them, through a kill', async () => {
    const store = mkdtempSync(join(tmpdir(), 'petiole-dead-letters-'));
    onTestFinished(() => rmSync(store, { recursive: true, force: true }));
    const killed = await serve(store);
    const before = await clientOf(killed);
    await ask(before, 'STREAM.CREATE.ORDERS', '{"name":"ORDERS","subjects":["orders.>"]}');
    await makeConsumer(before);
    await before.request('orders.new', 'broken');
    before.subscribe('work', { callback: () => undefined });
    before.publish('$JS.API.CONSUMER.MSG.NEXT.ORDERS.worker', '{"batch":5}', { reply: 'work' });
    await until(
      () => killed.log.includes("stored under 'dead.orders': nobody listens to the dead letter subject"),
      'the complaint',
    );
    expect((await consumerInfo(before)).num_ack_pending).toBe(1);
    killed.signal('SIGKILL');
    await until(() => killed.exited, 'the server to be gone');
    const client = await clientOf(await serve(store));
    expect((await consumerInfo(client)).num_ack_pending).toBe(1);
    await ask(client, 'STREAM.CREATE.DEAD', '{"name":"DEAD","subjects":["dead.>"]}');
    await until(async () => (await messagesIn(client, 'DEAD')) === 1, 'the dead letter', 20_000);
    await until(async () => (await consumerInfo(client)).num_ack_pending === 0, 'the message to leave');
  });

  it('count as taken by listeners that do not answer, after some tries', { timeout: 40_000 }, async () => {
    const client = await clientOf(await serve());
    await ask(client, 'STREAM.CREATE.ORDERS', '{"name":"ORDERS","subjects":["orders.>"]}');
    await makeConsumer(client);
    const heard: string[] = [];
    client.subscribe('dead.orders', {
      callback: (_error, { headers }) => void heard.push(headers?.get('Nats-Msg-Id') ?? ''),
    });
    await client.request('orders.new', 'broken');
    const message = await client.request('$JS.API.CONSUMER.MSG.NEXT.ORDERS.worker', '', NEXT);
    message.respond('+TERM');
    await until(async () => (await consumerInfo(client)).num_ack_pending === 0, 'the message to leave', 30_000);
    expect(heard).toHaveLength(3);
    expect(new Set(heard).size).toBe(1);
  });

  it.each([
    ['dead.*', /not a valid literal subject/],
    ['a b', /not a valid literal subject/],
    ['', /not a valid literal subject/],
    ['$JS.API.INFO', /reserved/],
    ['orders.new', /leads back/],
  ])('can not go to %j', async (subject, reason) => {
    const client = await clientOf(await serve());
    await makeStreams(client);
    const { error } = await makeConsumer(client, { filter_subject: 'orders.new', metadata: { [KEY]: subject } });
    expect(error).toMatchObject({ err_code: 10012, description: expect.stringMatching(reason) });
  });

  it('may go to a subject of the same stream that the consumer does not get', async () => {
    const client = await clientOf(await serve());
    await makeStreams(client);
    const { error } = await makeConsumer(client, { filter_subject: 'orders.new', metadata: { [KEY]: 'orders.dead' } });
    expect(error).toBeUndefined();
  });
});

function present(found: Target | AbsentTarget): Target {
  if (isAbsent(found)) throw new Error(found.absent);
  return found;
}

describeWithHub('dead letters', () => {
  it('are stored by a stream of the hub, while the link is there', { timeout: 60_000 }, async () => {
    const hub = await startHub({ config: 'jetstream { store_dir: "store", domain: hub }' });
    const { host, port } = hub.leafAddress;
    const site = await startServer(present(target), {
      config: `
        jetstream { store_dir: "store", domain: site }
        leafnodes { reconnect: 1, remotes: [{ url: "nats://${host}:${port}" }] }`,
    });
    onTestFinished(() => site.stop());
    const client = await clientOf(site);
    await ask(client, 'STREAM.CREATE.ORDERS', '{"name":"ORDERS","subjects":["orders.>"]}');
    await makeConsumer(client);
    await client.request('orders.new', 'broken');
    const message = await client.request('$JS.API.CONSUMER.MSG.NEXT.ORDERS.worker', '', NEXT);
    message.respond('+TERM');
    await until(
      () => site.log.includes("stored under 'dead.orders': nobody listens to the dead letter subject"),
      'the complaint',
    );
    const there = await clientOf(hub.server);
    await ask(there, 'STREAM.CREATE.DEAD', '{"name":"DEAD","subjects":["dead.>"]}');
    await until(async () => (await messagesIn(there, 'DEAD')) === 1, 'the dead letter', 30_000);
    await until(async () => (await consumerInfo(client)).num_ack_pending === 0, 'the message to leave');
    expect(await messagesIn(there, 'DEAD')).toBe(1);
  });
});

async function serve(store = 'store'): Promise<RunningServer> {
  const server = await startServer(present(target), { config: `jetstream { store_dir: "${store}" }` });
  onTestFinished(() => server.stop());
  return server;
}

async function clientOf(server: RunningServer): Promise<NatsConnection> {
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}`, reconnect: false });
  onTestFinished(() => client.close());
  return client;
}

async function ask(client: NatsConnection, request: string, body: string): Promise<Answer> {
  return (await client.request(`$JS.API.${request}`, body)).json<Answer>();
}

async function makeStreams(client: NatsConnection, changes: object = {}): Promise<void> {
  const config = { name: 'ORDERS', subjects: ['orders.>'], ...changes };
  await ask(client, 'STREAM.CREATE.ORDERS', JSON.stringify(config));
  await ask(client, 'STREAM.CREATE.DEAD', '{"name":"DEAD","subjects":["dead.>"]}');
}

async function makeConsumer(client: NatsConnection, changes: object = {}): Promise<Answer> {
  const config = {
    name: 'worker',
    durable_name: 'worker',
    ack_policy: 'explicit',
    ack_wait: ACK_WAIT_NS,
    max_deliver: 2,
    metadata: { [KEY]: 'dead.orders' },
    ...changes,
  };
  return ask(client, 'CONSUMER.CREATE.ORDERS.worker', JSON.stringify({ stream_name: 'ORDERS', config }));
}

async function consumerInfo(client: NatsConnection): Promise<Answer> {
  return ask(client, 'CONSUMER.INFO.ORDERS.worker', '');
}

async function messagesIn(client: NatsConnection, stream: string): Promise<number> {
  return (await ask(client, `STREAM.INFO.${stream}`, '')).state?.messages ?? 0;
}

/** The client would refuse some of these headers. */
async function publishWithHeaders(client: NatsConnection, subject: string, block: string): Promise<void> {
  const given = headers();
  for (const line of block.split('\r\n').slice(1, -2)) {
    const [name = '', value = ''] = line.split(': ');
    given.set(name, value);
  }
  await client.request(subject, '', { headers: given, timeout: 1000 });
}

function headersOf(encoded = ''): Record<string, string> {
  const lines = atob(encoded).split('\r\n').slice(1, -2);
  return Object.fromEntries(lines.map((line) => line.split(': ') as [string, string]));
}
