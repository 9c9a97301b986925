/** One leaf link, byte by byte, against a hub that the test plays. */
/* oxlint-disable vitest/expect-expect -- the wire clients assert */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Subscription } from '../../server/subject/subscription.ts';
import { startLeafPetiole } from '../helpers/leaf-petiole.ts';
import type { LeafPetiole, LeafPetioleOptions } from '../helpers/leaf-petiole.ts';
import { startScriptedHub } from '../helpers/scripted-hub.ts';
import type { ScriptedHub } from '../helpers/scripted-hub.ts';
import { until } from '../helpers/until.ts';
import type { WireClient } from '../helpers/wire-client.ts';

type EdgeOptions = Omit<LeafPetioleOptions, 'urls'> & { readonly login?: string };

async function start(options: EdgeOptions = {}): Promise<{ hub: ScriptedHub; edge: LeafPetiole }> {
  const hub = await startScriptedHub();
  const login = options.login === undefined ? '' : `${options.login}@`;
  const edge = await startLeafPetiole({ ...options, urls: [`nats://${login}127.0.0.1:${hub.port}`] });
  return { hub, edge };
}

/** A link that stands, with the hub's end of it. */
async function startOpen(
  options: EdgeOptions = {},
  fields: object = {},
  second: object = {},
): Promise<{ hub: ScriptedHub; edge: LeafPetiole; link: WireClient; loop: string; connect: object }> {
  const { hub, edge } = await start(options);
  const opened = await hub.open(fields, second);
  onTestFinished(() => opened.link.close());
  return { hub, edge, ...opened };
}

