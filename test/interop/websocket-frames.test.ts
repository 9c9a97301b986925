/**
 * Frames on the WebSocket port, right and wrong, byte by byte: nats-server decides what is taken and how connections end.
 */
/* oxlint-disable vitest/expect-expect -- the clients assert */
import { connect } from 'node:net';
import { constants, deflateRawSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import type { RunningServer } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import { ACCEPT, closing, DEFLATE, enter, frame, knock, request } from '../helpers/web-client.ts';
import type { ServerAddress } from '../helpers/wire-client.ts';

const OPEN = 'websocket { listen: "127.0.0.1:-1", no_tls: true, headers { "X-Petiole": stalk } }';
const COMPRESSED = 'max_payload: 100000\nwebsocket { listen: "127.0.0.1:-1", no_tls: true, compression: true }';
const CONNECT = 'CONNECT {"verbose":false,"pedantic":false}\r\n';
const OFFER = { headers: { 'Sec-WebSocket-Extensions': 'permessage-deflate; client_max_window_bits' } };
const COMPRESS = 0x40;

/** How many messages a client publishes that has much to say. */
const NUMBERS = 720;
const NUMBERS_IN_FRAME = 90;

/** What is answered, and logged. */
const REFUSED: readonly (readonly [text: string, status: number, reason: string, logged: string])[] = [
  [request().replace('GET', 'POST'), 405, 'Method Not Allowed', 'request method must be GET'],
  [request({ headers: { Upgrade: '' } }), 400, 'Bad Request', `invalid value for header 'Upgrade'`],
  [request({ headers: { Connection: 'close' } }), 400, 'Bad Request', `invalid value for header 'Connection'`],
  [request({ headers: { 'Sec-WebSocket-Key': '' } }), 400, 'Bad Request', 'key missing'],
  [request({ headers: { 'Sec-WebSocket-Key': 'AAAA' } }), 400, 'Bad Request', 'invalid websocket key'],
  [request({ headers: { 'Sec-WebSocket-Key': '!' } }), 400, 'Bad Request', 'invalid websocket key'],
  [request({ headers: { 'Sec-WebSocket-Version': '8' } }), 400, 'Bad Request', 'invalid version'],
  [request({ path: '/mqtt' }), 404, 'Not Found', 'mqtt websocket endpoint not enabled'],
];

const NO_REQUESTS: readonly (readonly [text: string, answer: string])[] = [
  ['garbage\r\n\r\n', '400 Bad Request'],
  [request({ headers: { Host: '' } }), '400 Bad Request: missing required Host header'],
  [request().replace('\r\n', '\r\nHost: b\r\n'), '400 Bad Request'],
  [request().replace('\r\n', '\r\nnope\r\n'), '400 Bad Request'],
  [request().replace('HTTP/1.1', 'HTTP/3.0'), '505 HTTP Version Not Supported: unsupported protocol version'],
];

const WRONG_FRAMES: readonly (readonly [bytes: Buffer, reason: string])[] = [
  [frame(CONNECT, { masked: false }), 'mask bit missing'],
  [frame(CONNECT, { reserved: 0x20 }), 'RSV2 and RSV3 must be clear'],
  [frame(CONNECT, { reserved: COMPRESS }), 'compressed frame received without negotiated permessage-deflate'],
  [frame(CONNECT, { code: 5 }), 'unknown opcode 5'],
  [frame(CONNECT, { code: 0 }), 'invalid continuation frame'],
  [
    Buffer.concat([frame('CONNECT', { final: false }), frame(CONNECT)]),
    'new message started before final frame for previous message was received',
  ],
  [frame('x'.repeat(126), { code: 9 }), 'control frame length bigger than maximum allowed'],
  [frame('', { code: 9, final: false }), 'control frame does not have final bit set'],
  [frame('x', { code: 8 }), 'close frame payload cannot be 1 byte'],
  [frame(closing(1005), { code: 8 }), 'invalid close status code 1005'],
  [frame(closing(1006), { code: 8 }), 'invalid close status code 1006'],
  [frame(closing(2000), { code: 8 }), 'invalid close status code 2000'],
];

const CLOSES: readonly (readonly [content: Buffer, answer: Buffer])[] = [
  [closing(1000), closing(1000)],
  [closing(3_001, 'enough'), closing(3_001, 'enough')],
  [Buffer.alloc(0), Buffer.alloc(0)],
  [Buffer.concat([closing(1000), Buffer.from([0xc3, 0x28])]), closing(1007, 'invalid utf8 body in close frame')],
];

const ENDS: readonly (readonly [said: string, error: string, status: number, reason: string])[] = [
  [`CONNECT {"user":"x"}\r\n`, 'Authorization Violation', 1008, 'Authentication Failure'],
  ['FOO\r\n', 'Unknown Protocol Operation', 1002, 'Protocol Violation'],
  [`SUB ${'x'.repeat(5_000)} 1\r\n`, 'maximum control line exceeded', 1008, 'Maximum Control Line Exceeded'],
  ['PUB a 2000000\r\n', 'Maximum Payload Violation', 1009, 'Maximum Message Payload Exceeded'],
];

async function portOf(server: RunningServer): Promise<ServerAddress> {
  return server.listening('websocket');
}

function deflate(text: string | Buffer): Buffer {
  const flushed = deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH });
  return flushed.subarray(0, flushed.length - 4);
}

