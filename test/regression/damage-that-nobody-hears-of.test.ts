/**
 * A store whose files had been damaged started as if nothing were wrong: the log said nothing of blocks, indexes,
 * checkpoints and whole folders that were gone, nor of the messages that were missed later.
 */
import { mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { describe, expect, test } from 'vitest';
import { isAbsent, petiole, type RunningServer, startServer, type Target } from '../helpers/targets.ts';
import { makeTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

const MESSAGES = 20_000;
const BODY = Buffer.alloc(1000, 'x');
/** What is pulled comes under its own subject. */
const PULL = { timeout: 10_000, noMux: true };
const TARGET: Target = present();

type Damage = (streamFolder: string, consumerFolder: string) => void;

describe('a damaged store', () => {
  test('says at its start which files are damaged', async () => {
    const { folder, stream, consumer } = await filledStore();
    const damage: [RegExp, Damage][] = [
      [/"[^"]*00000002\/state\.[01]" is damaged/, () => spoilAll(consumer)],
      [/"[^"]*000002\.idx" is damaged or gone/, () => rmSync(join(stream, '000002.idx'))],
      [/"[^"]*000002\.blk" ends \d+ bytes early/, () => truncateSync(join(stream, '000002.blk'), 1000)],
      [/"[^"]*000001\.blk" is gone/, () => rmSync(join(stream, '000001.blk'))],
    ];
    for (const [, spoil] of damage) spoil(stream, consumer);
    const server = await startServer(TARGET, { config: configOf(folder) });
    try {
      for (const [line] of damage) expect(errorsOf(server)).toMatch(line);
      const client = await clientOf(server);
      // Some of what was in the block is in the log still; what is not is missed when it is read, and the server lives.
      const answer = await client.request('$JS.API.STREAM.MSG.GET.S', '{"seq":1}', { timeout: 10_000 });
      expect(answer.string()).toContain('stream_msg_get_response');
      expect((await client.request('s', 'x')).string()).toContain(`"seq":${MESSAGES + 1}`);
      await client.close();
    } finally {
      await server.stop();
    }
  }, 60_000);

  test('says which messages are lost when they are missed, and which folder is gone', async () => {
    const { folder, stream } = await filledStore();
    for (const name of readdirSync(stream)) {
      if (name.endsWith('.blk')) writeFileSync(join(stream, name), Buffer.alloc(8_000_000));
    }
    const server = await startServer(TARGET, { config: configOf(folder) });
    try {
      const client = await clientOf(server);
      for (const seq of [1, 2, 3])
        await client.request('$JS.API.STREAM.MSG.GET.S', `{"seq":${seq}}`, { timeout: 10_000 });
      await until(
        () => /Message 1 and \d+ more in "[^"]*" can't be read any more: lost/.test(errorsOf(server)),
        'the loss',
      );
      await client.close();
    } finally {
      await server.stop();
    }
    for (const name of ['state.0', 'state.1']) writeFileSync(join(stream, name), '');
    expect(await errorsOfAStart(folder)).toMatch(/state\.0" is damaged\n.*state\.1" is damaged\n.* has no checkpoint/);
    rmSync(stream, { recursive: true });
    expect(await errorsOfAStart(folder)).toMatch(/streams\/00000001" is gone, and the log does not hold all/);
  }, 60_000);
});

function present(): Target {
  const target = petiole();
  if (isAbsent(target)) throw new Error(target.absent);
  return target;
}

function configOf(folder: string): string {
  return `jetstream { store_dir: "${folder}" }`;
}

function errorsOf({ log }: RunningServer): string {
  return log
    .split('\n')
    .filter((line) => line.includes('[ERR]'))
    .join('\n');
}

async function errorsOfAStart(folder: string): Promise<string> {
  const server = await startServer(TARGET, { config: configOf(folder) });
  await server.stop();
  return errorsOf(server);
}

async function clientOf(server: RunningServer): Promise<NatsConnection> {
  const { host, port } = server.address();
  return connect({ servers: `${host}:${port}` });
}

/** More than the log keeps, in several blocks; stopped. */
async function filledStore(): Promise<{ folder: string; stream: string; consumer: string }> {
  const folder = makeTemporaryDirectory();
  mkdirSync(folder, { recursive: true });
  const server = await startServer(TARGET, { config: configOf(folder) });
  const client = await clientOf(server);
  await client.request('$JS.API.STREAM.CREATE.S', '{"name":"S","subjects":["s"]}');
  const config = '{"durable_name":"C","ack_policy":"explicit"}';
  await client.request('$JS.API.CONSUMER.CREATE.S.C', `{"stream_name":"S","config":${config}}`);
  for (let count = 1; count < MESSAGES; count++) {
    client.publish('s', BODY);
    if (count % 500 === 0) await client.flush();
  }
  await client.request('s', BODY, { timeout: 10_000 });
  const message = await client.request('$JS.API.CONSUMER.MSG.NEXT.S.C', '{"batch":1}', PULL);
  await client.request(message.reply ?? '', '+ACK', { timeout: 10_000 });
  await client.close();
  await server.stop();
  const store = join(folder, 'petiole');
  return { folder, stream: join(store, 'streams/00000001'), consumer: join(store, 'consumers/00000002') };
}

function spoilAll(folder: string): void {
  for (const name of readdirSync(folder)) writeFileSync(join(folder, name), 'spoiled');
}
