/** Accounts, keys and JetStream between them, as official clients see them on nats-server and on petiole. */
import { createUser } from '@nats-io/nkeys';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import {
  connect,
  headers,
  type ConnectionOptions,
  type NatsConnection,
  nkeyAuthenticator,
} from '@nats-io/transport-node';
import { expect, it, onTestFinished } from 'vitest';
import { isAbsent, natsServer, petiole, type RunningServer, startServer, type Target } from '../helpers/targets.ts';

const targets = [natsServer(), petiole()].filter((target): target is Target => !isAbsent(target));

const JETSTREAM_CONFIG = `
  jetstream { store_dir: "store", max_mem: 10M, max_file: 10M }
  accounts {
    L {
      users: [ { user: l, password: l } ]
      jetstream: { max_store: 2M, max_mem: 1M, max_streams: 2, max_consumers: 1, max_bytes_required: true, max_ack_pending: 10 }
    }
    F {
      users: [ { user: f, password: f } ]
      jetstream: enabled
      exports: [ { service: "$JS.API.>", response_type: stream }, { service: "$JS.ACK.>" } ]
    }
    N {
      users: [ { user: n, password: n } ]
      imports: [
        { service: { account: F, subject: "$JS.API.>" }, to: "far.API.>" }
        { service: { account: F, subject: "$JS.ACK.>" } }
      ]
    }
  }`;

it.each(targets)('a key signs what INFO asks for, at $name $version', async (target) => {
  const [user, other] = [createUser(), createUser()];
  const config = `accounts { A { users: [ { nkey: ${user.getPublicKey()} } ] } }`;
  const server = await serve(target, config);
  const client = await clientOf(server, { authenticator: nkeyAuthenticator(user.getSeed()) });
  const who = await client.request('$SYS.REQ.USER.INFO');
  expect(who.json()).toMatchObject({ data: { user: user.getPublicKey(), account: 'A' } });
  const stranger = clientOf(server, { authenticator: nkeyAuthenticator(other.getSeed()) });
  await expect(stranger).rejects.toThrow(/authorization violation/i);
  const forged = clientOf(server, {
    authenticator: (nonce?: string) => ({
      nkey: user.getPublicKey(),
      sig: base64Url(other.sign(Buffer.from(nonce ?? ''))),
    }),
  });
  await expect(forged).rejects.toThrow(/authorization violation/i);
});

it.each(targets)('a stream does not keep who published from another account, at $name $version', async (target) => {
  const server = await serve(
    target,
    `jetstream { store_dir: "store" }
    accounts {
      F { users: [ { user: f, password: f } ], jetstream: enabled, exports: [ { service: "orders.>" } ] }
      N { users: [ { user: n, password: n } ], imports: [ { service: { account: F, subject: "orders.>" } } ] }
    }`,
  );
  const owner = await clientOf(server, { user: 'f', pass: 'f' });
  const other = await clientOf(server, { user: 'n', pass: 'n' });
  await ask(owner, 'STREAM.CREATE.O', { name: 'O', subjects: ['orders.>'], storage: 'memory' });
  expect((await other.request('orders.1', 'plain')).json()).toEqual({ stream: 'O', seq: 1 });
  const own = headers();
  own.set('Nats-Msg-Id', 'a');
  expect((await other.request('orders.2', 'named', { headers: own, timeout: 5000 })).json()).toEqual({
    stream: 'O',
    seq: 2,
  });
  const block = Buffer.from('NATS/1.0\r\nNats-Msg-Id: a\r\n\r\n').toString('base64');
  const plain = await ask(owner, 'STREAM.MSG.GET.O', { seq: 1 });
  expect(plain).toMatchObject({ message: { subject: 'orders.1' } });
  expect(plain).not.toHaveProperty('message.hdrs');
  expect(await ask(owner, 'STREAM.MSG.GET.O', { seq: 2 })).toMatchObject({ message: { hdrs: block } });
});

