/** What each side of a leaf link knows of the other side's interest, with a real hub. */
/* oxlint-disable vitest/expect-expect -- wire clients and the hub's monitoring assert, too */
import { expect, it } from 'vitest';
import { startLeafPetiole } from '../helpers/leaf-petiole.ts';
import { describeWithHub, startHub } from '../helpers/real-hub.ts';
import { until } from '../helpers/until.ts';

describeWithHub('interest over a leaf link', () => {
  it('reaches the hub: what was subscribed before the link and what comes and goes later', async () => {
    const hub = await startHub();
    const edge = await startLeafPetiole({ urls: [hub.url()] });
    const client = await edge.client();
    client.send('SUB before.* 1\r\nSUB shared 2\r\nSUB shared 3\r\n');
    await hub.awaitInterest(edge.name, ['before.*', 'shared']);
    client.send('SUB later.> 4\r\nUNSUB 1\r\nUNSUB 2\r\n');
    await hub.awaitInterest(edge.name, ['later.>', 'shared']);
    client.send('UNSUB 3\r\n');
    await hub.awaitInterest(edge.name, ['later.>']);
    await client.close();
    await hub.awaitInterest(edge.name, []);
  });

  it('is told once per subject, and per queue group with its weight at each change', async () => {
    const hub = await startHub();
    const edge = await startLeafPetiole({ urls: [hub.url()] });
    await edge.link();
    const client = await edge.client();
    client.send(
      'SUB a 1\r\nSUB a 2\r\nSUB a q 3\r\nSUB a q 4\r\nSUB a r 5\r\nUNSUB 4\r\nUNSUB 1\r\nUNSUB 3\r\nUNSUB 2\r\n',
    );
    await hub.awaitInterest(edge.name, ['a']);
    const told = [...hub.log.matchAll(/<<- \[(LS[+-] a[^\]]*)\]/g)].map((match) => match[1]);
    expect(told).toEqual(['LS+ a', 'LS+ a q 1', 'LS+ a q 2', 'LS+ a r 1', 'LS+ a q 1', 'LS- a q', 'LS- a']);
  });

  it('reaches the leaf, and decides there whether a request has responders', async () => {
    const hub = await startHub();
    const edge = await startLeafPetiole({ urls: [hub.url()] });
    const link = await edge.link();
    const asking = await edge.client({ headers: true, no_responders: true });
    asking.send('SUB inbox 1\r\nPUB up.1 inbox 0\r\n\r\n');
    await asking.expect('HMSG inbox 1 36 36\r\nNATS/1.0 503\r\nNats-Subject: up.1\r\n\r\n\r\n');
    const serving = await hub.client();
    const before = link.peerInterestSize;
    serving.send('SUB up.* 1\r\n');
    await until(() => link.peerInterestSize === before + 1, 'the interest of the hub');
    asking.send('PUB up.1 inbox 0\r\n\r\n');
    await serving.expect('MSG up.1 1 inbox 0\r\n\r\n');
    serving.send('PUB inbox 2\r\nok\r\n');
    await asking.expect('MSG inbox 1 2\r\nok\r\n');
    serving.send('UNSUB 1\r\n');
    await until(() => link.peerInterestSize === before, 'the interest of the hub to end');
    asking.send('PUB up.1 inbox 0\r\n\r\n');
    await asking.expect('HMSG inbox 1 36 36\r\nNATS/1.0 503\r\nNats-Subject: up.1\r\n\r\n\r\n');
  });

  it('tells a request on the hub that there are no responders once the leaf has none', async () => {
    const hub = await startHub();
    const edge = await startLeafPetiole({ urls: [hub.url()] });
    const serving = await edge.client();
    serving.send('SUB service workers 1\r\n');
    await hub.awaitInterest(edge.name, ['service']);
    const asking = await hub.client({ headers: true, no_responders: true });
    asking.send('SUB inbox 1\r\nPUB service inbox 1\r\n?\r\n');
    await serving.expect('MSG service 1 inbox 1\r\n?\r\n');
    serving.send('PUB inbox 1\r\n!\r\n');
    await asking.expect('MSG inbox 1 1\r\n!\r\n');
    serving.send('UNSUB 1\r\n');
    await hub.awaitInterest(edge.name, []);
    asking.send('PUB service inbox 1\r\n?\r\n');
    await asking.expect('HMSG inbox 1 39 39\r\nNATS/1.0 503\r\nNats-Subject: service\r\n\r\n\r\n');
  });

  it('is not told of denied imports, nor of JetStream subjects', async () => {
    const hub = await startHub();
    const edge = await startLeafPetiole({ urls: [hub.url()], remote: { denyImports: ['secret.>', 'exact'] } });
    const client = await edge.client();
    client.send(
      ['secret.>', 'secret.a', 'exact', 'exactly', '$JS.API.>', '$JS.API.INFO', '$KV.b.k', '$OBJ.>', '>', '$JS.other.>']
        .map((subject, sid) => `SUB ${subject} ${sid}\r\n`)
        .join(''),
    );
    await hub.awaitInterest(edge.name, ['$JS.other.>', '>', 'exactly']);
  });

  it('carries twelve thousand subjects whole, and again after a cut', async () => {
    const hub = await startHub();
    const edge = await startLeafPetiole({ urls: [hub.url()] });
    const client = await edge.client();
    const subjects = Array.from({ length: 12_345 }, (_, i) => `device.${i}.commands`);
    client.send(subjects.map((subject, i) => `SUB ${subject} ${i}\r\n`).join(''));
    await hub.awaitInterest(edge.name, subjects, 20_000);
    edge.leafNodes.links()[0]?.abort('Read Error');
    client.send('UNSUB 0\r\nSUB late 1000000\r\n');
    await hub.awaitInterest(edge.name, [...subjects.slice(1), 'late'], 20_000);
  });

  it('divides messages from the hub among leaves by the weights of their queue groups', async () => {
    const hub = await startHub();
    const heavy = await startLeafPetiole({ urls: [hub.url()] });
    const light = await startLeafPetiole({ urls: [hub.url()] });
    const heavyClient = await heavy.client();
    const lightClient = await light.client();
    heavyClient.send('SUB work q 1\r\nSUB work q 2\r\nSUB work q 3\r\n');
    lightClient.send('SUB work q 1\r\n');
    await hub.awaitInterest(heavy.name, ['work']);
    await hub.awaitInterest(light.name, ['work']);
    await until(() => hub.log.includes('LS+ work q 3]'), 'the weight');
    const publisher = await hub.client();
    publisher.send('PUB work 0\r\n\r\n'.repeat(1000));
    await publisher.quiet();
    const shares = (): number[] =>
      [heavyClient, lightClient].map((client) => client.unread.toString().split('MSG work').length - 1);
    await until(() => shares().reduce((sum, share) => sum + share, 0) === 1000, 'all messages once');
    expect(shares()[0]).toBeGreaterThan(650);
    expect(shares()[0]).toBeLessThan(850);
  });
});
