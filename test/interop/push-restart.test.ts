/** What a durable push consumer knows behind a restart of its server: what it delivered, and that it is paused. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import type { RunningServer, Target } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

/** Longer than a server on a busy machine takes to start. */
const PAUSE_MS = 4000;

async function clientOf(server: RunningServer): Promise<NatsConnection> {
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}`, reconnect: false });
  onTestFinished(() => client.close());
  return client;
}

/** A stream with three messages and a consumer that delivers them to `d`. */
async function prepare(client: NatsConnection, config: object): Promise<void> {
  const consumer = { durable_name: 'C', ack_policy: 'explicit', deliver_subject: 'd', ...config };
  await client.request('$JS.API.STREAM.CREATE.S', '{"name":"S","subjects":["s.>"]}');
  await client.request('$JS.API.CONSUMER.CREATE.S.C', JSON.stringify({ stream_name: 'S', config: consumer }));
  for (let i = 1; i <= 3; i++) await client.request(`s.${i}`, '');
}

/** Subject and number of the delivery of what comes to `d`; the first of `acknowledge` messages are acknowledged. */
function listen(client: NatsConnection, acknowledge: number): string[] {
  const heard: string[] = [];
  client.subscribe('d', {
    callback: (_error, message) => {
      if (heard.length < acknowledge) message.respond();
      heard.push(`${message.subject} ${message.reply?.split('.')[4] ?? ''}`);
    },
  });
  return heard;
}

async function info(client: NatsConnection): Promise<Record<string, unknown>> {
  return (await client.request('$JS.API.CONSUMER.INFO.S.C')).json();
}

async function stopped(server: RunningServer): Promise<void> {
  server.signal('SIGTERM');
  await until(() => server.exited, 'the server to stop');
}

function configIn(directory: string): string {
  return `jetstream { store_dir: ${JSON.stringify(directory)} }`;
}

describeTargets('a durable push consumer', (target: Target) => {
  test('goes on behind a restart with what is not acknowledged and what is new', async () => {
    const config = configIn(temporaryDirectory());
    const server = await serve(target, config);
    const client = await clientOf(server);
    await prepare(client, { ack_wait: 2e9 });
    const before = listen(client, 1);
    await until(() => before.length === 3, 'three messages');
    await until(async () => (await info(client))['num_ack_pending'] === 2, 'the acknowledgement');
    await stopped(server);
    const again = await clientOf(await serve(target, config));
    expect(await info(again)).toMatchObject({ num_ack_pending: 2, num_pending: 0, delivered: { consumer_seq: 3 } });
    const heard = listen(again, 3);
    await again.request('s.4', '');
    await until(() => heard.length === 3, 'three messages more');
    expect([...heard].sort()).toEqual(['s.2 2', 's.3 2', 's.4 1']);
  });

  test('delivers nothing again behind a restart where nothing is acknowledged', async () => {
    const config = configIn(temporaryDirectory());
    const server = await serve(target, config);
    const client = await clientOf(server);
    await prepare(client, { ack_policy: 'none' });
    const before = listen(client, 0);
    await until(() => before.length === 3, 'three messages');
    await stopped(server);
    const again = await clientOf(await serve(target, config));
    const stand = { consumer_seq: 3, stream_seq: 3 };
    expect(await info(again)).toMatchObject({ delivered: stand, ack_floor: stand, num_pending: 0, num_ack_pending: 0 });
    const heard = listen(again, 0);
    await again.request('s.4', '');
    await until(() => heard.length > 0, 'the new message');
    expect(heard).toEqual(['s.4 1']);
  });

  test('stays paused behind a restart, until its time', async () => {
    const config = configIn(temporaryDirectory());
    const server = await serve(target, config);
    const client = await clientOf(server);
    const end = Date.now() + PAUSE_MS;
    await prepare(client, { pause_until: new Date(end).toISOString() });
    const before = listen(client, 0);
    await stopped(server);
    const again = await clientOf(await serve(target, config));
    const heard = listen(again, 0);
    expect(await info(again)).toMatchObject({ paused: true, num_pending: 3 });
    expect(before).toEqual([]);
    await until(() => heard.length === 3, 'three messages', PAUSE_MS + 5000);
    expect(Date.now()).toBeGreaterThanOrEqual(end - 50);
    expect(await info(again)).not.toHaveProperty('paused');
  }, 20_000);
});
