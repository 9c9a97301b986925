/** nats-server#8301: a `%` in the name of a stream or consumer, and acknowledgements found nobody. */
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';

const NAMES = [
  ['a%b', 'c%d'],
  ['%s', '%d'],
  ['100%', '%'],
  ['a%41', 'a%00'],
] as const;

describeTargets('names with %', (target) => {
  test('acknowledgements move the floor', async () => {
    const server = await serve(target, 'jetstream { store_dir: "store" }');
    const { host, port } = server.address();
    const client = await connect({ servers: `${host}:${port}` });
    onTestFinished(() => client.close());
    const js = jetstream(client);
    const manager = await js.jetstreamManager();
    for (const [i, [stream, consumer]] of NAMES.entries()) {
      await manager.streams.add({ name: stream, subjects: [`p${i}.*`] });
      await manager.consumers.add(stream, { durable_name: consumer, ack_policy: 'explicit' });
      await js.publish(`p${i}.1`);
      await js.publish(`p${i}.2`);
      const pulled = await js.consumers.get(stream, consumer);
      for await (const message of await pulled.fetch({ max_messages: 2, expires: 5000 })) {
        expect(message.info).toMatchObject({ stream, consumer });
        expect(await message.ackAck()).toBe(true);
      }
      expect(await pulled.info()).toMatchObject({ ack_floor: { stream_seq: 2 }, num_ack_pending: 0 });
    }
  });
});