it.each(targets)('accounts have JetStream for themselves, or none, at $name $version', async (target) => {
  const server = await serve(target, JETSTREAM_CONFIG);
  const limited = await clientOf(server, { user: 'l', pass: 'l' });
  const free = await clientOf(server, { user: 'f', pass: 'f' });
  const none = await clientOf(server, { user: 'n', pass: 'n' });
  const make = (client: NatsConnection, name: string, more: object): Promise<unknown> =>
    ask(client, `STREAM.CREATE.${name}`, { name, subjects: [name], ...more });
  expect(await make(none, 'S', {})).toMatchObject({ error: { err_code: 10039 } });
  expect(await ask(none, 'INFO', {})).toMatchObject({ error: { err_code: 10039 } });
  expect(await make(free, 'S', {})).toMatchObject({ did_create: true });
  expect(await ask(limited, 'STREAM.NAMES', {})).toMatchObject({ total: 0 });
  expect(await make(limited, 'S', {})).toMatchObject({ error: { err_code: 10113 } });
  expect(await make(limited, 'S', { max_bytes: 3_000_000 })).toMatchObject({ error: { err_code: 10047 } });
  expect(await make(limited, 'M', { max_bytes: 1_500_000, storage: 'memory' })).toMatchObject({
    error: { err_code: 10028 },
  });
  expect(await make(limited, 'S', { max_bytes: 1_000_000 })).toMatchObject({ did_create: true });
  expect(await make(limited, 'T', { max_bytes: 1_000 })).toMatchObject({ did_create: true });
  expect(await make(limited, 'U', { max_bytes: 1_000 })).toMatchObject({ error: { err_code: 10027 } });
  const consume = (name: string, more: object): Promise<unknown> =>
    ask(limited, `CONSUMER.CREATE.S.${name}`, {
      stream_name: 'S',
      config: { name, durable_name: name, ack_policy: 'explicit', ...more },
    });
  expect(await consume('C', { max_ack_pending: 20 })).toMatchObject({ error: { err_code: 10121 } });
  expect(await consume('C', {})).toMatchObject({ config: { max_ack_pending: 10 } });
  expect(await consume('D', {})).toMatchObject({ error: { err_code: 10026 } });
  expect(await ask(limited, 'INFO', {})).toMatchObject({
    streams: 2,
    limits: { max_streams: 2, max_storage: 2_000_000 },
  });
});

it.each(targets)('a stream of another account is consumed by imports, at $name $version', async (target) => {
  const server = await serve(target, JETSTREAM_CONFIG);
  const owner = await clientOf(server, { user: 'f', pass: 'f' });
  const guest = await clientOf(server, { user: 'n', pass: 'n' });
  const manager = await jetstreamManager(owner);
  await manager.streams.add({ name: 'ORDERS', subjects: ['order'] });
  await manager.consumers.add('ORDERS', { durable_name: 'GUEST', ack_policy: 'explicit' });
  for (const each of ['one', 'two']) await jetstream(owner).publish('order', each);
  const consumer = await jetstream(guest, { apiPrefix: 'far.API', checkAPI: false }).consumers.get('ORDERS', 'GUEST');
  const received: string[] = [];
  for await (const message of await consumer.fetch({ max_messages: 2, expires: 2_000 })) {
    received.push(message.string());
    expect(await message.ackAck()).toBe(true);
  }
  expect(received).toEqual(['one', 'two']);
  expect(await manager.consumers.info('ORDERS', 'GUEST')).toMatchObject({ num_ack_pending: 0, num_pending: 0 });
});

it.each(targets)('a user hears of its right to answer, at $name $version', async (target) => {
  const permissions =
    '{ subscribe: "_INBOX.>", publish: "$SYS.REQ.USER.INFO", allow_responses: { max: 5, ttl: "10s" } }';
  const server = await serve(
    target,
    `accounts { A { users: [ { user: a, password: a, permissions: ${permissions} } ] } }`,
  );
  const client = await clientOf(server, { user: 'a', pass: 'a' });
  const { data } = (await client.request('$SYS.REQ.USER.INFO')).json<{ data: unknown }>();
  expect(data).toEqual({
    user: 'a',
    account: 'A',
    account_name: 'A',
    permissions: {
      publish: { allow: ['$SYS.REQ.USER.INFO'] },
      subscribe: { allow: ['_INBOX.>'] },
      responses: { max: 5, ttl: 10_000_000_000 },
    },
  });
});

async function serve(target: Target, config: string): Promise<RunningServer> {
  const server = await startServer(target, { config });
  onTestFinished(() => server.stop());
  return server;
}

async function clientOf(server: RunningServer, options: ConnectionOptions): Promise<NatsConnection> {
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}`, reconnect: false, ...options });
  onTestFinished(() => client.close());
  return client;
}

async function ask(client: NatsConnection, path: string, body: object): Promise<unknown> {
  return (await client.request(`$JS.API.${path}`, JSON.stringify(body))).json();
}

function base64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}
