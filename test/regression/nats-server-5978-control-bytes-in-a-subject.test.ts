/** nats-server#5978: subjects with several NUL and DEL bytes made the index of a stream recurse until the server died. */
import { connect } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { clientOf, describeTargets, serve } from '../helpers/describe-targets.ts';

const SUBJECTS = ['all.\0.\0.\x7f', 'all.\0\0\0\0.\x7f\x7f\x7f', 'all.\x7f.\0', 'all.a\0b.\x01', 'all.\x7f', 'all.\0'];

describeTargets('subjects with control bytes', (target) => {
  test('are stored or refused, each comes back as it was, and the server lives', async () => {
    const server = await serve(target, 'jetstream { store_dir: "store" }');
    const { host, port } = server.address();
    const client = await connect({ servers: `${host}:${port}` });
    onTestFinished(() => client.close());
    const request = async (subject: string, body: object): Promise<unknown> =>
      (await client.request(`$JS.API.${subject}`, JSON.stringify(body))).json();
    await request('STREAM.CREATE.ALL', { name: 'ALL', subjects: ['all.>'] });
    for (const [i, subject] of SUBJECTS.entries()) {
      expect((await client.request(subject, 'x')).json()).toEqual({ stream: 'ALL', seq: i + 1 });
    }
    for (const [i, subject] of SUBJECTS.entries()) {
      expect(await request('STREAM.MSG.GET.ALL', { seq: i + 1 })).toMatchObject({ message: { subject } });
    }
    expect(await request('STREAM.INFO.ALL', {})).toMatchObject({ state: { messages: SUBJECTS.length } });
    await (await clientOf(server)).quiet();
  });
});
