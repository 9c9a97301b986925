/** nats-server#6777: an `@` in a subject broke the acknowledgement of a message that came over another server. */
import { jetstream } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import { isAbsent, natsServer, type RunningServer } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';

const SUBJECTS = ['foo.with.@.at', 'foo.@', 'foo.a@b', 'foo.@@.@'];
const hubTarget = natsServer();

async function connectTo(server: RunningServer): Promise<NatsConnection> {
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}` });
  onTestFinished(() => client.close());
  return client;
}

/** Publishes to a stream, fetches and acknowledges; the subjects as they came, and how many are not acknowledged. */
async function throughStream(client: NatsConnection, domain?: string): Promise<{ subjects: string[]; left: number }> {
  const js = jetstream(client, domain === undefined ? {} : { domain });
  const manager = await js.jetstreamManager();
  await manager.streams.add({ name: 'S', subjects: ['foo.>'] });
  await manager.consumers.add('S', { durable_name: 'C', ack_policy: 'explicit' });
  for (const subject of SUBJECTS) await js.publish(subject);
  const consumer = await js.consumers.get('S', 'C');
  const subjects: string[] = [];
  for await (const message of await consumer.fetch({ max_messages: SUBJECTS.length, expires: 5000 })) {
    subjects.push(message.subject);
    await message.ackAck();
  }
  const { ack_floor: floor } = await consumer.info();
  return { subjects, left: SUBJECTS.length - floor.stream_seq };
}

describeTargets('subjects with @', (target) => {
  test('come as they are and are acknowledged', async () => {
    const server = await serve(target, 'jetstream { store_dir: "store" }');
    expect(await throughStream(await connectTo(server))).toEqual({ subjects: SUBJECTS, left: 0 });
  });

  test.skipIf(isAbsent(hubTarget))('come over a leaf link as they are, and so do their acknowledgements', async () => {
    if (isAbsent(hubTarget)) throw new Error(hubTarget.absent);
    const hub = await serve(
      hubTarget,
      'leafnodes { listen: "127.0.0.1:-1" }\njetstream { store_dir: "store", domain: hub }',
    );
    const { port } = await hub.listening('leafnode');
    const edge = await serve(target, `leafnodes { remotes: [ { url: "nats://127.0.0.1:${port}" } ] }`);
    const client = await connectTo(edge);
    const isLinked = async (): Promise<boolean> =>
      client.request('$JS.hub.API.INFO', '', { timeout: 500 }).then(
        () => true,
        () => false,
      );
    await until(isLinked, 'the link');
    expect(await throughStream(client, 'hub')).toEqual({ subjects: SUBJECTS, left: 0 });
  });
});
