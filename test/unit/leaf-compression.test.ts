/** How the ends of a leaf link agree on compression, and what goes over the wire when they do. */
/* oxlint-disable vitest/expect-expect -- waiting for a condition asserts, too */
import { describe, expect, it, onTestFinished } from 'vitest';
import { agreedMode, levelOf } from '../../leafnode/compression.ts';
import type { CompressionMode } from '../../server/config/compression.ts';
import { type LeafPetiole, startLeafPetiole } from '../helpers/leaf-petiole.ts';
import { contentChunk, IDENTIFIER, readS2, writeS2 } from '../helpers/s2-stream.ts';
import { type ScriptedHub, startScriptedHub } from '../helpers/scripted-hub.ts';
import { until } from '../helpers/until.ts';
import type { WireClient } from '../helpers/wire-client.ts';

describe('the mode that two ends agree on', () => {
  it.each<[CompressionMode, string, CompressionMode | null]>([
    ['off', 's2_fast', 'off'],
    ['off', '', 'not supported'],
    ['not supported', 's2_fast', 'not supported'],
    ['s2_fast', '', 'not supported'],
    ['s2_fast', 'not supported', 'not supported'],
    ['s2_fast', 'off', 'off'],
    ['s2_fast', 'accept', 's2_fast'],
    ['s2_fast', 's2_best', 's2_fast'],
    ['s2_auto', 's2_best', 's2_auto'],
    ['s2_auto', 's2_auto', 's2_auto'],
    ['accept', 'accept', 'off'],
    ['accept', 's2_auto', 's2_fast'],
    ['accept', 's2_uncompressed', 's2_uncompressed'],
    ['accept', 's2_better', 's2_better'],
    ['accept', 'zip', null],
    ['s2_auto', 'zip', null],
  ])('%s here and %j there: %s', (own, peer, agreed) => {
    expect(agreedMode(own, peer)).toBe(agreed);
  });

  it.each<[number, readonly number[], string]>([
    [0, [10, 50, 100], 's2_uncompressed'],
    [10, [10, 50, 100], 's2_uncompressed'],
    [10.1, [10, 50, 100], 's2_fast'],
    [100, [10, 50, 100], 's2_better'],
    [101, [10, 50, 100], 's2_best'],
    [101, [10, 50], 's2_fast'],
    [101, [10], 's2_uncompressed'],
    [20, [0, 0, 20, 30], 's2_better'],
    [25, [0, 0, 20, 30], 's2_best'],
    [40, [0, 0, 20, 30], 's2_best'],
    [40, [0, 0, 20], 's2_best'],
  ])('goes by a round trip of %d ms with %j: %s', (rttMs, thresholds, level) => {
    expect(levelOf('s2_auto', rttMs, thresholds)).toBe(level);
  });

  it('does not go by the round trip where it is given', () => {
    expect(levelOf('s2_best', 0, [])).toBe('s2_best');
  });
});

/** A link whose hub has greeted and has been asked for compression. */
async function begun(mode: CompressionMode): Promise<{ hub: ScriptedHub; edge: LeafPetiole; link: WireClient }> {
  const hub = await startScriptedHub();
  // However busy the machine is.
  const compression = { mode, rttThresholdsMs: [60_000] };
  const edge = await startLeafPetiole({ urls: [hub.url], remote: { compression } });
  const link = await hub.accept();
  onTestFinished(() => link.close());
  link.send(hub.info());
  return { hub, edge, link };
}

