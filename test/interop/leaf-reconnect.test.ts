/** A leaf link that is cut, with a real hub: it comes back by itself, and the hub then knows all interest. */
/* oxlint-disable vitest/expect-expect -- wire clients and the hub's monitoring assert, too */
import { expect, it } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../helpers/fault-proxy.ts';
import { startLeafPetiole } from '../helpers/leaf-petiole.ts';
import type { LeafPetiole, LeafPetioleOptions } from '../helpers/leaf-petiole.ts';
import { describeWithHub, startHub } from '../helpers/real-hub.ts';
import { until } from '../helpers/until.ts';

/** Linked through a proxy and never past it: what addresses the hub tells is ignored. */
async function startBehind(proxy: FaultProxy, options: Partial<LeafPetioleOptions> = {}): Promise<LeafPetiole> {
  const urls = [`nats://127.0.0.1:${proxy.address.port}`];
  return startLeafPetiole({ urls, remote: { followsDiscoveredServers: false }, ...options });
}

async function reopened(edge: LeafPetiole, opens: number, timeoutMs = 10_000): Promise<void> {
  await until(() => (edge.leafNodes.remoteSnapshots()[0]?.opens ?? 0) >= opens, `opening number ${opens}`, timeoutMs);
}

describeWithHub('a leaf link that is cut', () => {
  it('comes back when the hub has been restarted, with all interest', async () => {
    const hub = await startHub();
    const edge = await startLeafPetiole({ urls: [hub.url()] });
    const client = await edge.client();
    client.send('SUB a 1\r\nSUB b.* 2\r\nSUB c q 3\r\n');
    await hub.awaitInterest(edge.name, ['a', 'b.*', 'c']);
    await hub.stop();
    await until(
      () => edge.logged(/Error trying to connect as leafnode to remote server "127\.0\.0\.1:\d+" \(attempt 2\)/),
      'attempts',
    );
    expect(edge.logged(/\(attempt 1\): dial tcp 127\.0\.0\.1:\d+: connect: connection refused$/)).toBe(true);
    client.send('UNSUB 1\r\nSUB d 4\r\n');
    await hub.startAgain();
    await hub.awaitInterest(edge.name, ['b.*', 'c', 'd'], 10_000);
    const up = await hub.client();
    up.send('PUB d 1\r\n!\r\n');
    await client.expect('MSG d 4 1\r\n!\r\n');
  });

  // nats-server#3515: behind a reset some subscriptions were dead.
  it('comes back from twenty resets, and requests are answered after each', async () => {
    const hub = await startHub();
    const proxy = await startFaultProxy(hub.leafAddress);
    const edge = await startBehind(proxy);
    const other = await startLeafPetiole({ urls: [hub.url()] });
    const client = await edge.client({ headers: true, no_responders: true });
    const service = await other.client();
    client.send('SUB inbox 1\r\nSUB x.* 2\r\n');
    service.send('SUB service q 1\r\nSUB unheard 2\r\nUNSUB 2 1\r\n');
    for (let round = 1; round <= 20; round++) {
      await reopened(edge, round);
      await hub.awaitInterest(edge.name, ['inbox', 'x.*']);
      const link = await edge.link();
      await until(() => [...link.peerSubscriptions()].some(({ subject }) => subject === 'service'), 'the service');
      client.send('PUB service inbox 1\r\n?\r\n');
      await service.expect('MSG service 1 inbox 1\r\n?\r\n');
      service.send('PUB inbox 1\r\n!\r\n');
      await client.expect('MSG inbox 1 1\r\n!\r\n');
      // Every other time in the middle of traffic that nobody waits for.
      if (round % 2 === 0) client.send('PUB unheard 100000\r\n'.concat('-'.repeat(100_000), '\r\n').repeat(20));
      proxy.reset();
    }
  });

  // nats-server#1606: it was refused as a loop, and waited 30 s.
  it('is taken back at once when the hub has not noticed that the old connection is gone', async () => {
    const hub = await startHub();
    const proxy = await startFaultProxy(hub.leafAddress);
    const edge = await startBehind(proxy);
    const client = await edge.client();
    client.send('SUB a 1\r\n');
    await hub.awaitInterest(edge.name, ['a']);
    proxy.resetNear();
    await reopened(edge, 2);
    await hub.awaitInterest(edge.name, ['a']);
    expect(hub.log).toContain('Replacing connection from same server');
    expect(edge.logged('Loop detected')).toBe(false);
    const up = await hub.client();
    up.send('PUB a 1\r\n!\r\n');
    await client.expect('MSG a 1 1\r\n!\r\n');
    await client.quiet();
  });

  // nats-server#3682: traffic of its own postponed the pings.
  it('notices that nothing comes back although it sends all the time', async () => {
    const hub = await startHub();
    const proxy = await startFaultProxy(hub.leafAddress);
    const edge = await startBehind(proxy, { options: { pingIntervalMs: 200, maxPingsOut: 2 } });
    await edge.link();
    const up = await hub.client();
    const link = await edge.link();
    up.send('SUB up 1\r\n');
    await until(() => [...link.peerSubscriptions()].some(({ subject }) => subject === 'up'), 'the interest of the hub');
    const down = await edge.client();
    proxy.pause('down');
    const began = performance.now();
    const publishing = setInterval(() => down.send('PUB up 1\r\n.\r\n'), 5);
    try {
      await until(() => edge.logged('Leafnode connection closed: Stale Connection'), 'the dead link to be noticed');
    } finally {
      clearInterval(publishing);
    }
    // Two pings out, and the third time finds none answered.
    expect(performance.now() - began).toBeLessThan(1500);
    proxy.resume('down');
    await reopened(edge, 2);
  });

  it('comes back when the hub has closed its half', async () => {
    const hub = await startHub();
    const proxy = await startFaultProxy(hub.leafAddress);
    const edge = await startBehind(proxy);
    const client = await edge.client();
    client.send('SUB a 1\r\n');
    await hub.awaitInterest(edge.name, ['a']);
    proxy.halfClose('down');
    await reopened(edge, 2);
    await hub.awaitInterest(edge.name, ['a']);
    expect(edge.logged('Leafnode connection closed: Client Closed - Remote: ')).toBe(true);
  });

  it('opens over a slow way too', async () => {
    const hub = await startHub();
    const proxy = await startFaultProxy(hub.leafAddress);
    proxy.delay(200);
    const edge = await startBehind(proxy);
    const client = await edge.client();
    client.send('SUB a 1\r\n');
    await hub.awaitInterest(edge.name, ['a']);
    await until(() => (edge.leafNodes.linkSnapshots()[0]?.rttMs ?? 0) > 350, 'the round trip to be measured');
    expect(edge.leafNodes.remoteSnapshots()[0]?.opens).toBe(1);
  });
});
