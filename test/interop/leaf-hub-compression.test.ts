/** Compressed links of leaves to a hub, whichever of the two servers is at which end. */
import { expect, it, onTestFinished } from 'vitest';
import { describePairs, describeTargets, serve } from '../helpers/describe-targets.ts';
import { readS2, telemetry, writeS2 } from '../helpers/s2-stream.ts';
import type { RunningServer, Target } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import { dial, type WireClient } from '../helpers/wire-client.ts';

interface LeafzLink {
  readonly compression?: string;
}

async function hubOf(target: Target, compression: string): Promise<RunningServer> {
  const leafnodes = `leafnodes { listen: "127.0.0.1:-1", compression: ${compression} }`;
  return serve(target, `server_name: hub\nhttp: "127.0.0.1:-1"\n${leafnodes}`, { flags: ['-D'] });
}

async function leafOf(target: Target, hub: RunningServer, compression: string): Promise<RunningServer> {
  const { port } = await hub.listening('leafnode');
  const remote = `{ url: "nats://127.0.0.1:${port}", compression: ${compression} }`;
  return serve(target, `server_name: edge\nhttp: "127.0.0.1:-1"\nleafnodes { remotes: [ ${remote} ] }`, {
    flags: ['-D'],
  });
}

async function compressionAt(server: RunningServer): Promise<string | undefined> {
  const { host, port } = await server.listening('monitor');
  const answer = await fetch(`http://${host}:${port}/leafz`);
  const { leafs } = (await answer.json()) as { leafs: readonly LeafzLink[] | null };
  return leafs?.[0]?.compression;
}

async function clientOf(server: RunningServer): Promise<WireClient> {
  const client = await dial(server.address());
  await client.line();
  client.send('CONNECT {"verbose":false,"pedantic":false,"headers":true}\r\nPING\r\n');
  await client.expect('PONG\r\n');
  onTestFinished(() => client.close());
  return client;
}

/** Sends until the interest has arrived at the other side, and then messages of all sizes. */
async function exchange(from: RunningServer, to: RunningServer, subject: string): Promise<void> {
  const [sender, receiver] = [await clientOf(from), await clientOf(to)];
  receiver.send(`SUB ${subject}.> 1\r\nPING\r\n`);
  await receiver.expect('PONG\r\n');
  await until(async () => {
    sender.send(`PUB ${subject}.try 0\r\n\r\nPING\r\n`);
    await sender.expect('PONG\r\n');
    return Buffer.isBuffer(receiver.tryTake((bytes) => (bytes.includes('try 1 0\r\n\r\n') ? bytes.length : 'more')));
  }, 'the interest');
  sender.send(`PUB ${subject}.end 0\r\n\r\n`);
  await receiver.take((bytes) => (bytes.includes('end 1 0\r\n\r\n') ? bytes.length : 'more'), 'the last of those');
  for (const bytes of [0, 1, 100, 5000, 70_000, 1_000_000]) {
    const payload = telemetry(bytes).toString('latin1');
    sender.send(`PUB ${subject}.a ${payload.length}\r\n${payload}\r\n`);
    await receiver.expect(`MSG ${subject}.a 1 ${payload.length}\r\n${payload}\r\n`);
  }
  const body = telemetry(300).toString('latin1');
  const numbers = Array.from({ length: 300 }, (_, i) => i);
  sender.send(numbers.map((i) => `PUB ${subject}.${i} 300\r\n${body}\r\n`).join(''));
  await receiver.expect(numbers.map((i) => `MSG ${subject}.${i} 1 300\r\n${body}\r\n`).join(''));
}

describePairs('a compressed link', (leaf, hub) => {
  it.each([
    ['s2_best', 's2_better', 's2_best', 's2_better'],
    ['accept', 's2_fast', 's2_fast', 's2_fast'],
    ['accept', 'accept', 'off', 'off'],
  ])('with %s at the leaf and %s at the hub comes to %s and %s', async (own, other, atLeaf, atHub) => {
    const up = await hubOf(hub, other);
    const down = await leafOf(leaf, up, own);
    await until(async () => (await compressionAt(up)) !== undefined, 'the link at the hub');
    await until(async () => (await compressionAt(down)) !== undefined, 'the link at the leaf');
    expect(await compressionAt(down)).toBe(atLeaf);
    expect(await compressionAt(up)).toBe(atHub);
    await exchange(down, up, 'up');
    await exchange(up, down, 'down');
  });
});

const INFO = `INFO ${JSON.stringify({ client_id: 1, compression: 's2_fast' })}\r\n`;

/** Connects to the leaf port of a hub, and has read its INFO. */
async function greeted(target: Target, compression: string): Promise<{ leaf: WireClient; hub: RunningServer }> {
  const hub = await hubOf(target, compression);
  const { port } = await hub.listening('leafnode');
  const leaf = await dial({ host: '127.0.0.1', port });
  onTestFinished(() => leaf.close());
  expect(await leaf.line()).toContain(`"compression":"${compression}"`);
  return { leaf, hub };
}

async function compressed(leaf: WireClient, text: string): Promise<string> {
  const framed = await leaf.take((bytes) => (readS2([bytes]).content.includes(text) ? bytes.length : 'more'), text);
  return readS2([framed]).content.toString();
}

describeTargets('the leaf port', (target) => {
  it('answers an INFO with one that is compressed, and takes a CONNECT that is', async () => {
    const { leaf } = await greeted(target, 's2_fast');
    leaf.send(INFO);
    const answer = await compressed(leaf, '\n');
    expect(answer).toMatch(/^INFO \{.*"nonce":"[^"]+".*"compression":"s2_fast"/);
    leaf.send(writeS2([[Buffer.from('CONNECT {"name":"edge","headers":true,"compress_mode":"s2_fast"}\r\n')]], true));
    // The stream goes on, so that its identifier may not come again.
    const second = await leaf.take((bytes) => (bytes.length > 30 ? bytes.length : 'more'), 'the second INFO');
    expect(second.length).toBeGreaterThan(30);
  });

  it('says what is wrong with a mode that nobody knows', async () => {
    const { leaf } = await greeted(target, 's2_fast');
    leaf.send('INFO {"client_id":1,"compression":"zip"}\r\n');
    expect(await leaf.line()).toBe(`-ERR 'unsupported route compression mode "zip"'`);
    await leaf.closed();
  });

  it('lets a leaf go on in clear that wants no compression after all', async () => {
    const { leaf } = await greeted(target, 's2_fast');
    leaf.send('INFO {"client_id":1,"compression":"off"}\r\n');
    leaf.send('CONNECT {"name":"edge","headers":true,"compress_mode":"off"}\r\n');
    expect(await leaf.line()).toContain('"connect_info":true');
  });

  it.each([
    ['in clear', Buffer.from('CONNECT {"name":"edge"}\r\n')],
    ['corrupt', Buffer.concat([writeS2([[]], true), Buffer.from([0, 6, 0, 0, 1, 2, 3, 4, 1, 1])])],
    ['in a piece that is far too long', Buffer.from('\xff\x06\x00\x00S2sTwO\x00\xff\xff\xff', 'latin1')],
  ])('closes on a leaf that has asked for compression and goes on %s', async (_, bytes) => {
    const { leaf, hub } = await greeted(target, 's2_fast');
    leaf.send(INFO);
    await compressed(leaf, '\n');
    leaf.send(bytes);
    await leaf.closed();
    expect(hub.log).not.toContain('panic');
  });
});