describe('the handshake of a leaf link', () => {
  it('answers INFO with CONNECT, fields and order as nats-server', async () => {
    const { hub, edge } = await start({ login: 'us%C3%A9r:p%40ss', remote: { denyImports: ['no.>'] } });
    const link = await hub.accept();
    link.send(hub.info());
    const name = edge.name;
    const expected = `{"version":"2.15.2","user":"usér","pass":"p@ss","server_id":"${name}","name":"${name}","cluster":"${name}","headers":true,"deny_pub":["no.>"],"compress_mode":"off","remote_account":"$G","protocol":2}`;
    await link.expect(`CONNECT ${expected}\r\n`);
    await link.close();
  });

  it.each([
    ['a user alone as user and token', { login: 'tok' }, {}, '"user":"tok","auth_token":"tok","server_id"'],
    ['no login', {}, {}, '{"version":"2.15.2","server_id"'],
    ['no headers to a hub without', {}, { headers: false }, /"cluster":"[^"]*","compress_mode"/],
    ['that it cannot compress either', {}, { compression: undefined }, '"compress_mode":"not supported"'],
    ['that it is the hub', { remote: { isHub: true } }, {}, '"is_hub":true'],
    ['its JetStream domain', { site: { hasJetStream: true, domain: 'edge' } }, {}, /"domain":"edge".*"jetstream":true/],
  ])('tells in CONNECT %s', async (_, options, fields, expected) => {
    const { hub } = await start(options);
    const link = await hub.accept();
    link.send(hub.info(fields));
    expect(await link.line()).toMatch(expected);
    await link.close();
  });

  it('tells its interest after the second INFO, and not before', async () => {
    const { hub, edge } = await start();
    const client = await edge.client();
    client.send('SUB early 1\r\n');
    await client.quiet();
    const link = await hub.accept();
    link.send(hub.info());
    expect(await link.line()).toMatch(/^CONNECT /);
    await link.quiet();
    link.send(hub.info({ connect_info: true }));
    expect(await link.line()).toMatch(/^LS\+ \$LDS\./);
    await link.expect('LS+ early\r\n');
    await link.close();
  });

  it('does not wait for a second INFO that an old hub does not send', async () => {
    const { hub } = await start();
    const link = await hub.accept();
    link.send(hub.info({ info_on_connect: undefined }));
    expect(await link.line()).toMatch(/^CONNECT /);
    expect(await link.line()).toMatch(/^LS\+ \$LDS\./);
    await link.close();
  });

  it('takes INFO, interest and messages that arrive in one read', async () => {
    const { hub, edge } = await start();
    const client = await edge.client();
    client.send('SUB a 1\r\n');
    await client.quiet();
    const link = await hub.accept();
    link.send(`${hub.info()}${hub.info({ connect_info: true })}LS+ up\r\nLMSG a 2\r\nhi\r\n`);
    await client.expect('MSG a 1 2\r\nhi\r\n');
    expect(await link.line()).toMatch(/^CONNECT /);
    expect(await link.line()).toMatch(/^LS\+ \$LDS\./);
    await link.expect('LS+ a\r\n');
    client.send('PUB up 2\r\nho\r\n');
    await link.expect('LMSG up 2\r\nho\r\n');
    await link.close();
  });

  it('takes everything a byte at a time', async () => {
    const { hub, edge } = await start();
    const link = await hub.accept();
    await link.sendInChunks(Buffer.from(hub.info({ leafnode_urls: ['127.0.0.1:1'] })), 1);
    expect(await link.line()).toMatch(/^CONNECT /);
    await link.sendInChunks(Buffer.from('INFO {"connect_info":true}\r\nLS+ up q 2\r\n'), 1);
    expect(await link.line()).toMatch(/^LS\+ \$LDS\./);
    const client = await edge.client();
    client.send('SUB a 1\r\nSUB a q 2\r\n');
    await link.expect('LS+ a\r\nLS+ a q 1\r\n');
    await link.sendInChunks(Buffer.from('HMSG a + r q 12 14\r\nNATS/1.0\r\n\r\nhi\r\nPING\r\n'), 1);
    await link.expect('PONG\r\n');
    await client.expect('MSG a 1 r 2\r\nhi\r\nMSG a 2 r 2\r\nhi\r\n');
    await link.close();
  });

  it.each([
    ['no client id', { client_id: undefined }, 'attempted to connect to wrong port', 'Incorrect Port'],
    ['no leaf addresses', { leafnode_urls: undefined, info_on_connect: undefined }, 'wrong port', 'Incorrect Port'],
  ])('is refused without a word on an INFO with %s', async (_, fields, text, reason) => {
    const { hub, edge } = await start();
    const link = await hub.accept();
    link.send(hub.info(fields));
    await link.closed();
    expect(edge.logged(text)).toBe(true);
    expect(edge.logged(`Leafnode connection closed: ${reason}`)).toBe(true);
  });

  it.each([
    ['cluster name cannot contain spaces', { cluster: 'a b' }],
    ['cluster name is reserved', { cluster: '_' }],
  ])('is refused with -ERR %s', async (text, fields) => {
    const { hub } = await start();
    const link = await hub.accept();
    link.send(hub.info(fields));
    await link.expect(`-ERR '${text}'\r\n`);
    await link.closed();
  });

  it('gives up on a hub that does not say INFO, and on one that says no second', async () => {
    const { hub, edge } = await start({ remote: { firstInfoTimeoutMs: 100 } });
    const silent = await hub.accept();
    await silent.closed();
    expect(edge.logged('Leafnode connection closed: Read Error')).toBe(true);
    const half = await hub.accept();
    half.send(hub.info());
    expect(await half.line()).toMatch(/^CONNECT /);
    await half.expect("-ERR 'Stale Leaf Node Connection - Closing'\r\n", 4000);
    await half.closed();
    expect(edge.logged('Leafnode connection closed: Stale Connection - Remote: hub')).toBe(true);
  });
});

