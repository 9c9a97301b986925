/** How much streams may hold is what the configuration says, or what the machine has. */
import { join } from 'node:path';
import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import { expect, it, onTestFinished } from 'vitest';
import { isAbsent, natsServer, petiole, type RunningServer, startServer, type Target } from '../helpers/targets.ts';
import { makeTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

const targets = [natsServer(), petiole()].filter((target): target is Target => !isAbsent(target));
const own = targets.filter(({ name }) => name === 'petiole');
const PAYLOAD = 'x'.repeat(600);

it.each(targets)('a limit of -1 is none, of $name $version', async (target) => {
  const client = await clientOf(target, 'max_mem_store: -1, max_file_store: -1');
  expect(await publishTo(client, 'file', 2)).toMatchObject({ seq: 2 });
  expect(await publishTo(client, 'memory', 2)).toMatchObject({ seq: 2 });
});

it.each(targets)('a stream takes no more than the limit, of $name $version', async (target) => {
  const client = await clientOf(target, 'max_mem_store: 1024, max_file_store: 1024');
  expect(await publishTo(client, 'file', 4)).toMatchObject({ error: { err_code: 10023 } });
  expect(await publishTo(client, 'memory', 4)).toMatchObject({ error: { err_code: 10023 } });
});

it.each(targets)('the streams of an account hold no more than the account may, of $name $version', async (target) => {
  const client = await accountOf(target, 'max_file: 2048, max_mem: 1024');
  expect(await publishTo(client, 'file', 2)).toMatchObject({ seq: 2 });
  expect(await publishTo(client, 'other', 1)).toMatchObject({ seq: 1 });
  expect(await publishTo(client, 'other', 1)).toMatchObject({ error: { err_code: 10002 }, stream: 'other', seq: 0 });
  expect(await publishTo(client, 'file', 1)).toMatchObject({ error: { err_code: 10002 } });
  expect(await publishTo(client, 'memory', 2)).toMatchObject({ error: { err_code: 10002 } });
  // What goes makes room again, also for the other stream.
  await client.request('$JS.API.STREAM.PURGE.file');
  expect(await publishTo(client, 'other', 2)).toMatchObject({ seq: 3 });
  expect(await publishTo(client, 'other', 1)).toMatchObject({ error: { err_code: 10002 } });
  await client.request('$JS.API.STREAM.DELETE.other');
  expect(await publishTo(client, 'file', 2)).toMatchObject({ seq: 4 });
});

// nats-server counts a moment later, and takes some more.
it.each(own)('messages sent at once share the room of their account, of $name', async (target) => {
  const client = await accountOf(target, 'max_file: 2048, max_mem: 1024');
  await publishTo(client, 'file', 0);
  await publishTo(client, 'other', 0);
  const sent = Array.from({ length: 10 }, (_, at) => client.request(at % 2 === 0 ? 'file' : 'other', PAYLOAD));
  const answers = (await Promise.all(sent)).map((answer) => answer.json<{ error?: { err_code: number } }>());
  expect(answers.filter(({ error }) => error === undefined)).toHaveLength(3);
  expect(answers.filter(({ error }) => error?.err_code === 10002)).toHaveLength(7);
});

it.each(targets)('a batch takes no more than its account may hold, of $name $version', async (target) => {
  const client = await accountOf(target, 'max_file: 2048, max_mem: 1024');
  await publishTo(client, 'file', 3, { allow_atomic: true });
  expect(await publishBatch(client, 'file')).toMatchObject({ error: { err_code: 10002 } });
});

it.each(targets)('what an account holds is known after a restart, of $name $version', async (target) => {
  const directory = makeTemporaryDirectory();
  const config = accountConfig('max_file: 2048, max_mem: 1024', join(directory, 'store'));
  const first = await startServer(target, { config });
  const client = await clientAt(first);
  expect(await publishTo(client, 'file', 3)).toMatchObject({ seq: 3 });
  await client.close();
  await first.stop();
  const second = await startServer(target, { config });
  onTestFinished(() => second.stop());
  expect(await publishTo(await clientAt(second), 'file', 1)).toMatchObject({ error: { err_code: 10002 } });
});

// The mirror of a nats-server stops for good.
it.each(own)('a mirror goes on when its account has room again, of $name', async (target) => {
  const client = await accountOf(target, 'max_file: 5000, max_mem: 1024');
  await publishTo(client, 'file', 4);
  const mirror = { name: 'copy', storage: 'file', mirror: { name: 'file' } };
  await client.request('$JS.API.STREAM.CREATE.copy', JSON.stringify(mirror));
  await until(async () => (await messagesOf(client, 'copy')) === 3, 'what there is room for');
  await client.request('$JS.API.STREAM.UPDATE.file', JSON.stringify({ ...streamOf('file'), max_msgs: 1 }));
  await until(async () => (await messagesOf(client, 'copy')) === 4, 'the rest');
  expect(await messagesOf(client, 'file')).toBe(1);
});

it.each(targets)('the log tells of an account that has too much, seldom, of $name $version', async (target) => {
  const config = `jetstream { store_dir: store }
    accounts {
      A { jetstream { max_file: 1024, max_mem: 1024 }, users: [{ user: u, password: p }] }
      B { jetstream { max_file: 1024, max_mem: 1024 }, users: [{ user: v, password: p }] }
    }`;
  const server = await startServer(target, { config });
  onTestFinished(() => server.stop());
  const [a, b] = [await clientAt(server, 'u'), await clientAt(server, 'v')];
  for (const stream of ['file', 'other', 'memory']) await publishTo(a, stream, 4);
  await publishTo(b, 'file', 4, { allow_atomic: true });
  await publishBatch(b, 'file');
  const noticesIn = (log: string): string[] => log.match(/\[WRN\] JetStream .*/g)?.toSorted() ?? [];
  const expected = [
    "[WRN] JetStream account limits exceeded for 'B': resource limits exceeded for account (10002)",
    '[WRN] JetStream file resource limits exceeded for account: "A"',
    '[WRN] JetStream file resource limits exceeded for account: "B"',
    '[WRN] JetStream memory resource limits exceeded for account: "A"',
  ];
  await until(() => new Set(noticesIn(server.log)).size === 4, 'all notices');
  expect([...new Set(noticesIn(server.log))]).toEqual(expected);
  // Of thirteen messages that were refused in a moment.
  expect(noticesIn(server.log).length).toBeLessThan(13);
});

it.each(targets)('the log tells once that the server has too much, of $name $version', async (target) => {
  const config = 'jetstream { store_dir: store, max_mem_store: 1024, max_file_store: 1024 }';
  const server = await startServer(target, { config });
  onTestFinished(() => server.stop());
  const client = await clientAt(server);
  expect(await publishTo(client, 'file', 4)).toMatchObject({ error: { err_code: 10023 } });
  expect(await publishTo(client, 'memory', 4)).toMatchObject({ error: { err_code: 10023 } });
  const notices = (): string[] => server.log.match(/\[ERR\] JetStream .*/g) ?? [];
  await until(() => notices().length > 0, 'a notice');
  expect(notices()).toEqual(['[ERR] JetStream file resource limits exceeded for server']);
});

async function messagesOf(client: NatsConnection, stream: string): Promise<number> {
  const answer = await client.request(`$JS.API.STREAM.INFO.${stream}`);
  return answer.json<{ state: { messages: number } }>().state.messages;
}

function accountConfig(limits: string, store: string): string {
  return `jetstream { store_dir: "${store}" }
    accounts { A { jetstream { ${limits} }, users: [{ user: u, password: p }] } }
    no_auth_user: u`;
}

async function accountOf(target: Target, limits: string): Promise<NatsConnection> {
  const server = await startServer(target, { config: accountConfig(limits, 'store') });
  onTestFinished(() => server.stop());
  return clientAt(server);
}

async function clientOf(target: Target, limits: string): Promise<NatsConnection> {
  const server = await startServer(target, { config: `jetstream { store_dir: "store", ${limits} }` });
  onTestFinished(() => server.stop());
  return clientAt(server);
}

async function clientAt(server: RunningServer, user = ''): Promise<NatsConnection> {
  const { host, port } = server.address();
  const login = user === '' ? {} : { user, pass: 'p' };
  const client = await connect({ servers: `${host}:${port}`, ...login });
  onTestFinished(() => client.close());
  return client;
}

/** Makes a stream and publishes to it; the last acknowledgement. */
async function publishTo(client: NatsConnection, name: string, count: number, settings: object = {}): Promise<unknown> {
  await client.request(`$JS.API.STREAM.CREATE.${name}`, JSON.stringify({ ...streamOf(name), ...settings }));
  let acknowledgement: unknown = null;
  for (let sent = 0; sent < count; sent++) acknowledgement = (await client.request(name, PAYLOAD)).json();
  return acknowledgement;
}

/** Publishes one message as a batch of its own; the answer. */
async function publishBatch(client: NatsConnection, subject: string): Promise<unknown> {
  const batch = headers();
  for (const [name, value] of Object.entries({ Id: 'b', Sequence: '1', Commit: '1' })) {
    batch.set(`Nats-Batch-${name}`, value);
  }
  return (await client.request(subject, PAYLOAD, { timeout: 5000, headers: batch })).json();
}

function streamOf(name: string): object {
  return { name, subjects: [name], storage: name === 'memory' ? 'memory' : 'file' };
}
