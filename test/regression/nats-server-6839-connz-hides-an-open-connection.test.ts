/** nats-server#6839: /connz asked for one connection in any state did not show it while it was open. */
import { expect, test } from 'vitest';
import { describeTargets, page, serve } from '../helpers/describe-targets.ts';
import { until } from '../helpers/until.ts';
import { dial } from '../helpers/wire-client.ts';

interface Connz {
  readonly num_connections: number;
  readonly connections: readonly { readonly cid: number; readonly reason?: string }[];
}

describeTargets('/connz of one connection', (target) => {
  test('shows it while it is open and when it is closed', async () => {
    const server = await serve(target, 'http: "127.0.0.1:-1"');
    const client = await dial(server.address());
    const { client_id: cid } = JSON.parse((await client.line()).replace('INFO ', '')) as { client_id: number };
    client.send('CONNECT {"verbose":false}\r\nPING\r\n');
    await client.expect('PONG\r\n');
    const asked = async (query: string): Promise<Connz> => (await page(server, `/connz?${query}`)).body as Connz;
    for (const state of ['open', 'all']) {
      expect(await asked(`cid=${cid}&state=${state}`)).toMatchObject({ num_connections: 1, connections: [{ cid }] });
    }
    expect((await asked(`cid=${cid}`)).connections).toMatchObject([{ cid }]);
    expect((await asked(`cid=${cid}&state=closed`)).connections).toEqual([]);
    await client.close();
    await until(async () => (await asked(`cid=${cid}&state=closed`)).connections.length > 0, 'it to be closed');
    for (const state of ['closed', 'all']) {
      expect((await asked(`cid=${cid}&state=${state}`)).connections).toMatchObject([{ cid, reason: 'Client Closed' }]);
    }
    expect((await asked(`cid=${cid}&state=open`)).connections).toEqual([]);
  });
});
