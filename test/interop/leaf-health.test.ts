/** Whether the hub is there is asked by pings that no traffic can postpone or stand for, compressed or not. */
import { expect, it } from 'vitest';
import type { CompressionMode } from '../../server/config/compression.ts';
import { type Direction, startFaultProxy } from '../helpers/fault-proxy.ts';
import { startLeafPetiole } from '../helpers/leaf-petiole.ts';
import { describeWithHub, startHub } from '../helpers/real-hub.ts';
import { startScriptedHub } from '../helpers/scripted-hub.ts';
import { until } from '../helpers/until.ts';

const PING_INTERVAL_MS = 200;
const PINGS_OUT_MAX = 2;
/** Two pings out, and the third time none has been answered; the rest is for a busy machine. */
const NOTICED_WITHIN_MS = PING_INTERVAL_MS * (PINGS_OUT_MAX + 1) + 1500;

describeWithHub('a way to the hub that is dead in one direction', () => {
  it.each<[Direction, CompressionMode]>([
    ['up', 'off'],
    ['down', 'off'],
    ['up', 's2_fast'],
    ['down', 's2_fast'],
    ['down', 's2_uncompressed'],
  ])('%s is noticed in the midst of traffic, compression: %s', async (direction, mode) => {
    const hub = await startHub({ leafnodes: 'compression: s2_fast' });
    const proxy = await startFaultProxy(hub.leafAddress);
    const edge = await startLeafPetiole({
      urls: [`nats://127.0.0.1:${proxy.address.port}`],
      remote: { followsDiscoveredServers: false, compression: { mode, rttThresholdsMs: [] } },
      options: { pingIntervalMs: PING_INTERVAL_MS, maxPingsOut: PINGS_OUT_MAX },
    });
    const link = await edge.link();
    const [near, far] = [await edge.client(), await hub.client()];
    near.send('SUB down 1\r\n');
    far.send('SUB up 1\r\n');
    await hub.awaitInterest(edge.name, ['down']);
    await until(() => [...link.peerSubscriptions()].some(({ subject }) => subject === 'up'), 'interest of the hub');
    const traffic = setInterval(() => {
      near.send('PUB up 1\r\n.\r\n');
      far.send('PUB down 1\r\n.\r\n');
    }, 5);
    try {
      // All is well as long as both directions live.
      await until(() => edge.leafNodes.linkSnapshots()[0]?.rttMs ?? 0, 'a round trip');
      proxy.pause(direction);
      const began = performance.now();
      await until(() => edge.logged('Leafnode connection closed: Stale Connection'), 'the dead way to be noticed');
      expect(performance.now() - began).toBeLessThan(NOTICED_WITHIN_MS);
    } finally {
      clearInterval(traffic);
    }
    proxy.resume(direction);
    await until(() => edge.leafNodes.remoteSnapshots()[0]?.opens === 2, 'another link', 10_000);
  });
});

it('a hub that says anything but PONG is none', async () => {
  const hub = await startScriptedHub();
  const edge = await startLeafPetiole({
    urls: [hub.url],
    options: { pingIntervalMs: PING_INTERVAL_MS, maxPingsOut: PINGS_OUT_MAX },
  });
  const { link } = await hub.open();
  const began = performance.now();
  const traffic = setInterval(() => link.send('LMSG a 1\r\n.\r\nPING\r\nLS+ b\r\nLS- b\r\n'), 5);
  try {
    await until(() => edge.logged('Leafnode connection closed: Stale Connection'), 'the link to be given up');
  } finally {
    clearInterval(traffic);
  }
  expect(performance.now() - began).toBeLessThan(NOTICED_WITHIN_MS);
  await link.close();
});

it('a hub that drops every link is dialled for ever, and not in a storm', async () => {
  const hub = await startScriptedHub();
  const edge = await startLeafPetiole({ urls: [hub.url], leafnodes: { reconnectIntervalMs: 50 } });
  const began = performance.now();
  const dialledMs: number[] = [];
  for (let i = 0; i < 10; i++) {
    const link = await hub.accept(10_000);
    dialledMs.push(performance.now() - began);
    link.send("-ERR 'Authorization Violation'\r\n");
    await link.close();
  }
  const gaps = dialledMs.slice(1).map((ms, i) => ms - (dialledMs[i] as number));
  // At least half the interval, and more and more of it.
  expect(Math.min(...gaps)).toBeGreaterThan(20);
  expect(gaps.at(-1)).toBeGreaterThan(400);
  expect(edge.log.filter((line) => line.includes("Leafnode Error 'Authorization Violation'")).length).toBeGreaterThan(
    8,
  );
  expect(edge.logged(/link to remote server "127\.0\.0\.1:\d+" not established \(.*\), next attempt in/)).toBe(true);
});
