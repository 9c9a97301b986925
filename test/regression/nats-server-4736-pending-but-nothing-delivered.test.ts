/**
 * nats-server#4736, #7680, #6290: a consumer had pending messages and delivered none, mostly after a restart. Workers
 * handle messages as they please, the server is stopped and killed meanwhile, and in the end everything gets handled.
 * SEED in the environment repeats the choices of an earlier run.
 */
import { connect, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { SeededRandom } from '../../server/io/simulated/seeded-random.ts';
import { describeTargets } from '../helpers/describe-targets.ts';
import { startServer } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const LIVES = 3;
const MESSAGES_PER_LIFE = 60;
const ROUNDS = 15;
const CONSUMERS = ['a', 'b'];
const ACK_WAIT_NS = 300_000_000;
const REQUEST_MS = 10_000;

describeTargets(`consumers of a server that is restarted (SEED=${SEED})`, (target) => {
  test.each(['limits', 'interest'])('deliver everything in the end: %s', async (retention) => {
    const random = new SeededRandom(SEED).fork(retention);
    const config = `jetstream { store_dir: "${temporaryDirectory()}" }`;
    let left: readonly Msg[] | null = null;
    for (let life = 0; life < LIVES; life++) {
      const server = await startServer(target, { config });
      onTestFinished(() => server.stop());
      const { host, port } = server.address();
      const client = await connect({ servers: `${host}:${port}`, reconnect: false });
      if (life === 0) await make(client, retention);
      for (let each = 0; each < MESSAGES_PER_LIFE; each++) await ask(client, `s.${each % 3}`, '');
      for (let round = 0; round < ROUNDS; round++) await work(client, random);
      if (life === LIVES - 1) left = await handleEverything(client);
      server.signal(random.below(2) === 0 ? 'SIGKILL' : 'SIGTERM');
      await until(() => server.exited, 'the end', 10_000);
      await client.close();
    }
    expect(left).toEqual([]);
  });
});

async function make(client: NatsConnection, retention: string): Promise<void> {
  await ask(client, '$JS.API.STREAM.CREATE.S', JSON.stringify({ name: 'S', subjects: ['s.*'], retention }));
  for (const name of CONSUMERS) {
    const config = { durable_name: name, ack_policy: 'explicit', ack_wait: ACK_WAIT_NS, max_ack_pending: 20 };
    await ask(client, `$JS.API.CONSUMER.DURABLE.CREATE.S.${name}`, JSON.stringify({ stream_name: 'S', config }));
  }
}

/** One of the consumers is asked for some messages, and each is handled, refused, or forgotten. */
async function work(client: NatsConnection, random: SeededRandom): Promise<void> {
  for (const message of await pull(client, random.pick(CONSUMERS), 1 + random.below(12), 200)) {
    const word = random.pick(['+ACK', '+ACK', '+ACK', '-NAK', '-NAK {"delay":100000000}', '+WPI', '+TERM', '']);
    if (word !== '') client.publish(message.reply ?? '', word);
  }
}

/** Acknowledges what comes until nothing is pending; returns what comes after that. */
async function handleEverything(client: NatsConnection): Promise<Msg[]> {
  const left: Msg[] = [];
  for (const name of CONSUMERS) {
    const isDone = async (): Promise<boolean> => {
      for (const { reply = '' } of await pull(client, name, 50, 500)) await ask(client, reply, '+ACK');
      const info = await ask<ConsumerInfo>(client, `$JS.API.CONSUMER.INFO.S.${name}`, '');
      return info.num_pending === 0 && info.num_ack_pending === 0;
    };
    await until(isDone, `everything of ${name}`, 20_000);
    left.push(...(await pull(client, name, 1, 300)));
  }
  return left;
}

interface ConsumerInfo {
  readonly num_pending: number;
  readonly num_ack_pending: number;
}

async function pull(client: NatsConnection, name: string, batch: number, forMs: number): Promise<Msg[]> {
  const inbox = `_INBOX.${name}.${Math.random().toString(36).slice(2)}`;
  const messages: Msg[] = [];
  let isOver = false;
  const subscription = client.subscribe(inbox, {
    callback: (_error, message) => {
      if (message.headers === undefined) messages.push(message);
      isOver = message.headers !== undefined || messages.length === batch;
    },
  });
  const request = JSON.stringify({ batch, expires: forMs * 1e6 });
  client.publish(`$JS.API.CONSUMER.MSG.NEXT.S.${name}`, request, { reply: inbox });
  await until(() => isOver, `messages of ${name}, or that there are none`, REQUEST_MS);
  subscription.unsubscribe();
  return messages;
}

async function ask<T>(client: NatsConnection, subject: string, body: string): Promise<T> {
  const answer = await client.request(subject, body, { timeout: REQUEST_MS });
  return (answer.data.length === 0 ? {} : answer.json()) as T;
}
