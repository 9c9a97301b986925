/** nats-server#6260: a close frame without a status is answered by one without, never by the reserved 1005 or 1006. */
import { expect, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import { enter, frame } from '../helpers/web-client.ts';

describeTargets('a close frame without a status', (target) => {
  test('is answered by the same', async () => {
    const server = await serve(target, 'websocket { listen: "127.0.0.1:-1", no_tls: true }');
    const client = await enter(await server.listening('websocket'));
    client.send(frame('', { code: 8 }));
    await client.ends();
    expect(client.close).toEqual(Buffer.alloc(0));
  });
});