describe('an open leaf link', () => {
  it('answers PING and pings within about a second, whatever is sent meanwhile', async () => {
    const { edge, link } = await startOpen();
    link.send('LS+ up\r\nPING\r\n');
    await link.expect('PONG\r\n');
    const client = await edge.client();
    const publishing = setInterval(() => client.send('PUB up 0\r\n\r\n'), 20);
    onTestFinished(() => clearInterval(publishing));
    let pinged = false;
    await until(
      () => {
        pinged ||= link.unread.includes('PING\r\n');
        return pinged;
      },
      'a ping',
      2000,
    );
    clearInterval(publishing);
    link.send('PONG\r\n');
    await until(() => (edge.leafNodes.linkSnapshots()[0]?.rttMs ?? 0) > 0, 'the round trip');
  });

  it('is stale when pings are not answered, and is dialled again', async () => {
    const { hub, edge, link } = await startOpen({ options: { pingIntervalMs: 50, maxPingsOut: 2 } });
    await link.take((bytes) => (bytes.includes("-ERR 'Stale Connection'\r\n") ? bytes.length : 'more'), 'the end');
    expect(edge.logged('Stale Client Connection - Closing')).toBe(true);
    await (await hub.accept()).close();
  });

  it.each([
    ['an unknown verb', 'FOO bar\r\n', "-ERR 'Unknown Protocol Operation'\r\n", 'Protocol Violation'],
    [
      'a payload longer than announced',
      'LMSG a 2\r\nabc\r\n',
      "-ERR 'Unknown Protocol Operation'\r\n",
      'Protocol Violation',
    ],
    ['a malformed message', 'LMSG a x 1 2\r\n', '', 'Protocol Violation'],
    ['a malformed size', 'LMSG a -1\r\n', '', 'Protocol Violation'],
    ['a header longer than the message', 'HMSG a 5 4\r\n', '', 'Protocol Violation'],
    ['interest of two words', 'LS+ a b\r\n', '', 'Protocol Violation'],
    ['INFO that is no JSON', 'INFO {\r\n', '', 'Protocol Violation'],
    ['INFO with a number as a name', 'INFO {"server_name":1}\r\n', '', 'Protocol Violation'],
    [
      'a payload above our own limit',
      'LMSG a 1048577\r\n',
      "-ERR 'Maximum Payload Violation'\r\n",
      'Maximum Message Payload Exceeded',
    ],
    [
      'a line without end',
      `LS+ ${'x'.repeat(70_000)}`,
      "-ERR 'maximum control line exceeded'\r\n",
      'Maximum Control Line Exceeded',
    ],
  ])('is closed on %s', async (_, bytes, answer, reason) => {
    const { edge, link } = await startOpen();
    link.send(bytes);
    if (answer !== '') await link.expect(answer);
    await link.closed();
    await until(() => edge.logged(`Leafnode connection closed: ${reason} - Remote: hub`), 'the log');
  });

  it('stays on an error it does not know, and on interest in an invalid subject', async () => {
    const { edge, link } = await startOpen();
    link.send("-ERR 'Something'\r\nLS+ a..b\r\nLS- never\r\n+OK\r\nPING\r\n");
    await link.expect("-ERR 'Invalid Subscription'\r\nPONG\r\n");
    expect(edge.logged("Leafnode Error 'Something'")).toBe(true);
    expect(edge.logged('Could not insert subscription: sublist: invalid subject')).toBe(true);
    expect(edge.leafNodes.linkSnapshots()[0]?.subscriptions).toBe(0);
  });

  it.each([
    ['that the hub ended it with', '', /lost \(Something\), next attempt in /],
    ['but not for what the hub said earlier', '+OK\r\n', /lost \(Client Closed\), next attempt in /],
  ])('is lost for the error %s', async (_, later, line) => {
    const { edge, link } = await startOpen();
    link.send("-ERR 'Something'\r\n");
    await until(() => edge.logged("Leafnode Error 'Something'"), 'the error');
    if (later !== '') {
      // Heard in another millisecond.
      await new Promise((resolve) => setTimeout(resolve, 5));
      link.send(`${later}PING\r\n`);
      await link.expect('PONG\r\n');
    }
    await link.close();
    await until(() => edge.logged(/ lost \(.*\), next attempt in /), 'the end');
    expect(edge.logged(line)).toBe(true);
  });

  it('changes the weight of a queue group in place', async () => {
    const { edge, link } = await startOpen();
    const interest = (): Subscription[] => [...edge.server.globalAccount.sublist.subscriptions()];
    const weights = (): number[] =>
      interest().flatMap(({ sink, weight }) => (sink.sinkKind === 'leaf' ? [weight] : []));
    link.send('LS+ a q 3\r\nLS+ a q 5\r\nLS+ a q x\r\nLS+ a r 7\r\nPING\r\n');
    await link.expect('PONG\r\n');
    expect(weights().toSorted((a, b) => a - b)).toEqual([1, 7]);
    link.send('LS- a q\r\nLS- a\r\nPING\r\n');
    await link.expect('PONG\r\n');
    expect(weights()).toEqual([7]);
  });

  it('drops messages that the hub is too slow for, and stays', async () => {
    const { edge, link } = await startOpen({ options: { maxPendingBytes: 2_000_000 } });
    link.send('LS+ up\r\nPING\r\n');
    await link.expect('PONG\r\n');
    link.stopReading();
    const client = await edge.client();
    const message = `PUB up 100000\r\n${'x'.repeat(100_000)}\r\n`;
    const dropped = (): number => edge.leafNodes.linkSnapshots()[0]?.droppedCongested ?? -1;
    for (let i = 0; i < 300 && dropped() === 0; i++) {
      client.send(message);
      await client.quiet();
    }
    expect(dropped()).toBeGreaterThan(0);
    expect(
      edge.logged(/lid:1000 - Message not sent, \d+ bytes wait already \(not sent so far: 0 too large, 1 for lack/),
    ).toBe(true);
    link.resumeReading();
    await until(() => edge.leafNodes.linkSnapshots()[0]?.pendingBytes === 0, 'what waited to go out');
    client.send('SUB still 1\r\n');
    await link.take((bytes) => (bytes.includes('LS+ still\r\n') ? bytes.length : 'more'), 'interest after it', 10_000);
    expect(edge.leafNodes.remoteSnapshots()[0]?.opens).toBe(1);
  });

  it('gives a slow write more time, and the connection up in the end', async () => {
    const { edge, link } = await startOpen({ options: { writeDeadlineMs: 50 } });
    link.send('LS+ up\r\nPING\r\n');
    await link.expect('PONG\r\n');
    link.stopReading();
    const client = await edge.client();
    const message = `PUB up 1000000\r\n${'x'.repeat(1_000_000)}\r\n`;
    const began = performance.now();
    client.send(message.repeat(12));
    await client.quiet();
    await until(() => edge.logged('Leafnode connection closed: Slow Consumer (Write Deadline)'), 'the end');
    expect(performance.now() - began).toBeGreaterThan(200);
  });

  it('ends a slow write at its deadline where that is configured', async () => {
    const leafnodes = { writeDeadlineMs: 40, writeTimeoutPolicy: 'close' } as const;
    const { edge, link } = await startOpen({ leafnodes });
    link.send('LS+ up\r\nPING\r\n');
    await link.expect('PONG\r\n');
    link.stopReading();
    const client = await edge.client();
    client.send(`PUB up 1000000\r\n${'x'.repeat(1_000_000)}\r\n`.repeat(12));
    await until(() => edge.logged('Slow Consumer Detected: WriteDeadline of 40ms exceeded'), 'the end');
  });

  it('gives up the interest of the hub when it ends', async () => {
    const { edge, link } = await startOpen();
    const { sublist } = edge.server.globalAccount;
    const before = sublist.size;
    link.send('LS+ a\r\nLS+ b.> q 2\r\nPING\r\n');
    await link.expect('PONG\r\n');
    expect(sublist.size).toBe(before + 2);
    await link.close();
    await until(() => sublist.size === before, 'the interest to be gone');
  });

  it('counts messages and bytes both ways', async () => {
    const { edge, link } = await startOpen();
    const client = await edge.client();
    link.send('LS+ up\r\nLMSG down 5\r\nhello\r\nHMSG down 12 14\r\nNATS/1.0\r\n\r\nhi\r\nPING\r\n');
    await link.expect('PONG\r\n');
    client.send('PUB up 3\r\nabc\r\n');
    await link.expect('LMSG up 3\r\nabc\r\n');
    expect(edge.leafNodes.linkSnapshots()).toMatchObject([
      {
        id: 1000,
        name: 'hub',
        isSpoke: true,
        account: '$G',
        remoteAccount: 'HUBACC',
        ip: '127.0.0.1',
        inMessages: 2,
        inBytes: 19,
        outMessages: 1,
        outBytes: 3,
        subscriptions: 1,
        compression: 'off',
      },
    ]);
  });

  it('keeps JetStream subjects to each side, and lets acknowledgements and service replies in', async () => {
    const options = { site: { hasJetStream: true, domain: 'edge' } };
    const { edge, link } = await startOpen(options, {}, { import: { allow: ['only.this'] } });
    const client = await edge.client();
    client.send('SUB > 1\r\nSUB $JS.API.> 2\r\n');
    await link.expect('LS+ >\r\n');
    link.send('LMSG $JS.API.INFO 0\r\n\r\nLMSG $KV.b.k 0\r\n\r\nLMSG other 0\r\n\r\nLMSG _R_.x 0\r\n\r\n');
    link.send('LMSG $JS.ACK.x 0\r\n\r\nLMSG only.this 0\r\n\r\n');
    await client.expect('MSG _R_.x 1 0\r\n\r\nMSG $JS.ACK.x 1 0\r\n\r\nMSG only.this 1 0\r\n\r\n');
    link.send('LS+ >\r\nPING\r\n');
    await link.expect('PONG\r\n');
    client.send(
      'PUB $JS.API.INFO 0\r\n\r\nPUB $OBJ.x 0\r\n\r\nPUB $JS.edge.API.INFO 0\r\n\r\nPUB $JS.hub.API.INFO 0\r\n\r\n',
    );
    await link.expect('LMSG $JS.hub.API.INFO 0\r\n\r\n');
    await link.quiet();
  });

  it('carries the subject that JetStream shows behind the reply, both ways', async () => {
    const { edge, link } = await startOpen();
    const client = await edge.client();
    client.send('SUB inbox 1\r\n');
    await link.expect('LS+ inbox\r\n');
    const ack = '$JS.ACK.S.C@x.1.2.3.4.5';
    link.send(`LMSG inbox ${ack}@orders.1 2\r\nhi\r\nLMSG inbox $JS.ACK.short@a 0\r\n\r\nLMSG inbox x@y 0\r\n\r\n`);
    await client.expect(
      `MSG orders.1 1 ${ack} 2\r\nhi\r\nMSG inbox 1 $JS.ACK.short@a 0\r\n\r\nMSG inbox 1 x@y 0\r\n\r\n`,
    );
  });
});

describe('a hub that a link plays', () => {
  it('refuses interest in what the leaf may not have, and waits 30 s', async () => {
    const { edge, link } = await startOpen({ remote: { isHub: true, denyExports: ['secret'] } });
    link.send('LS+ secret\r\n');
    await link.expect('-ERR \'Permissions Violation for Subscription to "secret"\'\r\n');
    await link.closed();
    expect(edge.logged('Subscription Violation on "secret" - Check other side configuration')).toBe(true);
    expect(edge.leafNodes.remoteSnapshots()[0]?.state).toBe('waiting');
  });
});
