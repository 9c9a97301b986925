/** A leaf link in /connz and /varz, as nats-server shows one of its own to the same hub. */
import { afterAll, expect, it } from 'vitest';
import { TestAuthority } from '../helpers/certificates.ts';
import { describeWithHub, startHub } from '../helpers/real-hub.ts';
import { isAbsent, natsServer, petiole, startServer, type Target } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';
import { type Json, observe, type Observed, settled } from './monitor-scenario.ts';

const authority = new TestAuthority(temporaryDirectory(afterAll));
const certificate = authority.issueServer();

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

describeWithHub('a hub', () => {
  it('shows its listener and the link of a leaf as nats-server does', async () => {
    const told = [];
    for (const target of [natsServer(), petiole()]) {
      if (isAbsent(target)) throw new Error(target.absent);
      told.push(await toldByHub(target));
    }
    const [theirs, ours] = told;
    expect(ours).toEqual(theirs);
    expect(ours).toMatchObject({ leafnodes: 1, ofAccount: { leafnodes: 1, total_conns: 1 }, detail: 1 });
  });
});

/** What a hub with TLS says of the one leaf that links to it, which is always the same. */
async function toldByHub(target: Target): Promise<object> {
  const tls = `tls { cert_file: "${certificate.certFile}", key_file: "${certificate.keyFile}", timeout: 3 }`;
  const listener = `listen: "127.0.0.1:-1", compression: off, isolate_leafnode_interest: true`;
  const login = 'authorization { user: u, password: p, account: A, timeout: 5 }';
  const config = `http: "127.0.0.1:-1", server_name: hub, accounts { A {}, B {} }
    leafnodes { ${listener}\n${tls}\n${login} }`;
  const hub = await observe(target, { config });
  const { host, port } = await hub.server.listening('leafnode');
  const remote = `url: "tls://u:p@${host}:${port}", tls { ca_file: "${authority.file}" }`;
  const real = natsServer();
  if (isAbsent(real)) throw new Error(real.absent);
  const leaf = await startServer(real, { config: `server_name: leaf, leafnodes { remotes: [ { ${remote} } ] }` });
  try {
    await until(() => isLinked(hub), 'the link');
    const { leaf: configured, leafnodes } = await hub.json('/varz');
    const pages = await leafPages(hub);
    const rows = (await hub.json('/accstatz'))['account_statz'] as Json[];
    const [ofAccount] = rows.map(({ acc, conns, leafnodes: links, total_conns }) => {
      return { acc, conns, leafnodes: links, total_conns };
    });
    const detail = ((await hub.json('/accountz?acc=A'))['account_detail'] as Json)['leafnode_connections'];
    const connz = settled((await hub.page('/connz?auth=1')).text).replaceAll(OWN, '');
    const { port: shown, ...others } = configured as Json;
    expect(shown).toBe(port);
    return { leafnodes, others, pages, accounts: rows.length, ofAccount, detail, connz };
  } finally {
    await leaf.stop();
    await hub.stop();
  }
}

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
  const list = (link?.['subscriptions_list'] ?? []) as string[];
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
