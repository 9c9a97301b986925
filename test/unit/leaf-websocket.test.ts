/** Leaf links over WebSocket to a hub on another implementation of the protocol, a strict one. */
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { HttpResponse } from '../../leafnode/http-response.ts';
import { upgradeTerms } from '../../leafnode/websocket/upgrade.ts';
import type { LeafRemoteOptions } from '../../server/config/options.ts';
import { type LeafPetiole, startLeafPetiole } from '../helpers/leaf-petiole.ts';
import { startScriptedHub } from '../helpers/scripted-hub.ts';
import { telemetry } from '../helpers/s2-stream.ts';
import { until } from '../helpers/until.ts';
import { startWebHub, type WebHub, type WebHubLink } from '../helpers/web-hub.ts';

const NO_MEMORY = { serverNoContextTakeover: true, clientNoContextTakeover: true, threshold: 0 };

interface Linked {
  readonly hub: WebHub;
  readonly edge: LeafPetiole;
  readonly link: WebHubLink;
}

async function start(remote: Partial<LeafRemoteOptions> = {}, deflates = false, path = ''): Promise<Linked> {
  const hub = await startWebHub(deflates && NO_MEMORY);
  const edge = await startLeafPetiole({ urls: [hub.url + path], remote });
  return { hub, edge, link: await hub.accept() };
}

describe('the request', () => {
  it('is for /leafnode, below the path of the URL', async () => {
    const { link } = await start();
    expect(link.request.url).toBe('/leafnode');
    expect(link.request.headers).toMatchObject({ upgrade: 'websocket', 'sec-websocket-version': '13' });
    expect(link.request.headers).not.toHaveProperty('sec-websocket-extensions');
    expect(link.request.headers).not.toHaveProperty('nats-no-masking');
    expect((await start({}, false, '/a/b/')).link.request.url).toBe('/a/b/leafnode');
  });

  it('offers what is configured', async () => {
    const { link } = await start({ compressesFrames: true, asksForNoMasking: true });
    expect(link.request.headers).toMatchObject({
      'sec-websocket-extensions': 'permessage-deflate; server_no_context_takeover; client_no_context_takeover',
      'nats-no-masking': 'true',
    });
    // The hub has agreed to neither.
    await link.open();
    expect(link.faults).toEqual([]);
  });
});

