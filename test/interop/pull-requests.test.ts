/** When pull requests end, and what their requesters are told then. */
import { connect } from '@nats-io/transport-node';
import { expect, it, onTestFinished } from 'vitest';
import { isAbsent, natsServer, petiole, startServer, type Target } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';

const targets = [natsServer(), petiole()].filter((target): target is Target => !isAbsent(target));

it.each(targets)('one that does not wait ends when acknowledgements are missing for more, of $name', async (target) => {
  const heard = await heardBy(target, { batch: 5, no_wait: true, expires: 4e9, idle_heartbeat: 5e7 });
  expect(heard).toEqual(['message', '404 No Messages']);
});

it.each(targets)('one that waits ends at its time, of $name', async (target) => {
  const heard = await heardBy(target, { batch: 5, expires: 2e8 });
  expect(heard).toEqual(['message', '408 Request Timeout']);
});

/** What a request hears, up to its end, of a consumer that has two messages and lets one be unacknowledged. */
async function heardBy(target: Target, request: object): Promise<readonly string[]> {
  const server = await startServer(target, { config: 'jetstream { store_dir: "store" }' });
  onTestFinished(() => server.stop());
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}` });
  onTestFinished(() => client.close());
  const config = { durable_name: 'c', ack_policy: 'explicit', max_ack_pending: 1 };
  await client.request('$JS.API.STREAM.CREATE.S', '{"name":"S","subjects":["s"]}');
  await client.request('$JS.API.CONSUMER.DURABLE.CREATE.S.c', JSON.stringify({ stream_name: 'S', config }));
  await client.request('s', '1');
  await client.request('s', '2');
  const heard: string[] = [];
  client.subscribe('inbox', {
    callback: (_error, { headers }) => {
      heard.push(headers === undefined ? 'message' : `${headers.code} ${headers.description}`);
    },
  });
  client.publish('$JS.API.CONSUMER.MSG.NEXT.S.c', JSON.stringify(request), { reply: 'inbox' });
  await until(() => heard.some((each) => each.startsWith('40')), 'the end of the request');
  return heard;
}
