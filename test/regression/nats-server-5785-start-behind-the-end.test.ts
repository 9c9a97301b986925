/** nats-server#5785, #6253: a start sequence behind the end of the stream was taken back to the end. */
import { connect } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';

const START = 20;

describeTargets('a consumer that starts behind the end of its stream', (target) => {
  test('gets nothing before the message where it starts', async () => {
    const server = await serve(target, 'jetstream { store_dir: "store" }');
    const { host, port } = server.address();
    const client = await connect({ servers: `${host}:${port}` });
    onTestFinished(() => client.close());
    await client.request('$JS.API.STREAM.CREATE.S', '{"name":"S","subjects":["s"]}');
    const store = async (count: number): Promise<void> => {
      for (let left = count; left > 0; left--) await client.request('s', '');
    };
    await store(10);
    const config = { name: 'C', deliver_policy: 'by_start_sequence', opt_start_seq: START, ack_policy: 'explicit' };
    await client.request('$JS.API.CONSUMER.CREATE.S.C', JSON.stringify({ stream_name: 'S', config }));
    await store(START);
    const message = await client.request('$JS.API.CONSUMER.MSG.NEXT.S.C', '', { timeout: 5000, noMux: true });
    expect(message.reply?.split('.')[5]).toBe(`${START}`);
  });
});
