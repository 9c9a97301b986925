/** Compressed leaf links to a real hub: what both come to for each pair of settings, and that everything gets across. */
/* oxlint-disable vitest/expect-expect -- wire clients assert, too */
import { describe, expect, it } from 'vitest';
import type { CompressionMode, CompressionOptions } from '../../server/config/compression.ts';
import { startFaultProxy } from '../helpers/fault-proxy.ts';
import { type LeafPetiole, startLeafPetiole } from '../helpers/leaf-petiole.ts';
import { describeWithHub, type RealHub, startHub } from '../helpers/real-hub.ts';
import { telemetry } from '../helpers/s2-stream.ts';
import { until } from '../helpers/until.ts';

/** Ways are short here, however busy the machine is. */
const AUTOMATIC: CompressionOptions = { mode: 's2_auto', rttThresholdsMs: [10_000, 50_000, 100_000] };
const AUTOMATIC_AT_HUB = '{ mode: s2_auto, rtt_thresholds: [10s, 50s, 100s] }';

function set(mode: CompressionMode): CompressionOptions {
  return mode === 's2_auto' ? AUTOMATIC : { mode, rttThresholdsMs: [] };
}

/** What the hub says that the link is compressed with. */
async function hubCompression(hub: RealHub): Promise<string | undefined> {
  const links = (await hub.links()) as readonly { readonly compression?: string }[];
  return links[0]?.compression;
}

/** Messages of all sizes, both ways, each as it was sent. */
async function exchange(edge: LeafPetiole, hub: RealHub): Promise<void> {
  const [near, far] = [await edge.client({ headers: true }), await hub.client({ headers: true })];
  near.send('SUB down.> 1\r\n');
  far.send('SUB up.> 1\r\n');
  await hub.awaitInterest(edge.name, ['down.>']);
  const link = await edge.link();
  await until(() => [...link.peerSubscriptions()].some(({ subject }) => subject === 'up.>'), 'interest of the hub');
  const payloads = [0, 1, 40, 3000, 70_000, 300_000, 1_000_000].map((bytes) => telemetry(bytes).toString('latin1'));
  for (const payload of payloads) {
    near.send(`PUB up.a reply ${payload.length}\r\n${payload}\r\n`);
    await far.expect(`MSG up.a 1 reply ${payload.length}\r\n${payload}\r\n`);
    far.send(`HPUB down.a 12 ${payload.length + 12}\r\nNATS/1.0\r\n\r\n${payload}\r\n`);
    await near.expect(`HMSG down.a 1 12 ${payload.length + 12}\r\nNATS/1.0\r\n\r\n${payload}\r\n`);
  }
  // Many in a row, in order.
  const numbers = Array.from({ length: 500 }, (_, i) => i);
  const body = telemetry(200).toString('latin1');
  const all = (start: string): string => numbers.map((i) => `${start}.${i} ${body.length}\r\n${body}\r\n`).join('');
  near.send(all('PUB up'));
  far.send(all('PUB down'));
  await far.expect(numbers.map((i) => `MSG up.${i} 1 ${body.length}\r\n${body}\r\n`).join(''));
  await near.expect(numbers.map((i) => `MSG down.${i} 1 ${body.length}\r\n${body}\r\n`).join(''));
}

describeWithHub('compression of a leaf link', () => {
  describe.each<[CompressionMode, string, string, string]>([
    ['s2_fast', 's2_fast', 's2_fast', 's2_fast'],
    ['s2_better', 's2_better', 's2_better', 's2_better'],
    ['s2_best', 's2_best', 's2_best', 's2_best'],
    ['s2_uncompressed', 's2_fast', 's2_uncompressed', 's2_fast'],
    ['s2_fast', 's2_best', 's2_fast', 's2_best'],
    ['s2_auto', 's2_auto', 's2_uncompressed', 's2_uncompressed'],
    ['s2_auto', 'accept', 's2_uncompressed', 's2_fast'],
    ['accept', 's2_auto', 's2_fast', 's2_uncompressed'],
    ['accept', 's2_best', 's2_best', 's2_best'],
    ['accept', 'accept', 'off', 'off'],
    ['s2_fast', 'off', 'off', 'off'],
    ['off', 's2_fast', 'off', 'off'],
    ['s2_auto', 'not_supported', 'not supported', 'not supported'],
  ])('%s here and %s there', (own, other, ours, theirs) => {
    it(`comes to ${ours} and ${theirs}, and everything gets across`, async () => {
      const hub = await startHub({ leafnodes: `compression: ${other === 's2_auto' ? AUTOMATIC_AT_HUB : other}` });
      const edge = await startLeafPetiole({ urls: [hub.url()], remote: { compression: set(own) } });
      await edge.link();
      await until(async () => (await hubCompression(hub)) !== undefined, 'the link at the hub');
      expect(edge.leafNodes.linkSnapshots()[0]?.compression).toBe(ours);
      expect(await hubCompression(hub)).toBe(theirs);
      await exchange(edge, hub);
      expect(edge.errors).toEqual([]);
    });
  });

  it('compresses more where the way is long, and follows when that changes', async () => {
    const hub = await startHub();
    const proxy = await startFaultProxy(hub.leafAddress);
    proxy.delay(30);
    const edge = await startLeafPetiole({
      urls: [`nats://127.0.0.1:${proxy.address.port}`],
      remote: { compression: { mode: 's2_auto', rttThresholdsMs: [50, 55, 60_000] }, followsDiscoveredServers: false },
      options: { pingIntervalMs: 200 },
    });
    await edge.link();
    const level = (): string | undefined => edge.leafNodes.linkSnapshots()[0]?.compression;
    await until(() => level() === 's2_better', 'compression of a long way');
    proxy.delay(0);
    // A round trip is measured with each ping that is due, the hub's own do not count.
    await until(() => level() === 's2_uncompressed', 'compression of a short way', 30_000);
    await exchange(edge, hub);
  });

  it('begins anew with each link', async () => {
    const hub = await startHub({ leafnodes: 'compression: s2_fast' });
    const proxy = await startFaultProxy(hub.leafAddress);
    const edge = await startLeafPetiole({
      urls: [`nats://127.0.0.1:${proxy.address.port}`],
      remote: { compression: set('s2_better'), followsDiscoveredServers: false },
    });
    for (let round = 1; round <= 3; round++) {
      await until(() => edge.leafNodes.remoteSnapshots()[0]?.opens === round && edge.leafNodes.links()[0], 'the link');
      await exchange(edge, hub);
      proxy.reset();
    }
  });
});
