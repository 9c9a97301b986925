/** Mirrors and sources whose origin comes late, goes, comes again as another one, or is not what it was. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { serve } from '../helpers/describe-targets.ts';
import { isAbsent, petiole, type RunningServer } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

const SOON_MS = 12_000;

interface Info {
  readonly state: { readonly messages: number; readonly last_seq: number };
  readonly mirror?: { readonly error?: { readonly err_code: number; readonly description: string } };
  readonly sources?: { readonly seq?: number; readonly error?: { readonly err_code: number } }[];
}

describe('petiole', () => {
  test('feeds a stream from an origin that comes later', async () => {
    const { ask, held, publish } = await start();
    await ask('STREAM.CREATE.M', { name: 'M', mirror: { name: 'O' } });
    await ask('STREAM.CREATE.S', { name: 'S', sources: [{ name: 'O' }] });
    await until(async () => (await ask<Info>('STREAM.INFO.M')).mirror?.error?.err_code === 10_059, 'the error');
    await ask('STREAM.CREATE.O', { name: 'O', subjects: ['o'] });
    await publish('o', 5);
    for (const stream of ['M', 'S'])
      await until(async () => (await held(stream)) === 5, `${stream} to be fed`, SOON_MS);
    const { mirror } = await ask<Info>('STREAM.INFO.M');
    expect(mirror).not.toHaveProperty('error');
  });

  test('reads a source anew that was made anew', async () => {
    const { ask, held, publish } = await start();
    await ask('STREAM.CREATE.O', { name: 'O', subjects: ['o'] });
    await ask('STREAM.CREATE.S', { name: 'S', sources: [{ name: 'O' }] });
    await publish('o', 5);
    await until(async () => (await held('S')) === 5, 'the stream to be fed');
    await ask('STREAM.DELETE.O');
    await ask('STREAM.CREATE.O', { name: 'O', subjects: ['o'] });
    await publish('o', 3);
    await until(async () => (await held('S')) === 8, 'the new messages', SOON_MS);
    expect((await ask<Info>('STREAM.INFO.S')).sources?.[0]).toMatchObject({ seq: 3 });
  });

  test('does not mix what a mirror has with the messages of an origin that was made anew', async () => {
    const { ask, held, log, publish } = await start();
    await ask('STREAM.CREATE.O', { name: 'O', subjects: ['o'] });
    await ask('STREAM.CREATE.M', { name: 'M', mirror: { name: 'O' } });
    await publish('o', 3);
    await until(async () => (await held('M')) === 3, 'the mirror to be fed');
    await ask('STREAM.DELETE.O');
    await ask('STREAM.CREATE.O', { name: 'O', subjects: ['o'] });
    await publish('o', 6);
    await until(
      async () => (await ask<Info>('STREAM.INFO.M')).mirror?.error?.err_code === 10_225,
      'the error',
      SOON_MS,
    );
    expect(await held('M')).toBe(3);
    const { mirror } = await ask<Info>('STREAM.INFO.M');
    expect(mirror?.error?.description).toBe(
      'stream O of the origin was made anew: the mirror has stopped. ' +
        'It keeps what it has; to mirror the new stream, delete the mirror and create it again',
    );
    const told = "[WRN] Mirror '$G > M' has stopped: stream O of the origin was made anew. It keeps what it has; ";
    await until(() => log().includes(told), 'the warning');
    await ask('STREAM.DELETE.M');
    await ask('STREAM.CREATE.M', { name: 'M', mirror: { name: 'O' } });
    await until(async () => (await held('M')) === 6, 'the new mirror to be fed', SOON_MS);
    expect(log().split(told)).toHaveLength(2);
  });

  test('goes on behind a restart where every stream was, though messages have gone', async () => {
    const storeDirectory = temporaryDirectory();
    const first = await start(storeDirectory);
    await first.ask('STREAM.CREATE.O', { name: 'O', subjects: ['o'] });
    await first.ask('STREAM.CREATE.M', { name: 'M', mirror: { name: 'O' } });
    await first.ask('STREAM.CREATE.S', { name: 'S', sources: [{ name: 'O' }] });
    await first.publish('o', 5);
    for (const stream of ['M', 'S']) {
      await until(async () => (await first.held(stream)) === 5, `${stream} to be fed`);
      await first.ask(`STREAM.PURGE.${stream}`);
    }
    await first.stop();
    const second = await start(storeDirectory);
    await second.publish('o', 2);
    for (const stream of ['M', 'S']) await until(async () => (await second.held(stream)) === 2, `${stream} to go on`);
    expect((await second.ask<Info>('STREAM.INFO.M')).state).toMatchObject({ messages: 2, last_seq: 7 });
    expect((await second.ask<Info>('STREAM.INFO.S')).sources?.[0]).toMatchObject({ seq: 7 });
  });

  test('answers direct gets of an origin from its mirror, where that is all there is', async () => {
    const { ask, client, held, publish } = await start();
    await ask('STREAM.CREATE.O', { name: 'O', subjects: ['o'], allow_direct: true });
    await ask('STREAM.CREATE.M', { name: 'M', mirror: { name: 'O' } });
    await publish('o', 3);
    await until(async () => (await held('M')) === 3, 'the mirror to be fed');
    await ask('STREAM.DELETE.O');
    const answer = await client.request('$JS.API.DIRECT.GET.O', '{"seq":2}');
    expect(answer.string()).toBe('2');
    expect(answer.headers?.get('Nats-Stream')).toBe('M');
    await ask('STREAM.UPDATE.M', { name: 'M', subjects: ['m'] });
    await expect(client.request('$JS.API.DIRECT.GET.O', '{"seq":2}')).rejects.toThrow(/no responders/i);
  });

  test('makes a consumer anew that somebody removed', async () => {
    const { ask, held, publish, client } = await start();
    await ask('STREAM.CREATE.O', { name: 'O', subjects: ['o'], retention: 'workqueue' });
    await ask('STREAM.CREATE.S', { name: 'S', sources: [{ name: 'O' }] });
    await publish('o', 1);
    await until(async () => (await held('S')) === 1, 'the stream to be fed');
    const { consumers } = await ask<{ consumers: string[] }>('CONSUMER.NAMES.O');
    await client.request(`$JS.API.CONSUMER.DELETE.O.${consumers[0]}`);
    await publish('o', 2);
    await until(async () => (await held('S')) === 3, 'the stream to go on', SOON_MS);
    expect((await ask<{ consumers: string[] }>('CONSUMER.NAMES.O')).consumers).toEqual(consumers);
  });

  test('fills a stream that is full by and by, and loses nothing of its source', async () => {
    const { ask, held, publish } = await start();
    await ask('STREAM.CREATE.O', { name: 'O', subjects: ['o'] });
    await ask('STREAM.CREATE.S', { name: 'S', sources: [{ name: 'O' }], max_msgs: 3, discard: 'new' });
    await publish('o', 5);
    await until(
      async () => (await ask<Info>('STREAM.INFO.S')).sources?.[0]?.error?.err_code === 10_077,
      'the error',
      SOON_MS,
    );
    await until(async () => (await held('S')) === 3, 'the stream to be full');
    await ask('STREAM.PURGE.S');
    await until(async () => (await held('S')) === 2, 'the rest', SOON_MS);
    expect((await ask<Info>('STREAM.INFO.S')).sources?.[0]).not.toHaveProperty('error');
  });
});

interface Running {
  readonly client: NatsConnection;
  readonly ask: <T = object>(request: string, body?: object) => Promise<T>;
  readonly held: (stream: string) => Promise<number>;
  /** Publishes numbers; the first one is 1. */
  readonly publish: (subject: string, count: number) => Promise<void>;
  readonly log: () => string;
  readonly stop: () => Promise<void>;
}

async function start(storeDirectory = temporaryDirectory()): Promise<Running> {
  const target = petiole();
  if (isAbsent(target)) throw new Error(target.absent);
  const server: RunningServer = await serve(target, `jetstream { store_dir: ${JSON.stringify(storeDirectory)} }`);
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}`, reconnect: false });
  onTestFinished(() => client.close());
  const ask = async <T>(request: string, body?: object): Promise<T> => {
    const text = body === undefined ? '' : JSON.stringify(body);
    return (await client.request(`$JS.API.${request}`, text)).json<T>();
  };
  return {
    client,
    ask,
    held: async (stream) => (await ask<Info>(`STREAM.INFO.${stream}`)).state.messages,
    publish: async (subject, count) => {
      for (let n = 1; n <= count; n++) await client.request(subject, String(n));
    },
    log: () => server.log,
    stop: async () => {
      server.signal('SIGTERM');
      await until(() => server.exited, 'the server to stop');
    },
  };
}
