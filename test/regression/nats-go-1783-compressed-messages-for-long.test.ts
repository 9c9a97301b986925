/**
 * nats.go#1783: with permessage-deflate a client found garbage among its messages after a while. Messages of all sizes and
 * frequent pings go both ways, compressed, and nothing else comes.
 */
import { constants, deflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import { enter, frame } from '../helpers/web-client.ts';

const ROUNDS = 400;
const PAYLOAD_BYTES_MAX = 65_536;
const COMPRESS = 0x40;

function compressed(text: string): Buffer {
  const flushed = deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH });
  return frame(flushed.subarray(0, flushed.length - 4), { reserved: COMPRESS });
}

describeTargets('compressed messages over WebSocket', (target) => {
  test('come as they were sent, with pings among them', async () => {
    const server = await serve(target, 'websocket { listen: "127.0.0.1:-1", no_tls: true, compression: true }');
    const client = await enter(await server.listening('websocket'), {
      headers: { 'Sec-WebSocket-Extensions': 'permessage-deflate' },
    });
    client.say('CONNECT {"verbose":false}\r\nSUB a 1\r\nPING\r\n');
    await client.expect('PONG\r\n');
    for (let i = 1; i <= ROUNDS; i++) {
      // Spread over all sizes, the same each time.
      const size = (i * i * 977) % PAYLOAD_BYTES_MAX;
      const payload = `${i}:`.repeat(Math.ceil(size / 2)).slice(0, size);
      client.received = '';
      client.send(compressed(`PUB a ${size}\r\n${payload}\r\n`), frame('?', { code: 9 }), compressed('PING\r\n'));
      await client.expect('PONG\r\n');
      expect(client.received.replace(/(^|\n)PING\r\n/, '$1')).toBe(`MSG a 1 ${size}\r\n${payload}\r\nPONG\r\n`);
    }
    expect(client.pongs).toHaveLength(ROUNDS);
  });
});
