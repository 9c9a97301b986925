/**
 * A site with a link to its hub for each of two accounts, of which one imports a stream of the other, at both ends: what the
 * hub wants to hear in one account is not told back to it in the other, or all that it publishes would come to it twice.
 */
import { expect, test } from 'vitest';
import { describePairs, page, serve } from '../helpers/describe-targets.ts';
import { natsClientOf } from '../helpers/linked-pair.ts';
import type { RunningServer } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';

const ACCOUNTS = `
  http: "127.0.0.1:-1"
  accounts {
    ORIGIN { users: [ { user: o, password: p } ], exports: [ { stream: "data.>" } ] }
    APP { users: [ { user: a, password: p } ], imports: [ { stream: { account: ORIGIN, subject: "data.>" } } ] }
  }`;
const LISTEN = 'listen: "127.0.0.1:-1", no_advertise: true';

interface Leafz {
  readonly leafs: readonly { readonly account: string; readonly subscriptions_list?: readonly string[] }[] | null;
}

/** What the server knows to be wanted behind its links, of the stream. */
async function wantedAt(server: RunningServer): Promise<string[]> {
  const { leafs } = (await page(server, '/leafz?subs=1')).body as Leafz;
  const all = (leafs ?? []).flatMap(({ account, subscriptions_list: list = [] }) =>
    list.map((subject) => `${account} ${subject}`),
  );
  return all.filter((line) => line.includes('data.')).toSorted();
}

describePairs('links of two accounts that share a stream', (siteTarget, hubTarget) => {
  test('do not bring the hub its own interest back', async () => {
    const hub = await serve(hubTarget, `server_name: hub\n${ACCOUNTS}\nleafnodes { ${LISTEN} }`);
    const { port } = await hub.listening('leafnode');
    const remotes = ['o:ORIGIN', 'a:APP'].map((each) => {
      const [user, account] = each.split(':');
      return `{ url: "nats://${user}:p@127.0.0.1:${port}", account: ${account} }`;
    });
    const site = await serve(
      siteTarget,
      `server_name: site\n${ACCOUNTS}\nleafnodes { ${LISTEN}, remotes: [ ${remotes.join(', ')} ] }`,
    );
    const app = await natsClientOf(hub, { user: 'a', pass: 'p' });
    const heard: string[] = [];
    app.subscribe('data.x', { callback: (_, message) => void heard.push(message.string()) });
    await until(async () => (await wantedAt(site)).length === 2, 'the site to know it by both links');
    expect(await wantedAt(site)).toEqual(['APP data.x', 'ORIGIN data.x']);
    expect(await wantedAt(hub)).toEqual([]);
    const origin = await natsClientOf(hub, { user: 'o', pass: 'p' });
    const below = await natsClientOf(site, { user: 'o', pass: 'p' });
    origin.publish('data.x', 'once');
    await origin.flush();
    // This comes by both links, the way that a second copy would take.
    below.publish('data.x', 'from below');
    await until(() => heard.filter((text) => text === 'from below').length === 2, 'both messages from below');
    expect(heard).toEqual(['once', 'from below', 'from below']);
  });
});
