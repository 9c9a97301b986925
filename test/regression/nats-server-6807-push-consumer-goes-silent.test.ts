/** nats-server#6807: a push consumer delivered nothing any more after its listener had left amid a delivery. */
import { expect, test } from 'vitest';
import { clientOf, describeTargets, serve } from '../helpers/describe-targets.ts';
import { until } from '../helpers/until.ts';
import type { WireClient } from '../helpers/wire-client.ts';

const ROUNDS = 10;
const MESSAGES = 3000;
const CONSUMER = '{"stream_name":"S","config":{"durable_name":"C","ack_policy":"none","deliver_subject":"d"}}';

/** Waits for the answer to a request of the JetStream API. */
async function ask(client: WireClient, request: string, body: string): Promise<void> {
  client.send(`PUB $JS.API.${request} inbox ${body.length}\r\n${body}\r\n`);
  expect(await client.line()).toMatch(/^MSG inbox /);
  expect(await client.line()).not.toContain('"error"');
}

/** What has come is forgotten; how many messages it was. */
function dropMessages(client: WireClient): number {
  const taken = client.tryTake((received) => received.length || 'more');
  return Buffer.isBuffer(taken) ? taken.toString('latin1').split('\r\nx\r\n').length - 1 : 0;
}

describeTargets('a push consumer whose listener comes and goes', (target) => {
  test('delivers again each time that it comes', async () => {
    const server = await serve(target, 'jetstream { store_dir: "store" }');
    const asking = await clientOf(server);
    asking.send('SUB inbox 1\r\n');
    await ask(asking, 'STREAM.CREATE.S', '{"name":"S","subjects":["s"],"storage":"memory"}');
    await ask(asking, 'CONSUMER.DURABLE.CREATE.S.C', CONSUMER);
    const publisher = await clientOf(server);
    const silent: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const listener = await clientOf(server);
      listener.send('SUB d 1\r\n');
      publisher.send('PUB s 1\r\nx\r\n'.repeat(MESSAGES));
      await until(() => dropMessages(listener) > 0, `messages in round ${round}`).catch(() => silent.push(round));
      if (round % 2 === 0) listener.send('UNSUB 1\r\n');
      await listener.close();
    }
    expect(silent).toEqual([]);
  });
});
