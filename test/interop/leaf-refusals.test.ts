/** What a real hub refuses or restricts, and how the link behaves then. */
/* oxlint-disable vitest/expect-expect -- wire clients and the hub's monitoring assert, too */
import { expect, it } from 'vitest';
import { startFaultProxy } from '../helpers/fault-proxy.ts';
import { remoteOptions, startLeafPetiole } from '../helpers/leaf-petiole.ts';
import { describeWithHub, startHub } from '../helpers/real-hub.ts';
import { until } from '../helpers/until.ts';

describeWithHub('a leaf link that the hub refuses or restricts', () => {
  it('goes on asking with a wrong password, ever less often, and without telling it to the log', async () => {
    const hub = await startHub({ leafnodes: 'authorization { user: edge, password: right }' });
    const proxy = await startFaultProxy(hub.leafAddress);
    const edge = await startLeafPetiole({
      urls: [`nats://edge:wr0ng-secret@127.0.0.1:${proxy.address.port}`],
      remote: { followsDiscoveredServers: false },
    });
    await until(() => proxy.accepted >= 6, 'six attempts');
    expect(edge.logged("lid:1000 - Leafnode Error 'Authorization Violation'")).toBe(true);
    expect(edge.logged('Leafnode connection closed: Client Closed - Remote: ')).toBe(true);
    expect(edge.leafNodes.links()).toEqual([]);
    expect(edge.log.join('\n')).not.toContain('wr0ng-secret');
    const gaps = proxy.acceptedMs.slice(1).map((ms, i) => ms - (proxy.acceptedMs[i] as number));
    // At least half of 50 ms at first, of 200 ms then.
    expect(gaps[0]).toBeGreaterThan(20);
    expect(gaps[4]).toBeGreaterThan(95);
  });

  it('opens with the right password, and with a user name alone as a token', async () => {
    const hub = await startHub({ leafnodes: 'authorization { user: edge, password: "p@ss w:rd" }' });
    const edge = await startLeafPetiole({ urls: [hub.url('edge:p%40ss%20w%3Ard')] });
    await edge.link();
    const tokenHub = await startHub({ config: 'authorization { token: sesame }' });
    const other = await startLeafPetiole({ urls: [tokenHub.url('sesame')] });
    await other.link();
    expect(other.leafNodes.linkSnapshots()[0]?.remoteAccount).toBe('$G');
    const user = 'accounts { TENANT { users [ { user: edge, password: p } ] } }';
    const tenantHub = await startHub({ config: user });
    const tenant = await startLeafPetiole({ urls: [tenantHub.url('edge:p')] });
    await tenant.link();
    expect(tenant.leafNodes.linkSnapshots()[0]).toMatchObject({ account: '$G', remoteAccount: 'TENANT' });
  });

  it('logs in at an address that the hub told with the configured user', async () => {
    const hub = await startHub({ leafnodes: 'authorization { user: edge, password: right }' });
    const proxy = await startFaultProxy(hub.leafAddress);
    const edge = await startLeafPetiole({ urls: [`nats://edge:right@127.0.0.1:${proxy.address.port}`] });
    await edge.link();
    proxy.reset();
    await until(() => edge.leafNodes.linkSnapshots()[0]?.port === hub.leafAddress.port, 'the address told');
  });

  it.each(['client', 'route'] as const)('notices that it has reached a %s port', async (kind) => {
    const hub = await startHub({ config: 'cluster { listen: "127.0.0.1:-1", name: C }' });
    const { port } = await hub.server.listening(kind);
    const edge = await startLeafPetiole({ urls: [`nats://127.0.0.1:${port}`] });
    await until(() => edge.logged('attempted to connect to wrong port'), 'the log');
    expect(edge.logged('Leafnode connection closed: Incorrect Port')).toBe(true);
    await until(() => edge.log.filter((line) => line.includes('wrong port')).length > 1, 'another attempt');
  });

  it('waits 30 s when it has found its own interest coming back', async () => {
    const hub = await startHub();
    const edge = await startLeafPetiole({ urls: [hub.url()] });
    const link = await edge.link();
    const up = await hub.client();
    await hub.awaitInterest(edge.name, []);
    up.send(`SUB ${link.loopSubject} 1\r\n`);
    const text = 'Loop detected for leafnode account="$G". Delaying attempt to reconnect for 30s';
    await until(() => edge.logged(text), 'the loop to be noticed');
    await until(() => hub.log.includes(`Leafnode Error '${text}'`), 'the hub to be told');
    expect(edge.logged('Leafnode connection closed: Protocol Violation')).toBe(true);
    expect(edge.leafNodes.remoteSnapshots()[0]).toMatchObject({ state: 'waiting', opens: 1 });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(edge.leafNodes.remoteSnapshots()[0]).toMatchObject({ state: 'waiting', opens: 1 });
  });

  it('is closed by a hub that sees the loop first, and waits', async () => {
    // hub A ◄── B (leaf of A); the site is a leaf of both, under one account.
    const a = await startHub();
    const b = await startHub({ leafnodes: `remotes [ { url: "${a.url()}" } ]` });
    await until(async () => (await a.links()).length === 1, 'the hubs to be linked');
    const edge = await startLeafPetiole({
      urls: [a.url()],
      leafnodes: { remotes: [remoteOptions([a.url()]), remoteOptions([b.url()])] },
    });
    await until(() => edge.logged('Loop detected'), 'the loop');
    await until(() => edge.leafNodes.remoteSnapshots().some(({ state }) => state === 'waiting'), 'a leg to be cut');
  });

  it('waits 30 s when the hub has the same cluster name', async () => {
    const hub = await startHub({ config: 'cluster { name: TWIN, listen: "127.0.0.1:-1" }' });
    const edge = await startLeafPetiole({ urls: [hub.url()], site: { clusterName: 'TWIN' } });
    const text = 'Leafnode connection dropped with same cluster name error. Delaying attempt to reconnect for 30s';
    await until(() => edge.logged(text), 'the log');
    await until(() => edge.leafNodes.remoteSnapshots()[0]?.state === 'waiting', 'the link to be closed');
    expect(edge.logged("Leafnode Error 'remote leafnode has same cluster name'")).toBe(true);
  });

  it('waits 5 s when the hub wants a newer version', async () => {
    const hub = await startHub({ leafnodes: 'min_version: 2.99.0' });
    const edge = await startLeafPetiole({ urls: [hub.url()] });
    const text = 'Leafnode connection dropped due to minimum version requirement. Delaying attempt to reconnect for 5s';
    await until(() => edge.logged(text), 'the log');
    await until(() => edge.leafNodes.remoteSnapshots()[0]?.state === 'waiting', 'the link to be closed');
  });

  it('keeps to the permissions of its user at the hub', async () => {
    const user = `{ user: edge, password: p, permissions {
      publish { allow: ["up.>", "both"], deny: "up.no" }, subscribe { allow: ["down.>", "both"], deny: "down.no" } } }`;
    const hub = await startHub({ config: `authorization { users [ ${user}, { user: all, password: p } ] }` });
    const edge = await startLeafPetiole({ urls: [hub.url('edge:p')] });
    const link = await edge.link();
    const down = await edge.client();
    const up = await hub.client({ user: 'all', pass: 'p' });
    down.send('SUB down.* 1\r\nSUB > 2\r\nSUB other 3\r\nSUB down.no 4\r\nSUB both 5\r\n');
    await hub.awaitInterest(edge.name, ['>', 'both', 'down.*']);
    up.send('SUB up.* 1\r\nSUB both 2\r\nSUB secret 3\r\nSUB last 4\r\nSUB up.> 5\r\n');
    await until(() => [...link.peerSubscriptions()].some(({ subject }) => subject === 'up.>'), 'the interest');
    expect([...link.peerSubscriptions()].map(({ subject }) => subject)).not.toContain('secret');
    up.send('PUB down.no 1\r\nx\r\nPUB other 1\r\nx\r\nPUB down.yes 1\r\ny\r\n');
    await until(() => down.unread.toString().split('MSG down.yes').length === 3, 'what is allowed');
    expect(down.unread.toString()).not.toMatch(/MSG (?:down\.no|other)/);
    await down.close();
    const publisher = await edge.client();
    publisher.send('PUB up.no 1\r\nx\r\nPUB secret 1\r\nx\r\nPUB up.yes 1\r\ny\r\n');
    await until(() => up.unread.toString().split('MSG up.yes').length === 3, 'what is allowed');
    expect(up.unread.toString()).not.toMatch(/MSG (?:up\.no|secret)/);
    expect(edge.leafNodes.remoteSnapshots()[0]?.opens).toBe(1);
  });
});
