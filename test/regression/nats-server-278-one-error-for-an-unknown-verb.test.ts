/** nats-server#278: for one unknown verb the client was told of the same error twice. */
/* oxlint-disable vitest/expect-expect -- the wire clients assert */
import { test } from 'vitest';
import { clientOf, describeTargets, serve } from '../helpers/describe-targets.ts';

const UNKNOWN = ['FAIL\r\n', 'FAIL', 'PUBX foo 2\r\nhi\r\n', '\r\n', 'FAIL\r\nFAIL\r\nFAIL\r\n'];

describeTargets('an unknown verb', (target) => {
  test('gets one error, and the connection ends', async () => {
    const server = await serve(target);
    const other = await clientOf(server);
    for (const words of UNKNOWN) {
      const client = await clientOf(server);
      client.send(words);
      await client.expect("-ERR 'Unknown Protocol Operation'\r\n");
      await client.closed();
    }
    await other.quiet();
  });
});
