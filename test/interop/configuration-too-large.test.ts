import { connect } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { startServer } from '../../server/index.ts';

test('a configuration larger than the log takes is refused, and the server goes on', async () => {
  const server = await startServer({ jetstream: true });
  onTestFinished(() => server.close());
  const connection = await connect({ servers: server.url });
  onTestFinished(() => connection.close());
  const ask = async (request: string, config: object): Promise<Record<string, unknown>> =>
    (await connection.request(`$JS.API.${request}`, JSON.stringify(config))).json();
  const subjects = (count: number): string[] =>
    Array.from({ length: count }, (_, i) => `site.${i}.reading.temperature`);
  const of = (count: number): object => ({
    name: 'S',
    subjects: subjects(count),
    storage: 'file',
    retention: 'limits',
  });

  const refused = await ask('STREAM.CREATE.S', of(20_000));
  expect(refused['error']).toEqual({ code: 500, err_code: 10_049, description: 'stream configuration too large' });
  expect(await ask('STREAM.CREATE.S', of(10))).toMatchObject({ did_create: true });
  const stays = await ask('STREAM.UPDATE.S', of(20_000));
  expect(stays['error']).toEqual({ code: 500, err_code: 10_069, description: 'stream configuration too large' });
  expect(await ask('STREAM.INFO.S', {})).toMatchObject({ config: { subjects: subjects(10) } });
});
