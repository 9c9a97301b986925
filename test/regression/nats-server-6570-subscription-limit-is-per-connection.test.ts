/**
 * nats-server#6570: a limit of subscriptions that reads as one of all connections together holds for each of them. What
 * the report asks of an account's limit is asked here of the server's own.
 */
/* oxlint-disable vitest/expect-expect -- the wire clients assert */
import { test } from 'vitest';
import { clientOf, describeTargets, serve } from '../helpers/describe-targets.ts';

describeTargets('max_subscriptions', (target) => {
  test('counts those of one connection', async () => {
    const server = await serve(target, 'max_subscriptions: 10');
    const clients = [await clientOf(server), await clientOf(server)];
    const ten = Array.from({ length: 10 }, (_, i) => `SUB foo.${i} ${i}\r\n`).join('');
    for (const client of clients) {
      client.send(ten);
      await client.quiet();
    }
    const [first] = clients as [(typeof clients)[0]];
    first?.send('SUB foo.10 10\r\n');
    await first?.expect("-ERR 'maximum subscriptions exceeded'\r\n");
    first?.send('UNSUB 3\r\nSUB foo.10 10\r\n');
    await first?.quiet();
  });
});