describe('a link that is to be compressed', () => {
  it('says INFO in clear and everything else compressed', async () => {
    const { hub, edge, link } = await begun('s2_fast');
    const asked = JSON.parse((await link.line()).replace(/^INFO /, '')) as Record<string, unknown>;
    expect(asked).toMatchObject({ compression: 's2_fast', server_name: edge.name, client_id: 1000 });
    link.send(writeS2([[Buffer.from(hub.info({ nonce: 'second' }))]], true));
    const framed = await link.take(
      (bytes) => (readS2([bytes]).content.includes('CONNECT ') ? bytes.length : 'more'),
      'CONNECT',
    );
    expect(readS2([framed])).toMatchObject({ failure: '' });
    expect(readS2([framed]).content.toString()).toContain('"compress_mode":"s2_fast"');
    const opening = Buffer.from(hub.info({ connect_info: true }));
    const [identifier, chunk] = [IDENTIFIER.length, contentChunk(opening, null)];
    expect(identifier).toBe(10);
    // In pieces, and with padding in between.
    await link.sendInChunks(Buffer.concat([Buffer.from([0xfe, 2, 0, 0, 9, 9]), chunk]), 7);
    const told = await link.take(
      (bytes) => (bytes.includes('LS+') || bytes.length > 30 ? bytes.length : 'more'),
      'interest',
    );
    expect(readS2([IDENTIFIER, told]).content.toString()).toMatch(/^LS\+ \$LDS\./);
    expect(edge.leafNodes.linkSnapshots()[0]?.compression).toBe('s2_fast');
  });

  it('says that it goes by the round trip, and in CONNECT what that comes to', async () => {
    const { hub, link } = await begun('s2_auto');
    expect(await link.line()).toContain('"compression":"s2_auto"');
    link.send(writeS2([[Buffer.from(hub.info())]], false));
    const framed = await link.take(
      (bytes) => (bytes.includes('CONNECT ') && bytes.includes('\n') ? bytes.length : 'more'),
      'CONNECT',
    );
    expect(framed.toString('latin1')).toContain('"compress_mode":"s2_uncompressed"');
  });

  it.each<[string, (hub: ScriptedHub) => Buffer, string]>([
    ['answers in clear', (hub) => Buffer.from(hub.info()), 'compressed stream: it does not begin with an identifier'],
    [
      'sends what is corrupt',
      () => Buffer.concat([IDENTIFIER, Buffer.from([0, 6, 0, 0, 1, 2, 3, 4, 1, 1])]),
      'compressed stream: a block that is corrupt',
    ],
    [
      'sends messages before anything',
      () => writeS2([[Buffer.from('LMSG a 0\r\n\r\n')]], true),
      'Leafnode sent something before INFO',
    ],
  ])('gives up on a hub that %s', async (_, answer, text) => {
    const { hub, edge, link } = await begun('s2_fast');
    await link.line();
    link.send(answer(hub));
    await until(() => edge.logged(text), 'the log');
    expect(edge.logged('Leafnode connection closed: Protocol Violation')).toBe(true);
    await until(() => edge.logged('next attempt in'), 'another attempt');
  });

  it('gives up on a hub that compresses in a way nobody knows', async () => {
    const hub = await startScriptedHub();
    const edge = await startLeafPetiole({
      urls: [hub.url],
      remote: { compression: { mode: 's2_fast', rttThresholdsMs: [] } },
    });
    const link = await hub.accept();
    link.send(hub.info({ compression: 'zip' }));
    await link.expect(`-ERR 'unsupported route compression mode "zip"'\r\n`);
    await link.closed();
    expect(edge.logged('Leafnode connection closed: Protocol Violation')).toBe(true);
  });

  it('gives up on a hub that does not answer', async () => {
    const { edge, link } = await begun('s2_fast');
    await link.line();
    await until(
      () => edge.logged('Stale Leaf Node Connection - Closing: no answer to compressed info'),
      'the log',
      5000,
    );
  });

  it('takes nothing that was said in clear behind the greeting', async () => {
    const hub = await startScriptedHub();
    const edge = await startLeafPetiole({
      urls: [hub.url],
      remote: { compression: { mode: 's2_fast', rttThresholdsMs: [] } },
    });
    const client = await edge.client();
    client.send('SUB a 1\r\n');
    const link = await hub.accept();
    link.send(`${hub.info()}LMSG a 2\r\nhi\r\n`);
    await until(() => edge.logged('Leafnode sent something before INFO'), 'the log');
    await client.quiet();
  });

  it('takes nothing that was said in clear before it is encrypted', async () => {
    const hub = await startScriptedHub();
    const edge = await startLeafPetiole({ urls: [hub.url] });
    const client = await edge.client();
    client.send('SUB a 1\r\n');
    const link = await hub.accept();
    link.send(`${hub.info({ tls_required: true })}LMSG a 2\r\nhi\r\n`);
    await until(() => edge.logged('Leafnode sent something before INFO'), 'the log');
    await client.quiet();
  });
});