describe('the answer', () => {
  // The key of RFC 6455, 1.3.
  const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
  const ACCEPT = 'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n';
  const YES = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nconnection: Upgrade\r\n${ACCEPT}`;
  const NO_CONTEXT = 'server_no_context_takeover; client_no_context_takeover';
  const offer = { host: 'h:1', path: '/leafnode', deflates: true, leavesUnmasked: true };
  const termsOf = (text: string, more: Partial<typeof offer> = {}): unknown => {
    const response = new HttpResponse();
    const bytes = Buffer.from(`${text}\r\n`, 'latin1');
    expect(response.read(bytes, 0, bytes.length)).toBe(bytes.length);
    return upgradeTerms(response, { ...offer, ...more }, KEY);
  };

  it.each([
    [YES, { deflates: false, masks: true }],
    [`${YES}Nats-No-Masking: true\r\n`, { deflates: false, masks: false }],
    [`${YES}Nats-No-Masking: false\r\n`, { deflates: false, masks: true }],
    [`${YES}Sec-WebSocket-Extensions: x, Permessage-Deflate; ${NO_CONTEXT}\r\n`, { deflates: true, masks: true }],
    [`${YES}Sec-WebSocket-Extensions: permessage-deflate\r\n`, 'compression negotiation error'],
    [
      `${YES}Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover\r\n`,
      'compression negotiation error',
    ],
    [YES.replace('101', '200'), 'invalid websocket connection: 200 Switching Protocols'],
    ['HTTP/1.1 404 Not Found\r\n', 'invalid websocket connection: 404 Not Found'],
    [YES.replace(ACCEPT, ''), 'invalid websocket connection'],
    [YES.replace('s3p', 'S3p'), 'invalid websocket connection'],
    [YES.replace('WebSocket\r', 'h2c\r'), 'invalid websocket connection'],
    [YES.replace(': Upgrade', ': keep-alive'), 'invalid websocket connection'],
  ])('%j', (text, outcome) => {
    expect(termsOf(text)).toEqual(outcome);
  });

  it('is a yes to nothing that was not offered', () => {
    const text = `${YES}Nats-No-Masking: true\r\nSec-WebSocket-Extensions: permessage-deflate; ${NO_CONTEXT}\r\n`;
    expect(termsOf(text, { deflates: false, leavesUnmasked: false })).toEqual({ deflates: false, masks: true });
  });
});

describe('what is said', () => {
  it.each([
    ['a frame each', {}, false],
    ['seven frames each', { frames: 7 }, false],
    ['text', { binary: false }, false],
    ['compressed', { compress: true }, true],
    ['compressed, in seven frames each', { compress: true, frames: 7 }, true],
  ])('in messages of %s is understood, both ways', async (_, how, compressesFrames) => {
    const { edge, link } = await start({ compressesFrames }, compressesFrames);
    await link.open(how);
    const client = await edge.client();
    client.send('SUB down 1\r\n');
    await link.heard('LS+ down\r\n');
    link.say('LS+ up\r\n', how);
    for (const bytes of [0, 1, 125, 126, 65_535, 65_536, 300_000]) {
      const text = telemetry(bytes).toString('latin1');
      link.say(`LMSG down ${bytes}\r\n${text}\r\n`, how);
      await client.expect(`MSG down 1 ${bytes}\r\n${text}\r\n`);
      client.send(`PUB up ${bytes}\r\n${text}\r\n`);
      await link.heard(`LMSG up ${bytes}\r\n${text}\r\n`);
    }
    expect(link.faults).toEqual([]);
  });

  it('in one message or in very many is the same, compressed ones among others', async () => {
    const { edge, link } = await start({ compressesFrames: true }, true);
    await link.open();
    const client = await edge.client();
    client.send('SUB down 1\r\n');
    await link.heard('LS+ down\r\n');
    for (let i = 0; i < 500; i++) link.say(`LMSG down 3\r\n${String(i).padStart(3, '0')}\r\n`, { compress: i % 3 > 0 });
    for (let i = 0; i < 500; i++) await client.expect(`MSG down 1 3\r\n${String(i).padStart(3, '0')}\r\n`);
    link.say('LMSG down 1\r\n.\r\n'.repeat(20_000), { compress: true });
    await client.expect('MSG down 1 1\r\n.\r\n'.repeat(20_000), 10_000);
    expect(link.faults).toEqual([]);
  });
});

describe('control frames', () => {
  it('are answered in the midst of a message', async () => {
    const { edge, link } = await start();
    await link.open();
    link.socket.ping('one');
    await until(() => link.pongs.includes('one'), 'a pong');
    link.socket.send('LS+ a', { fin: false });
    link.socket.ping('two');
    link.socket.send('b\r\n', { fin: true });
    await until(() => link.pongs.includes('two'), 'a pong');
    await until(
      () => [...(edge.leafNodes.links()[0]?.peerSubscriptions() ?? [])].some((s) => s.subject === 'ab'),
      'ab',
    );
    link.socket.pong('unasked');
    expect(link.faults).toEqual([]);
  });

  it('end the link when the hub closes, which is told the same', async () => {
    const { edge, link } = await start();
    await link.open();
    link.socket.close(1001, 'bye');
    await until(() => link.closed, 'the answer');
    expect(link.closed).toEqual([1001, 'bye']);
    expect(edge.logged('Leafnode connection closed: Client Closed')).toBe(true);
  });

  it('tell the hub when this side closes', async () => {
    const { edge, link } = await start();
    await link.open();
    edge.leafNodes.close();
    await until(() => link.closed, 'the close');
    expect(link.closed?.[0]).toBe(1000);
    expect(link.faults).toEqual([]);
  });
});

describe('a hub', () => {
  it('that does not answer is given up in time', async () => {
    const hub = await startScriptedHub();
    const url = hub.url.replace('nats', 'ws');
    const edge = await startLeafPetiole({ urls: [url], remote: { firstInfoTimeoutMs: 100 } });
    await hub.accept();
    await until(() => edge.logged('Error soliciting websocket connection: i/o timeout'), 'the log');
    expect(edge.logged(/not established \(Read Error\), next attempt in \d/)).toBe(true);
  });

  it.each([
    ['hangs up', '', 'unexpected EOF'],
    ['refuses', 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n', 'invalid websocket connection: 403 Forbidden'],
  ])('that %s is told of', async (_, answer, text) => {
    const hub = await startScriptedHub();
    const edge = await startLeafPetiole({ urls: [hub.url.replace('nats', 'ws')] });
    const link = await hub.accept();
    expect(await link.line()).toBe('GET /leafnode HTTP/1.1');
    link.send(answer);
    if (answer === '') await link.close();
    await until(() => edge.logged(`Error soliciting websocket connection: ${text}`), 'the log');
  });

  it('that breaks a rule of the protocol is told which, and so is the log', async () => {
    const { edge, link } = await start();
    await link.open();
    // What the library would not send.
    const { _socket: socket } = link.socket as unknown as { _socket: Socket };
    socket.write(Buffer.from([0xb2, 0x00]));
    await until(() => link.closed, 'the close');
    expect(link.closed).toEqual([1002, 'RSV2 and RSV3 must be clear']);
    expect(edge.logged('websocket: RSV2 and RSV3 must be clear')).toBe(true);
    expect(edge.logged('Leafnode connection closed: Protocol Violation')).toBe(true);
  });

  it('that takes no leaves there is dialled again', async () => {
    const { edge, link, hub } = await start();
    link.socket.terminate();
    await until(() => edge.logged('not established'), 'the log');
    await (await hub.accept()).open();
    expect(edge.leafNodes.remoteSnapshots()[0]?.opens).toBe(1);
  });
});
