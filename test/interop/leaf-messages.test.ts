/** Messages over a leaf link, with a real hub: every form both ways, each exactly once. */
/* oxlint-disable vitest/expect-expect -- the wire clients assert */
import { expect, it } from 'vitest';
import { compileMapping } from '../../server/account/mapping.ts';
import { Mappings } from '../../server/account/mappings.ts';
import type { Server } from '../../server/server.ts';
import { startLeafPetiole } from '../helpers/leaf-petiole.ts';
import type { LeafPetiole } from '../helpers/leaf-petiole.ts';
import { describeWithHub, startHub } from '../helpers/real-hub.ts';
import type { RealHub } from '../helpers/real-hub.ts';
import { until } from '../helpers/until.ts';
import type { WireClient } from '../helpers/wire-client.ts';

/** Subscribes at the hub and waits until the leaf knows. */
async function subscribeAtHub(edge: LeafPetiole, client: WireClient, lines: string): Promise<void> {
  const link = await edge.link();
  client.send(`SUB ready.${edge.name} ready\r\n${lines}`);
  await client.quiet();
  await until(
    () => [...link.peerSubscriptions()].some(({ subject }) => subject === `ready.${edge.name}`),
    'the interest of the hub',
  );
  // Interest is told in order, so what followed has a message behind it.
  const edgeClient = await edge.client();
  edgeClient.send(`PUB ready.${edge.name} 0\r\n\r\n`);
  await client.expect(`MSG ready.${edge.name} ready 0\r\n\r\n`);
  await edgeClient.quiet();
}

async function pair(
  hub: RealHub,
  options: object = {},
): Promise<{ edge: LeafPetiole; up: WireClient; down: WireClient }> {
  const edge = await startLeafPetiole({ urls: [hub.url()], ...options });
  await edge.link();
  return { edge, up: await hub.client({ headers: true }), down: await edge.client({ headers: true }) };
}

