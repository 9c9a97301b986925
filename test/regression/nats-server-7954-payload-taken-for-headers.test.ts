/** nats-server#7954: text in a payload that broke max_payload was read as if it were headers, and acted upon. */
/* oxlint-disable vitest/expect-expect -- the wire clients assert */
import { test } from 'vitest';
import { clientOf, describeTargets, serve } from '../helpers/describe-targets.ts';

const HEADERS = 'NATS/1.0\r\n\r\n';
const LOOKS_LIKE_HEADERS = 'NATS/1.0\r\nNats-Trace-Dest: trace.dest\r\n\r\n';

describeTargets('a payload above the limit that looks like headers', (target) => {
  test.each(['whole', 'in pieces'])('is refused, and nothing is sent to the subject in it; %s', async (how) => {
    const server = await serve(target, 'max_payload: 64');
    const listener = await clientOf(server, { headers: true });
    listener.send('SUB > 1\r\n');
    await listener.quiet();
    const publisher = await clientOf(server, { headers: true });
    const payload = LOOKS_LIKE_HEADERS.padEnd(100, 'x');
    const words = `HPUB foo ${HEADERS.length} ${HEADERS.length + payload.length}\r\n${HEADERS}${payload}\r\n`;
    await publisher.sendInChunks(Buffer.from(words), how === 'whole' ? words.length : 11);
    await publisher.expect("-ERR 'Maximum Payload Violation'\r\n");
    await publisher.closed();
    await listener.quiet();
  });
});
