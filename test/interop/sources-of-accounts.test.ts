/** Streams that are fed from another account, which exports what that takes. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import type { RunningServer } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';

const CONFIG = `
jetstream { store_dir: "store" }
accounts {
  A {
    jetstream: enabled
    users: [ { user: a, password: a } ]
    exports: [
      { service: "$JS.API.CONSUMER.>" }
      { service: "$JS.FC.>" }
      { stream: "deliver.b.>" }
    ]
  }
  B {
    jetstream: enabled
    users: [ { user: b, password: b } ]
    imports: [
      { service: { account: A, subject: "$JS.API.CONSUMER.>" }, to: "of.a.CONSUMER.>" }
      { service: { account: A, subject: "$JS.FC.>" } }
      { stream: { account: A, subject: "deliver.b.>" } }
    ]
  }
}`;
const EXTERNAL = { api: 'of.a', deliver: 'deliver.b' };
const COUNT = 300;

describeTargets('a stream of another account', (target) => {
  test.each([
    ['mirrored', { mirror: { name: 'O', external: EXTERNAL } }],
    ['drawn from', { sources: [{ name: 'O', external: EXTERNAL }] }],
    ['drawn from with a filter', { sources: [{ name: 'O', filter_subject: 'o.>', external: EXTERNAL }] }],
  ])('is %s', async (_, config) => {
    const server = await serve(target, CONFIG);
    const [a, b] = [await connectAs(server, 'a'), await connectAs(server, 'b')];
    await a.request('$JS.API.STREAM.CREATE.O', JSON.stringify({ name: 'O', subjects: ['o.>'] }));
    const answer = await b.request('$JS.API.STREAM.CREATE.T', JSON.stringify({ name: 'T', ...config }));
    expect(answer.json()).not.toHaveProperty('error');
    // More than flow control lets pass without an answer.
    const subjects = Array.from({ length: COUNT }, (_each, at) => `o.${at + 1}`);
    await Promise.all(subjects.map((subject) => a.request(subject, 'x'.repeat(10_000), { timeout: 10_000 })));
    await until(async () => (await held(b)) === COUNT, 'all messages to be there', 10_000);
    const { message } = (await b.request('$JS.API.STREAM.MSG.GET.T', JSON.stringify({ seq: COUNT }))).json<{
      message: { subject: string; data: string };
    }>();
    expect(subjects).toContain(message.subject);
  });
});

async function connectAs(server: RunningServer, user: string): Promise<NatsConnection> {
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}`, user, pass: user });
  onTestFinished(() => client.close());
  return client;
}

async function held(client: NatsConnection): Promise<number> {
  const answer = await client.request('$JS.API.STREAM.INFO.T');
  return answer.json<{ state: { messages: number } }>().state.messages;
}
