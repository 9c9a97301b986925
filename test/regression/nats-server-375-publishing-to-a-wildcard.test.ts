/** nats-server#375: a message published to a wildcard was taken for a pattern, and pedantic clients were not told. */
/* oxlint-disable vitest/expect-expect -- the wire clients assert */
import { test } from 'vitest';
import { clientOf, describeTargets, serve } from '../helpers/describe-targets.ts';

describeTargets('publishing to a wildcard', (target) => {
  test('is one error for a pedantic client, whose connection stays', async () => {
    const client = await clientOf(await serve(target), { pedantic: true });
    client.send('PUB foo.* 5\r\nhello\r\n');
    await client.expect("-ERR 'Invalid Publish Subject'\r\n");
    await client.quiet();
  });

  test('reaches those whose subscription matches its letters, and not those it would match', async () => {
    const server = await serve(target);
    const [publisher, subscriber] = [await clientOf(server), await clientOf(server)];
    subscriber.send('SUB foo.bar 1\r\nSUB foo.* 2\r\nSUB bar 3\r\n');
    await subscriber.quiet();
    publisher.send('PUB foo.* 5\r\nhello\r\nPUB > 5\r\nhello\r\n');
    await publisher.quiet();
    await subscriber.expect('MSG foo.* 2 5\r\nhello\r\n');
    await subscriber.quiet();
  });
});
