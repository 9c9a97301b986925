/** nats-server#6782: message ids stay in the duplicate window when their messages are purged, as in nats-server 2.15. */
import { setTimeout as delay } from 'node:timers/promises';
import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import { until } from '../helpers/until.ts';

/** Long enough for a busy machine to publish three times. */
const WINDOW_MS = 3000;

describeTargets('a purged stream', (target) => {
  test('knows the ids of the duplicate window, and forgets them with it', async () => {
    const server = await serve(target, 'jetstream { store_dir: "store" }');
    const { host, port } = server.address();
    const client = await connect({ servers: `${host}:${port}` });
    onTestFinished(() => client.close());
    const config = { name: 'S', subjects: ['s'], duplicate_window: WINDOW_MS * 1e6 };
    await client.request('$JS.API.STREAM.CREATE.S', JSON.stringify(config));
    expect(await publish(client)).toEqual({ stream: 'S', seq: 1 });
    await client.request('$JS.API.STREAM.PURGE.S');
    expect(await publish(client)).toEqual({ stream: 'S', seq: 1, duplicate: true });
    await delay(WINDOW_MS);
    const forgotten = async (): Promise<object | null> => {
      const answer = await publish(client);
      return 'duplicate' in answer ? null : answer;
    };
    expect(await until(forgotten, 'the id to be forgotten')).toEqual({ stream: 'S', seq: 2 });
  });
});

async function publish(client: NatsConnection): Promise<object> {
  const block = headers();
  block.set('Nats-Msg-Id', 'x');
  return (await client.request('s', '', { headers: block, timeout: 2000 })).json();
}
