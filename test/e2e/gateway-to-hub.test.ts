/**
 * The way of a reading from a gateway's disk to a hub, with everything that can happen to it: three publishers and a
 * worker on a petiole that is killed five times under load, and whose link to a real nats-server is cut in between.
 *
 *     round:  span with link ─► cut, restored ─► span with link ─► kill -9, started again
 *
 * In a span the link is known to stand from before the first publication until the hub has everything: of those
 * readings the hub must have heard all. Of what is published while the link is down core NATS promises nothing to the
 * hub; the stream has it.
 */
import { expect, it, vi } from 'vitest';
import { startFaultProxy } from '../helpers/fault-proxy.ts';
import type { FaultProxy } from '../helpers/fault-proxy.ts';
import { describeWithHub, startHub } from '../helpers/real-hub.ts';
import { builtPetiole } from './built-binary.ts';
import { startGateway } from './gateway.ts';
import { listenAt } from './hub-ear.ts';
import type { HubEar } from './hub-ear.ts';
import { ReadingSite } from './reading-site.ts';

const KILLS = 5;
/** The link is cut in one of so many rounds, the first among them. */
const CUT_EVERY = 2;
/** A window of a publisher begins no sooner than this after the one before. */
const INTERVAL_MS = 25;
/** Readings of each publisher acknowledged in a span, and while the link is cut. */
const SPAN_READINGS = 300;
const HEARD_MS = 10_000;

describeWithHub('a gateway with a link', () => {
  it('loses nothing, repeats nothing and tells its hub, through kills and cuts', async () => {
    const hub = await startHub();
    const proxy = await startFaultProxy(hub.leafAddress);
    const { host, port } = proxy.address;
    // The hub tells of its own address, which would lead around the proxy.
    const remote = `{ url: "nats://${host}:${port}", ignore_discovered_servers: true }`;
    const config = `leafnodes { remotes [ ${remote} ] }`;
    const gateway = await startGateway({ target: builtPetiole(), config });
    const ear = await listenAt(hub);
    const site = new ReadingSite(gateway, INTERVAL_MS);
    await site.start();

    for (let round = 0; round < KILLS; round++) {
      await spanWithLink(site, ear);
      if (round % CUT_EVERY === 0) {
        await cutAndRestore(proxy, site);
        await spanWithLink(site, ear);
      }
      await site.kill();
    }
    await spanWithLink(site, ear);

    await site.expectNothingLost();
    expect(site.kills).toBe(KILLS);
    expect(ear.disorder).toEqual([]);
    console.info(site.summary);
  });
});

/** While the link stands, publishes for a while; the hub must hear all of it. */
async function spanWithLink(site: ReadingSite, ear: HubEar): Promise<void> {
  await ear.linkedTo(site.gateway);
  const begun = site.publishers.map((publisher) => ({ publisher, first: publisher.published }));
  await site.progress(SPAN_READINGS);
  for (const { publisher, first } of begun) {
    const acknowledged = publisher.acknowledgedFrom(first);
    expect(acknowledged.length).toBeGreaterThan(0);
    // A failure names the readings.
    await vi.waitFor(() => expect(ear.missing(publisher.name, acknowledged)).toEqual([]), HEARD_MS);
  }
}

/** Resets the link and refuses it for as long as some readings take; then it may come back. */
async function cutAndRestore(proxy: FaultProxy, site: ReadingSite): Promise<void> {
  proxy.refuse(true);
  proxy.reset();
  await site.progress(SPAN_READINGS);
  expect(proxy.connections).toBe(0);
  proxy.refuse(false);
}
