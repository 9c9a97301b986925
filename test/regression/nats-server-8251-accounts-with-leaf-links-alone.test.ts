/** nats-server#8251: an account that nobody but a leaf was connected to was missing in the statistics of accounts. */
import { expect, test } from 'vitest';
import { describeTargets, page, serve } from '../helpers/describe-targets.ts';
import { until } from '../helpers/until.ts';

interface Accstatz {
  readonly account_statz: readonly { readonly acc: string; readonly leafnodes: number; readonly conns: number }[];
}

const HUB = `
  server_name: hub
  http: "127.0.0.1:-1"
  accounts { X { users: [ { user: x, password: secret } ] }, Y { users: [ { user: y, password: secret } ] } }
  leafnodes { listen: "127.0.0.1:-1" }
`;

describeTargets('an account with a leaf link alone', (target) => {
  test('is among those that /accstatz shows', async () => {
    const hub = await serve(target, HUB);
    const { host, port } = await hub.listening('leafnode');
    await serve(target, `server_name: edge\nleafnodes { remotes: [ { url: "nats://x:secret@${host}:${port}" } ] }`);
    const shown = await until(async () => {
      const { account_statz: all } = (await page(hub, '/accstatz')).body as Accstatz;
      return all.find(({ acc, leafnodes }) => acc === 'X' && leafnodes === 1);
    }, 'the account');
    expect(shown.conns).toBe(0);
    const { account_statz: all } = (await page(hub, '/accstatz')).body as Accstatz;
    expect(all.some(({ acc }) => acc === 'Y')).toBe(false);
  });
});
