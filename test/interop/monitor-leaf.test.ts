/** A leaf link in /connz and /varz, as nats-server shows one of its own to the same hub. */
import { expect, it } from 'vitest';
import { describeWithHub, startHub } from '../helpers/real-hub.ts';
import { isAbsent, natsServer, petiole } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import { type Json, observe, type Observed, settled } from './monitor-scenario.ts';

describeWithHub('a leaf link in monitoring', () => {
  it('is a connection like others, open and closed', async () => {
    const hub = await startHub();
    const observed: Observed[] = [];
    for (const target of [natsServer(), petiole()]) {
      if (isAbsent(target)) throw new Error(target.absent);
      const remote = `remotes: [ { url: "${hub.url()}" } ]`;
      const config = `http: "127.0.0.1:-1", server_name: ${target.name}, leafnodes { ${remote} }`;
      observed.push(await observe(target, { config }));
    }
    try {
      for (const each of observed) await until(() => isLinked(each), 'the link');
      const [theirs, ours] = await Promise.all(observed.map((each) => told(each)));
      expect(ours).toEqual(theirs);
      await hub.server.stop();
      for (const each of observed) await until(async () => (await rows(each, 'closed')).length > 0, 'the link to end');
      const [theirsClosed, oursClosed] = await Promise.all(observed.map((each) => closedRow(each)));
      expect(oursClosed).toEqual(theirsClosed);
      expect(oursClosed).toContain('"reason": "Client Closed"');
    } finally {
      await Promise.all(observed.map((each) => each.stop()));
    }
  });
});

describeWithHub('/leafz', () => {
  it('shows a link as nats-server does, and what its other end wants', async () => {
    const hub = await startHub({ leafnodes: 'compression: off' });
    const client = await hub.client();
    client.send('SUB wanted.at.the.hub 1\r\nSUB wanted.by.a.group q 2\r\nPING\r\n');
    await client.expect('PONG\r\n');
    const pages = [];
    for (const target of [natsServer(), petiole()]) {
      if (isAbsent(target)) throw new Error(target.absent);
      const config = `http: "127.0.0.1:-1", leafnodes { remotes: [ { url: "${hub.url()}" } ] }`;
      const observed = await observe(target, { config });
      try {
        await until(async () => (await observed.page('/leafz?subs=1')).text.includes('wanted.by.a.group'), 'interest');
        pages.push(await leafPages(observed));
      } finally {
        await observed.stop();
      }
    }
    await client.close();
    await hub.server.stop();
    const [theirs, ours] = pages;
    expect(ours).toEqual(theirs);
    expect(ours?.wanted).toEqual(['wanted.at.the.hub', 'wanted.by.a.group']);
  });
});

interface LeafPages {
  readonly pages: readonly string[];
  readonly wanted: readonly string[];
}

async function leafPages(observed: Observed): Promise<LeafPages> {
  const paths = ['/leafz', '/leafz?acc=$G&subs=1', '/leafz?acc=NONE&subs=1'];
  const pages = [];
  for (const path of paths) {
    const { text } = await observed.page(path);
    const withoutLists = text.replaceAll(/^ *"subscriptions_list": \[\n.*?\],\n/gms, '"subscriptions_list",\n');
    pages.push(
      settled(withoutLists)
        .replaceAll(OWN, '')
        .replaceAll(/"id": \d+/g, '"id"'),
    );
  }
  const [link] = (await observed.json('/leafz?subs=1'))['leafs'] as Json[];
  const list = link?.['subscriptions_list'] as string[];
  expect(link?.['subscriptions']).toBe(list.length);
  return { pages, wanted: list.filter((subject) => subject.startsWith('wanted')).sort() };
}

async function isLinked(observed: Observed): Promise<boolean> {
  return (await observed.json('/varz'))['leafnodes'] === 1;
}

async function rows(observed: Observed, state: string): Promise<Json[]> {
  return (await observed.json(`/connz?state=${state}`))['connections'] as Json[];
}

/** What the two servers want to hear of each other is not the same, nor how much they have told each other. */
const OWN = /^ *"(subscriptions|in_msgs|in_bytes|out_msgs|out_bytes)": \d+,?\n/gm;

async function told(observed: Observed): Promise<string> {
  const { text } = await observed.page('/connz?auth=1&sort=subs');
  const { leaf } = await observed.json('/varz');
  return settled(text).replaceAll(OWN, '') + JSON.stringify(leaf);
}

async function closedRow(observed: Observed): Promise<string> {
  const [row] = await rows(observed, 'closed');
  return settled(JSON.stringify({ connections: [row] }, null, 2)).replaceAll(OWN, '');
}
