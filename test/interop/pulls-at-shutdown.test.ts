/** What pull requests hear when the server goes, and what is left of their consumers when it is back. */
import { expect, test } from 'vitest';
import { clientOf, describeTargets, serve } from '../helpers/describe-targets.ts';
import type { WireClient } from '../helpers/wire-client.ts';

const CONFIG = 'jetstream { store_dir: "store" }';

async function request(client: WireClient, subject: string, body: object, reply = 'r'): Promise<void> {
  const json = JSON.stringify(body);
  client.send(`PUB $JS.API.${subject} ${reply} ${json.length}\r\n${json}\r\n`);
  if (reply !== 'r') return;
  await client.take((received) => {
    const end = received.indexOf('}\r\n');
    return end < 0 ? 'more' : end + 3;
  }, `an answer to ${subject}`);
}

describeTargets('a server that goes', (target) => {
  test('tells every request that waits how much of it is open', async () => {
    const server = await serve(target, CONFIG);
    const client = await clientOf(server, { headers: true });
    client.send('SUB r 1\r\nSUB i.* 2\r\n');
    await request(client, 'STREAM.CREATE.S', { name: 'S', subjects: ['s'] });
    await request(client, 'CONSUMER.CREATE.S.D', {
      stream_name: 'S',
      config: { durable_name: 'D', ack_policy: 'all' },
    });
    const shapes = [{ batch: 5, max_bytes: 1000, idle_heartbeat: 10e9 }, { batch: 2 }];
    for (const [i, shape] of shapes.entries()) {
      await request(client, 'CONSUMER.MSG.NEXT.S.D', { expires: 30e9, ...shape }, `i.${i}`);
    }
    await client.quiet();
    server.signal('SIGTERM');
    const status = (pending: number, pendingBytes: number): string =>
      `NATS/1.0 409 Server Shutdown\r\nNats-Pending-Messages: ${pending}\r\nNats-Pending-Bytes: ${pendingBytes}\r\n\r\n`;
    const expected = [status(5, 1000), status(2, 0)].map(
      (text, i) => `HMSG i.${i} 2 ${text.length} ${text.length}\r\n${text}\r\n`,
    );
    const bytes = expected.join('').length;
    const heard = await client.take(({ length }) => (length < bytes ? 'more' : bytes), 'what both requests hear');
    // Which of them hears it first is nobody's business.
    expect(
      heard
        .toString()
        .split(/(?=HMSG)/)
        .toSorted(),
    ).toEqual(expected);
    await client.closed();
  });
});