describeTargets('a request for WebSocket', (target) => {
  test('is answered, with the configured headers, and followed by INFO', async () => {
    const address = await portOf(await serve(target, OPEN));
    const client = await enter(address);
    expect(client.answer).toBe(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${ACCEPT}\r\n` +
        'X-Petiole: stalk\r\n\r\n',
    );
    expect(client.info).toMatchObject({ host: '127.0.0.1', port: address.port, client_ip: '127.0.0.1' });
    expect(client.info).not.toHaveProperty('tls_required');
    expect(client.info).not.toHaveProperty('auth_required');
    expect(client.info).not.toHaveProperty('connect_urls');
    expect(client.heads).toEqual([0x82]);
  });

  test('is taken in pieces, in any case, among others, on any path', async () => {
    const address = await portOf(await serve(target, OPEN));
    const client = await knock(address);
    const headers = { Upgrade: 'foo, WebSocket', Connection: 'keep-alive,UPGRADE', 'User-Agent': 'x'.repeat(9_000) };
    for (const piece of request({ path: '/a/b?c=d', headers }).match(/[^]{1,1000}/g) ?? []) {
      client.send(piece);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await client.expect('INFO ');
  });

  test('is refused where something is wrong with it', async () => {
    const server = await serve(target, OPEN);
    const address = await portOf(server);
    for (const [text, status, reason, logged] of REFUSED) {
      const client = await knock(address);
      client.send(text);
      await until(() => client.answer.endsWith(`\r\n\r\n${reason}\n`), `the refusal: ${logged}`);
      expect(client.status).toBe(status);
      expect(client.answer).toMatch(/Content-Type: text\/plain; charset=utf-8\r\nSec-Websocket-Version: 13\r\n/);
      expect(client.answer).toContain(`\r\nContent-Length: ${reason.length + 1}\r\n`);
      const line = new RegExp(`\\[ERR\\] 127\\.0\\.0\\.1:\\d+ - websocket handshake error: ${logged}`);
      await until(() => line.test(server.log), `the log to say ${logged}`);
    }
  });

  test('is none where it is no request', async () => {
    const address = await portOf(await serve(target, OPEN));
    for (const [text, answer] of NO_REQUESTS) {
      const client = await knock(address);
      client.send(text);
      await client.ends();
      expect(client.answer).toContain(`HTTP/1.1 ${answer}\r\n`);
      expect(client.answer).toContain('\r\nConnection: close\r\n');
    }
  });

  test('has to be answered before anything else is sent', async () => {
    const server = await serve(target, OPEN);
    const client = await knock(await portOf(server));
    client.send(request() + CONNECT);
    await client.ends();
    expect(client.answer).toBe('');
    expect(server.log).toContain('websocket handshake error: client sent data before handshake is complete');
  });

  test('has to come within handshake_timeout', async () => {
    const config = OPEN.replace('no_tls', 'handshake_timeout: "200ms", no_tls');
    const client = await knock(await portOf(await serve(target, config)));
    client.send(request().slice(0, 50));
    await client.ends();
    expect(client.answer).not.toContain('101');
  });
});

describeTargets('frames', (target) => {
  test('carry the protocol however they are cut, as text or binary', async () => {
    const client = await enter(await portOf(await serve(target, OPEN)));
    const said = `${CONNECT}SUB a 1\r\nPUB a 5\r\nhello\r\nPING\r\n`;
    const at = said.indexOf('llo');
    client.send(
      frame(said.slice(0, 9), { final: false, code: 1 }),
      frame('', { final: false, code: 0 }),
      frame(said.slice(9, at), { code: 0 }),
      frame(''),
      frame(said.slice(at)),
    );
    await client.expect('MSG a 1 5\r\nhello\r\nPONG\r\n');
  });

  test('are taken a byte at a time', async () => {
    const client = await enter(await portOf(await serve(target, OPEN)));
    client.socket.setNoDelay(true);
    for (const byte of frame(`${CONNECT}PING\r\n`)) {
      client.send(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await client.expect('PONG\r\n');
  });

  test('of every length carry what they should', async () => {
    const client = await enter(await portOf(await serve(target, OPEN)));
    client.say(`${CONNECT}SUB a 1\r\n`);
    for (const length of [1, 125, 126, 127, 65_535, 65_536, 300_000]) {
      const payload = String(length % 10).repeat(length);
      client.say(`PUB a ${length}\r\n${payload}\r\n`);
      await client.expect(`MSG a 1 ${length}\r\n${payload}\r\n`);
    }
  });

  test('of many messages to a browser carry all of them', async () => {
    const headers = { 'User-Agent': 'Mozilla/5.0' };
    const client = await enter(await portOf(await serve(target, OPEN)), { headers });
    const payload = 'x'.repeat(50_000);
    client.say(`${CONNECT}SUB a 1\r\nPUB a 50000\r\n${payload}\r\n`);
    await client.expect(`MSG a 1 50000\r\n${payload}\r\n`);
  });

  test('that are pings are answered, in the middle of a message too', async () => {
    const client = await enter(await portOf(await serve(target, OPEN)));
    client.send(frame('CONNECT ', { final: false }), frame('here?', { code: 9 }), frame('', { code: 10 }));
    await until(() => client.pongs.length > 0, 'a pong');
    expect(client.pongs).toEqual(['here?']);
    client.send(frame('{"verbose":false}\r\nPING\r\n', { code: 0 }));
    await client.expect('PONG\r\n');
  });

  test('need no mask where that was agreed', async () => {
    const client = await enter(await portOf(await serve(target, OPEN)), { headers: { 'Nats-No-Masking': 'true' } });
    expect(client.answer).toContain('\r\nNats-No-Masking: true\r\n');
    client.send(frame(`${CONNECT}PING\r\n`, { masked: false }));
    await client.expect('PONG\r\n');
  });

  test('are refused that break a rule, by petiole with a status', async () => {
    const server = await serve(target, OPEN);
    const address = await portOf(server);
    for (const [bytes, reason] of WRONG_FRAMES) {
      const client = await enter(address);
      client.send(bytes);
      await client.ends();
      await until(() => new RegExp(`read error: .*${reason}`).test(server.log), `the log to say ${reason}`);
      // nats-server makes a close frame, and does not send it.
      const isTold = target.name === 'petiole' || client.close !== null;
      const told = [client.closeStatus, client.close?.toString('utf8', 2)];
      const wanted = expect.stringContaining(reason) as string;
      expect(told).toEqual(isTold ? [1002, wanted] : [null, undefined]);
    }
  });

  test('that close are answered by the same, if that is right', async () => {
    const address = await portOf(await serve(target, OPEN));
    for (const [content, answer] of CLOSES) {
      const client = await enter(address);
      client.send(frame(content, { code: 8 }));
      await client.ends();
      expect(client.close).toEqual(answer);
    }
  });

  test('end with why the server closes', async () => {
    const server = await serve(target, `${OPEN}\nauthorization { user: a, password: b }`);
    const address = await portOf(server);
    for (const [said, error, status, reason] of ENDS) {
      const client = await enter(address);
      if (!said.startsWith('CONNECT')) client.say('CONNECT {"verbose":false,"user":"a","pass":"b"}\r\n');
      client.say(said);
      await client.ends();
      // What is no operation nats-server takes for a read error, and says nothing.
      if (status === 1002 && target.name !== 'petiole') continue;
      expect(client.received).toContain(`-ERR '${error}'\r\n`);
      expect([client.closeStatus, client.close?.toString('utf8', 2)]).toEqual([status, reason]);
    }
  });

  test('that nobody reads end the connection as of a slow consumer', async () => {
    const server = await serve(target, `max_payload: 100000\nmax_pending: 1000000\n${OPEN}`);
    const address = await portOf(server);
    const reader = await enter(address);
    reader.say(`${CONNECT}SUB a 1\r\nPING\r\n`);
    await reader.expect('PONG\r\n');
    reader.socket.pause();
    const writer = await enter(address);
    writer.say(CONNECT);
    const message = frame(`PUB a 100000\r\n${'x'.repeat(100_000)}\r\n`);
    await until(() => {
      writer.send(message);
      return server.log.includes('Slow Consumer Detected');
    }, 'the slow consumer to be found');
    expect(server.log).toMatch(/wid:\d+.* - Slow Consumer Detected: MaxPending of 1000000 Exceeded/);
    reader.socket.resume();
    await reader.ends();
    writer.say('PING\r\n');
    await writer.expect('PONG\r\n');
  });

  test('end with 1001 where the server goes', async () => {
    const server = await serve(target, OPEN);
    const client = await enter(await portOf(server));
    server.signal('SIGTERM');
    await client.ends();
    expect([client.closeStatus, client.close?.toString('utf8', 2)]).toEqual([1001, 'Server Shutdown']);
  });
});

describeTargets('compression', (target) => {
  test('is agreed on where both want it', async () => {
    const client = await enter(await portOf(await serve(target, COMPRESSED)), OFFER);
    expect(client.answer).toContain(`\r\nSec-WebSocket-Extensions: ${DEFLATE}\r\n`);
    expect(client.heads).toEqual([0xc2]);
    client.say(CONNECT);
    client.send(
      frame(deflate('SUB a 1\r\nPI'), { reserved: COMPRESS }),
      frame(deflate('NG\r\n'), { reserved: COMPRESS }),
    );
    await client.expect('PONG\r\n');
    expect(client.heads.at(-1)).toBe(0x82);
  });

  test('is not where one does not', async () => {
    const server = await serve(target, COMPRESSED);
    expect((await enter(await portOf(server))).answer).not.toContain('Sec-WebSocket-Extensions');
    const plain = await enter(await portOf(await serve(target, OPEN)), OFFER);
    expect(plain.answer).not.toContain('Sec-WebSocket-Extensions');
  });

  test('carries messages of every size, with pings in between', async () => {
    const client = await enter(await portOf(await serve(target, COMPRESSED)), OFFER);
    client.say(`${CONNECT}SUB a 1\r\n`);
    let sent = '';
    for (let size = 0; size < 60_000; size = size * 3 + 1) {
      const payload = Array.from({ length: size }, (_, i) => String.fromCharCode(97 + ((i * i) % 26))).join('');
      const message = frame(deflate(`PUB a ${size}\r\n${payload}\r\nPING\r\n`), { reserved: COMPRESS });
      client.send(
        message.subarray(0, 3),
        frame('', { code: 9 }).subarray(0, 0),
        message.subarray(3),
        frame('', { code: 9 }),
      );
      sent += `MSG a 1 ${size}\r\n${payload}\r\nPONG\r\n`;
      await client.expect(sent);
    }
  });

  test('carries messages in several frames', async () => {
    const client = await enter(await portOf(await serve(target, COMPRESSED)), OFFER);
    client.say(CONNECT);
    const bytes = deflate(`SUB a 1\r\nPUB a 400\r\n${'y'.repeat(400)}\r\nPING\r\n`);
    client.send(
      frame(bytes.subarray(0, 10), { reserved: COMPRESS, final: false }),
      frame(bytes.subarray(10, 20), { code: 0, final: false }),
      frame(bytes.subarray(20), { code: 0 }),
    );
    await client.expect(`MSG a 1 400\r\n${'y'.repeat(400)}\r\nPONG\r\n`);
  });

  test('keeps the order of many who send much at once, also where some of them vanish', async () => {
    const server = await serve(target, COMPRESSED);
    const address = await portOf(server);
    const clients = await Promise.all(Array.from({ length: 10 }, () => enter(address, OFFER)));
    const heard: Buffer[] = [];
    const listener = connect(server.address());
    onTestFinished(() => void listener.destroy());
    listener.on('data', (bytes) => heard.push(bytes));
    const text = (): string => Buffer.concat(heard).toString('latin1');
    listener.write('CONNECT {"verbose":false}\r\nSUB n.* 1\r\nPING\r\n');
    await until(() => text().includes('PONG\r\n'), 'the subscription');
    for (const [id, client] of clients.entries()) {
      client.say(CONNECT);
      client.send(...numberedFrames(`n.${id}`));
      if (id % 3 === 2) client.socket.destroy();
      else client.say('PING\r\n');
    }
    for (const [id, client] of clients.entries()) if (id % 3 !== 2) await client.expect('PONG\r\n');
    listener.write('PING\r\n');
    await until(() => text().endsWith('PONG\r\n'), 'all that was published');
    for (const id of clients.keys()) {
      const numbers = [...text().matchAll(new RegExp(`MSG n\\.${id} 1 1000\r\n(\\d+)`, 'g'))].map(([, n]) => Number(n));
      // Who vanishes has said the beginning.
      expect(numbers).toEqual(Array.from({ length: id % 3 === 2 ? numbers.length : NUMBERS }, (_, n) => n));
    }
  });

  test('does not let a message in that inflates to much more than max_payload', async () => {
    const server = await serve(target, COMPRESSED);
    const client = await enter(await portOf(server), OFFER);
    client.say(`${CONNECT}SUB a 1\r\n`);
    const bomb = deflate(Buffer.from(`PUB a 10\r\n0123456789\r\n`.repeat(50_000)));
    client.send(frame(bomb, { reserved: COMPRESS }));
    await client.ends();
    await until(() => /read error: maximum payload exceeded/i.test(server.log), 'the log to say so');
    // nats-server says nothing.
    expect(client.closeStatus).toBe(target.name === 'petiole' ? 1009 : null);
  });

  test('ends with what can not be inflated', async () => {
    const server = await serve(target, COMPRESSED);
    const client = await enter(await portOf(server), OFFER);
    client.say(CONNECT);
    client.send(frame(Buffer.from([7, 255, 255, 255, 255, 255]), { reserved: COMPRESS }));
    await client.ends();
    await until(() => server.log.includes('read error: '), 'the log to say so');
    expect(client.received).not.toContain('PONG');
  });
});

/** Messages on the subject that count from 0, in frames that say a hundred times as much as they hold. */
function numberedFrames(subject: string): Buffer[] {
  const frames: Buffer[] = [];
  for (let from = 0; from < NUMBERS; from += NUMBERS_IN_FRAME) {
    const numbers = Array.from({ length: NUMBERS_IN_FRAME }, (_, i) => `${from + i}`);
    const content = numbers.map((number) => `PUB ${subject} 1000\r\n${number.padEnd(1000, ' ')}\r\n`).join('');
    frames.push(frame(deflate(content), { reserved: COMPRESS }));
  }
  return frames;
}
