/** nats-server#7585: `foo.>.bar` was taken as if it ended with the `>`. */
/* oxlint-disable vitest/expect-expect -- the wire clients assert */
import { connect } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { clientOf, describeTargets, serve } from '../helpers/describe-targets.ts';

const MALFORMED = ['foo.>.bar', '>.bar', 'foo.>.>'];
const INVALID_SUBJECT = { error: { code: 500, err_code: 10052, description: 'invalid subject' } };

describeTargets('a > that is not the last token', (target) => {
  test('is no subscription, and gets nothing', async () => {
    const server = await serve(target);
    const client = await clientOf(server);
    for (const subject of MALFORMED) {
      client.send(`SUB ${subject} 1\r\n`);
      await client.expect("-ERR 'Invalid Subject'\r\n");
    }
    client.send('PUB bar 0\r\n\r\nPUB foo.x.bar 0\r\n\r\nPUB foo.> 0\r\n\r\n');
    await client.quiet();
  });

  test('is no subject of a stream and no filter of a consumer', async () => {
    const server = await serve(target, 'jetstream { store_dir: "store" }');
    const { host, port } = server.address();
    const client = await connect({ servers: `${host}:${port}` });
    onTestFinished(() => client.close());
    const request = async (subject: string, body: object): Promise<unknown> =>
      (await client.request(`$JS.API.${subject}`, JSON.stringify(body))).json();
    await request('STREAM.CREATE.S', { name: 'S', subjects: ['foo.>'] });
    for (const subject of MALFORMED) {
      expect(await request('STREAM.CREATE.T', { name: 'T', subjects: [subject] })).toMatchObject(INVALID_SUBJECT);
      const config = { name: 'C', durable_name: 'C', ack_policy: 'explicit', filter_subject: subject };
      const answer = await request('CONSUMER.CREATE.S.C', { stream_name: 'S', config });
      expect(answer).toMatchObject({ error: { code: expect.any(Number) } });
    }
    expect(await request('CONSUMER.NAMES.S', {})).toMatchObject({ total: 0 });
  });
});
