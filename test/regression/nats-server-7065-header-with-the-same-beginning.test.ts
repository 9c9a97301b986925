/** nats-server#7065: a header was looked up by its beginning, and a longer one that stood before it was found instead. */
import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import type { Target } from '../helpers/targets.ts';

const SEQUENCE = 'Nats-Expected-Last-Subject-Sequence';
const SUBJECT = 'Nats-Expected-Last-Subject-Sequence-Subject';

async function streamWithThree(target: Target): Promise<NatsConnection> {
  const server = await serve(target, 'jetstream { store_dir: "store" }');
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}` });
  onTestFinished(() => client.close());
  await client.request('$JS.API.STREAM.CREATE.S', JSON.stringify({ name: 'S', subjects: ['s.*'] }));
  for (const subject of ['s.a', 's.b', 's.b']) await client.request(subject);
  return client;
}

async function publish(client: NatsConnection, given: readonly (readonly [string, string])[]): Promise<unknown> {
  const block = headers();
  for (const [name, value] of given) block.append(name, value);
  return (await client.request('s.c', '', { headers: block, timeout: 5000 })).json();
}

describeTargets('two headers of which one begins with the other', (target) => {
  test.each([
    ['the longer one first', true],
    ['the shorter one first', false],
  ])('are both obeyed, %s', async (_, isLongerFirst) => {
    const client = await streamWithThree(target);
    const expecting = async (sequence: number): Promise<unknown> => {
      const both = [
        [SUBJECT, 's.a'],
        [SEQUENCE, String(sequence)],
      ] as const;
      return publish(client, isLongerFirst ? both : both.toReversed());
    };
    // The last of s.a is 1; of s.c, to which is published, there is none, and the last of all is 3.
    for (const wrong of [0, 2, 3]) {
      expect(await expecting(wrong)).toMatchObject({
        error: { err_code: 10071, description: 'wrong last sequence: 1' },
      });
    }
    expect(await expecting(1)).toMatchObject({ stream: 'S', seq: 4 });
  });
});
