/** nats-server#2631: one client that did not keep up delayed what the others of its subject got. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { clientOf, describeTargets, page, serve } from '../helpers/describe-targets.ts';
import { FaultProxy } from '../helpers/fault-proxy.ts';
import { dial } from '../helpers/wire-client.ts';

const FAST = 9;
const PAYLOAD = 'x'.repeat(32_768);
const MESSAGE = `MSG news 1 ${PAYLOAD.length}\r\n${PAYLOAD}\r\n`;
/** Slow enough that the queue of the one that does not read stays far below max_pending. */
const BETWEEN_MS = 5;

interface Connz {
  readonly total: number;
  readonly connections: readonly { readonly name?: string; readonly reason?: string; readonly pending_bytes: number }[];
}

describeTargets('one of ten clients that does not read', (target) => {
  test('delays nobody, and is closed when its write deadline has passed', async () => {
    const server = await serve(target, 'http: "127.0.0.1:-1"\nwrite_deadline: "1s"');
    const proxy = new FaultProxy(server.address());
    await proxy.listen();
    onTestFinished(() => proxy.close());
    const slow = await dial(proxy.address);
    onTestFinished(() => slow.close());
    await slow.line();
    slow.send('CONNECT {"verbose":false,"name":"slow"}\r\nSUB news 1\r\nPING\r\n');
    await slow.expect('PONG\r\n');
    proxy.pause('down');
    const fast = await Promise.all(Array.from({ length: FAST }, () => clientOf(server)));
    for (const client of fast) {
      client.send('SUB news 1\r\n');
      await client.quiet();
    }
    const publisher = await clientOf(server);
    const open = async (): Promise<number> => ((await page(server, '/connz')).body as Connz).connections.length;
    let rounds = 0;
    for (; (await open()) === FAST + 2; rounds++) {
      publisher.send(`PUB news ${PAYLOAD.length}\r\n${PAYLOAD}\r\n`);
      await Promise.all(fast.map((client) => client.expect(MESSAGE)));
      await delay(BETWEEN_MS);
    }
    expect(rounds).toBeGreaterThan(10);
    const closed = (await page(server, '/connz?state=closed')).body as Connz;
    expect(closed.connections).toMatchObject([{ name: 'slow', reason: 'Slow Consumer (Write Deadline)' }]);
    await Promise.all([publisher, ...fast].map((client) => client.quiet()));
    expect((await page(server, '/varz')).body).toMatchObject({ slow_consumers: 1 });
  });
});