describeWithHub('messages over a leaf link', () => {
  it('go down with reply, headers and any payload', async () => {
    const hub = await startHub();
    const { edge, up, down } = await pair(hub);
    down.send('SUB down.> 1\r\n');
    await hub.awaitInterest(edge.name, ['down.>']);
    up.send(
      'PUB down.a 2\r\nhi\r\nPUB down.b re.ply 0\r\n\r\nHPUB down.c 22 25\r\nNATS/1.0\r\nKey: Val\r\n\r\nabc\r\n',
    );
    await down.expect('MSG down.a 1 2\r\nhi\r\nMSG down.b 1 re.ply 0\r\n\r\n');
    await down.expect('HMSG down.c 1 22 25\r\nNATS/1.0\r\nKey: Val\r\n\r\nabc\r\n');
    const large = 'x\r\n'.repeat(300_000);
    up.send(`PUB down.d r ${large.length}\r\n${large}\r\n`);
    await down.expect(`MSG down.d 1 r ${large.length}\r\n${large}\r\n`, 10_000);
  });

  it('go up with reply, headers and any payload', async () => {
    const hub = await startHub();
    const { edge, up, down } = await pair(hub);
    await subscribeAtHub(edge, up, 'SUB up.> 1\r\n');
    down.send('PUB up.a 2\r\nhi\r\nPUB up.b re.ply 0\r\n\r\nHPUB up.c 22 25\r\nNATS/1.0\r\nKey: Val\r\n\r\nabc\r\n');
    await up.expect('MSG up.a 1 2\r\nhi\r\nMSG up.b 1 re.ply 0\r\n\r\n');
    await up.expect('HMSG up.c 1 22 25\r\nNATS/1.0\r\nKey: Val\r\n\r\nabc\r\n');
    const large = 'x\r\n'.repeat(300_000);
    down.send(`PUB up.d r ${large.length}\r\n${large}\r\nPUB up.e 0\r\n\r\n`);
    await up.expect(`MSG up.d 1 r ${large.length}\r\n${large}\r\nMSG up.e 1 0\r\n\r\n`, 10_000);
  });

  it('cross once for plain subscriptions and several queue groups, both ways', async () => {
    const hub = await startHub();
    const { edge, up, down } = await pair(hub);
    const subscriptions = 'SUB x 1\r\nSUB x 2\r\nSUB x a 3\r\nSUB x a 4\r\nSUB x b 5\r\nSUB * c 6\r\n';
    const sidsOf = (client: WireClient): string[] =>
      [...client.unread.toString().matchAll(/MSG x (\d)/g)].map((match) => match[1] ?? '').toSorted();
    down.send(subscriptions);
    await hub.awaitInterest(edge.name, ['*', 'x', 'x', 'x']);
    up.send('PUB x 1\r\n1\r\n');
    await until(() => sidsOf(down).length === 5, 'five copies at the leaf');
    expect(sidsOf(down).join('')).toMatch(/^12[34]56$/);
    expect(hub.log).toMatch(/->> \[LMSG x \| (?:[abc] ){3}1\]/);
    await down.close();
    await hub.awaitInterest(edge.name, []);
    await subscribeAtHub(edge, up, subscriptions);
    const publisher = await edge.client();
    publisher.send('PUB x rep 1\r\n2\r\n');
    await until(() => sidsOf(up).length === 5, 'five copies at the hub');
    expect(sidsOf(up).join('')).toMatch(/^12[34]56$/);
    expect([...hub.log.matchAll(/<<- \[LMSG x \+ rep (?:[abc] ){3}1\]/g)]).toHaveLength(1);
  });

  it('go to a member of a queue group here before one behind the link', async () => {
    const hub = await startHub();
    const { edge, up, down } = await pair(hub);
    down.send('SUB work q 1\r\n');
    await hub.awaitInterest(edge.name, ['work']);
    await subscribeAtHub(edge, up, 'SUB work q 1\r\n');
    down.send('PUB work 1\r\nd\r\n'.repeat(20));
    await down.expect('MSG work 1 1\r\nd\r\n'.repeat(20));
    up.send('PUB work 1\r\nu\r\n'.repeat(20));
    await up.expect('MSG work 1 1\r\nu\r\n'.repeat(20));
    await down.quiet();
    await up.quiet();
  });

  it('never come back over the link they came from', async () => {
    const hub = await startHub();
    const { edge, up, down } = await pair(hub);
    down.send('SUB > 1\r\n');
    await hub.awaitInterest(edge.name, ['>']);
    await subscribeAtHub(edge, up, 'SUB echo 1\r\n');
    await down.expect(`MSG ready.${edge.name} 1 0\r\n\r\n`);
    up.send('PUB echo 1\r\nu\r\n');
    await up.expect('MSG echo 1 1\r\nu\r\n');
    await down.expect('MSG echo 1 1\r\nu\r\n');
    await up.quiet();
    const publisher = await edge.client();
    publisher.send('PUB echo 1\r\nd\r\n');
    await down.expect('MSG echo 1 1\r\nd\r\n');
    await up.expect('MSG echo 1 1\r\nd\r\n');
    await down.quiet();
  });

  it('carry requests and answers across two leaves of one hub', async () => {
    const hub = await startHub();
    const asking = await startLeafPetiole({ urls: [hub.url()] });
    const serving = await startLeafPetiole({ urls: [hub.url()] });
    const service = await serving.client();
    const client = await asking.client({ headers: true, no_responders: true });
    service.send('SUB service q 1\r\n');
    const link = await asking.link();
    await until(() => [...link.peerSubscriptions()].some(({ subject }) => subject === 'service'), 'the service');
    for (let i = 0; i < 20; i++) {
      client.send(`SUB inbox.${i} ${i}\r\nUNSUB ${i} 1\r\nPUB service inbox.${i} 1\r\n?\r\n`);
      await service.expect(`MSG service 1 inbox.${i} 1\r\n?\r\n`);
      service.send(`PUB inbox.${i} 1\r\n!\r\n`);
      await client.expect(`MSG inbox.${i} ${i} 1\r\n!\r\n`);
    }
    expect(link.toldInterest).toBe(1);
  });

  it('show the stored subject when JetStream delivers over the link, and acknowledgements find back', async () => {
    const hub = await startHub({ config: 'jetstream { store_dir: "./js", max_mem: 16M, max_file: 16M }' });
    const { edge, up, down } = await pair(hub);
    down.send('SUB deliver.here 1\r\n');
    await hub.awaitInterest(edge.name, ['deliver.here']);
    up.send('SUB reply 9\r\n');
    const request = async (subject: string, body: object): Promise<void> => {
      const json = JSON.stringify(body);
      up.send(`PUB ${subject} reply ${json.length}\r\n${json}\r\n`);
      expect(await up.line()).toMatch(/^MSG reply 9/);
      expect(await up.line()).not.toMatch(/"error"/);
    };
    await request('$JS.API.STREAM.CREATE.S', { name: 'S', subjects: ['orders.>'], storage: 'memory' });
    await request('$JS.API.CONSUMER.DURABLE.CREATE.S.C', {
      stream_name: 'S',
      config: { durable_name: 'C', deliver_subject: 'deliver.here', ack_policy: 'explicit' },
    });
    up.send('PUB orders.new 2\r\nhi\r\n');
    const line = await down.line();
    expect(line).toMatch(/^MSG orders\.new 1 \$JS\.ACK\.S\.C\.1\.1\.1\.\d+\.0 2$/);
    expect(await down.line()).toBe('hi');
    down.send(`PUB ${line.split(' ')[3]} 4\r\n+ACK\r\n`);
    await until(async () => {
      up.send('PUB $JS.API.CONSUMER.INFO.S.C reply 0\r\n\r\n');
      await up.line();
      return (JSON.parse(await up.line()) as { ack_floor: { stream_seq: number } }).ack_floor.stream_seq === 1;
    }, 'the acknowledgement to arrive');
  });

  it('lose their headers towards a hub that takes none', async () => {
    const hub = await startHub({ config: 'no_header_support: true' });
    const edge = await startLeafPetiole({ urls: [hub.url()] });
    await edge.link();
    const up = await hub.client();
    await subscribeAtHub(edge, up, 'SUB up 1\r\n');
    const down = await edge.client({ headers: true });
    down.send('HPUB up 22 25\r\nNATS/1.0\r\nKey: Val\r\n\r\nabc\r\n');
    await up.expect('MSG up 1 3\r\nabc\r\n');
  });

  it('are left out when the hub would not take their size, and the link stays', async () => {
    const hub = await startHub({ config: 'max_payload: 1000' });
    const { edge, up, down } = await pair(hub);
    await subscribeAtHub(edge, up, 'SUB up 1\r\n');
    const body = 'x'.repeat(1001);
    down.send(`PUB up 1001\r\n${body}\r\nPUB up 1000\r\n${body.slice(1)}\r\n`);
    await up.expect(`MSG up 1 1000\r\n${body.slice(1)}\r\n`);
    expect(edge.leafNodes.linkSnapshots()[0]?.droppedTooLarge).toBe(1);
    expect(edge.logged('Message of 1001 bytes not sent, the remote accepts 1000')).toBe(true);
    expect(edge.leafNodes.remoteSnapshots()[0]?.opens).toBe(1);
  });

  it('are mapped when they come in, whatever queue groups stand behind the mapping', async () => {
    const hub = await startHub();
    const { edge, up, down } = await pair(hub, { prepare: mapTheOldName });
    down.send('SUB new.* 1\r\nSUB new.* q 2\r\n');
    await hub.awaitInterest(edge.name, ['new.*', 'new.*', 'old.*']);
    up.send('PUB old.a 1\r\n1\r\n');
    await until(() => down.unread.toString().split('MSG new.a').length === 3, 'two copies');
    expect(down.unread.toString()).toContain('MSG new.a 2 1\r\n1\r\n');
  });

  // nats-server#2101: a denied subject got through to a wildcard.
  it('obey denied imports and exports, also under a wildcard', async () => {
    const hub = await startHub();
    const { edge, up, down } = await pair(hub, { remote: { denyImports: ['in.no'], denyExports: ['out.no'] } });
    down.send('SUB in.* 1\r\n');
    await hub.awaitInterest(edge.name, ['in.*']);
    await subscribeAtHub(edge, up, 'SUB out.* 1\r\nSUB in.no 2\r\n');
    up.send('PUB in.no 1\r\nx\r\nPUB in.yes 1\r\ny\r\n');
    await up.expect('MSG in.no 2 1\r\nx\r\n');
    await down.expect('MSG in.yes 1 1\r\ny\r\n');
    down.send('PUB out.no 1\r\nx\r\nPUB out.yes 1\r\ny\r\nPUB in.no 1\r\nz\r\n');
    await up.expect('MSG out.yes 1 1\r\ny\r\nMSG in.no 2 1\r\nz\r\n');
    await down.expect('MSG in.no 1 1\r\nz\r\n');
    await down.quiet();
  });
});

function mapTheOldName(server: Server): void {
  const mapping = compileMapping('old.*', [{ subject: 'new.$1', weight: 100 }]);
  if (mapping.error !== null) throw new Error(mapping.error.message);
  const mappings = new Mappings(server.io.random, () => '');
  mappings.set(mapping.value);
  server.globalAccount.mappings = mappings;
}
