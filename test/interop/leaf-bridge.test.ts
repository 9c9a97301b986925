/** A site between two real servers: a leaf of the one, and the hub of the other although it dials. */
/* oxlint-disable vitest/expect-expect -- wire clients and the hubs' monitoring assert, too */
import { expect, it } from 'vitest';
import { remoteOptions, startLeafPetiole } from '../helpers/leaf-petiole.ts';
import type { LeafPetiole } from '../helpers/leaf-petiole.ts';
import { describeWithHub, startHub } from '../helpers/real-hub.ts';
import type { RealHub } from '../helpers/real-hub.ts';
import { until } from '../helpers/until.ts';

interface Chain {
  readonly top: RealHub;
  readonly middle: LeafPetiole;
  readonly bottom: RealHub;
}

async function startChain(): Promise<Chain> {
  const top = await startHub({ config: 'server_name: top' });
  const bottom = await startHub({ config: 'server_name: bottom' });
  const remotes = [remoteOptions([top.url()]), remoteOptions([bottom.url()], { isHub: true })];
  const middle = await startLeafPetiole({ urls: [], leafnodes: { remotes } });
  await until(() => middle.leafNodes.links().length === 2, 'both links');
  return { top, middle, bottom };
}

/** How often the subject is known to the middle over either link. */
function known(middle: LeafPetiole, subject: string): number {
  const all = middle.leafNodes.links().flatMap((link) => [...link.peerSubscriptions()]);
  return all.filter((each) => each.subject === subject).length;
}

describeWithHub('a site between two servers', () => {
  it('carries interest and messages through, both ways and once', async () => {
    const { top, middle, bottom } = await startChain();
    const above = await top.client();
    const below = await bottom.client();
    const between = await middle.client();
    below.send('SUB down 1\r\nSUB down q 2\r\n');
    await until(
      async () => (await top.interestOf(middle.name))?.filter((each) => each === 'down').length === 2,
      'down',
    );
    above.send('PUB down r 1\r\nx\r\n');
    await until(() => below.unread.toString() === 'MSG down 1 r 1\r\nx\r\nMSG down 2 r 1\r\nx\r\n', 'both copies');
    above.send('SUB up 1\r\n');
    await until(() => known(middle, 'up') === 1, 'up in the middle');
    between.send('SUB up 1\r\n');
    await until(async () => (await bottom.interestOf(middle.name))?.includes('up'), 'up at the bottom');
    below.send('PUB up 1\r\ny\r\n');
    await above.expect('MSG up 1 1\r\ny\r\n');
    await between.expect('MSG up 1 1\r\ny\r\n');
    await above.quiet();
    await between.quiet();
    // Gone above, wanted in the middle still; then gone there too.
    above.send('UNSUB 1\r\n');
    await until(() => known(middle, 'up') === 0, 'up to be gone above');
    expect(await bottom.interestOf(middle.name)).toContain('up');
    between.send('UNSUB 1\r\n');
    await until(async () => !(await bottom.interestOf(middle.name))?.includes('up'), 'up to be gone below');
  });

  it('answers requests across the whole chain', async () => {
    const { top, middle, bottom } = await startChain();
    const asking = await bottom.client({ headers: true, no_responders: true });
    const serving = await top.client();
    serving.send('SUB service q 1\r\n');
    asking.send('SUB inbox 1\r\n');
    await until(async () => (await bottom.interestOf(middle.name))?.includes('service'), 'the service below');
    await until(async () => (await top.interestOf(middle.name))?.includes('inbox'), 'the inbox above');
    for (let i = 0; i < 10; i++) {
      asking.send('PUB service inbox 1\r\n?\r\n');
      await serving.expect('MSG service 1 inbox 1\r\n?\r\n');
      serving.send('PUB inbox 1\r\n!\r\n');
      await asking.expect('MSG inbox 1 1\r\n!\r\n');
    }
    serving.send('UNSUB 1\r\n');
    await until(async () => !(await bottom.interestOf(middle.name))?.includes('service'), 'the service to be gone');
    asking.send('PUB service inbox 0\r\n\r\n');
    await asking.expect('HMSG inbox 1 39 39\r\nNATS/1.0 503\r\nNats-Subject: service\r\n\r\n\r\n');
  });

  it('passes interest on again when one side has been away', async () => {
    const { top, middle, bottom } = await startChain();
    const below = await bottom.client();
    below.send('SUB down 1\r\n');
    await until(async () => (await top.interestOf(middle.name))?.includes('down'), 'down');
    await bottom.stop();
    await until(async () => !(await top.interestOf(middle.name))?.includes('down'), 'down to be gone');
    await bottom.startAgain();
    const again = await bottom.client();
    again.send('SUB down 1\r\n');
    await until(async () => (await top.interestOf(middle.name))?.includes('down'), 'down again', 10_000);
    await top.stop();
    await top.startAgain();
    await until(async () => (await top.interestOf(middle.name))?.includes('down'), 'down once more', 10_000);
    const above = await top.client();
    above.send('PUB down 1\r\nx\r\n');
    await again.expect('MSG down 1 1\r\nx\r\n');
  });
});
