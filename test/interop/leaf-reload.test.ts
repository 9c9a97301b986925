/** What a reload changes about leaf links, on both servers (nats-server#3946, #7937: remotes could not come and go). */
import { expect, test } from 'vitest';
import { reload } from '../helpers/config-reload.ts';
import { clientOf, describeTargets, serve } from '../helpers/describe-targets.ts';
import type { RunningServer, Target } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';

const RELOADED = /^Reloaded server configuration/;

interface Site {
  readonly hub: RunningServer;
  /** `nats://host:port` of its leaf port. */
  readonly url: string;
}

async function hubOf(target: Target, config = ''): Promise<Site> {
  const hub = await serve(target, `server_name: hub\nleafnodes { listen: "127.0.0.1:-1" }\n${config}`, {
    flags: ['-D'],
  });
  const { host, port } = await hub.listening('leafnode');
  return { hub, url: `nats://${host}:${port}` };
}

function remotes(...entries: string[]): string {
  return `server_name: edge\nleafnodes { reconnect: "100ms"\nremotes: [ ${entries.join(', ')} ] }`;
}

/** How often the server says that a leaf link came up, and went. */
function counts({ log }: RunningServer): { opened: number; closed: number } {
  const count = (text: string): number => log.split(text).length - 1;
  return { opened: count('JetStream using domains'), closed: count('Leafnode connection closed') };
}

describeTargets('a reload of leaf links', (target) => {
  test('adds and removes remotes, and disables and enables them', async () => {
    const [west, east] = [await hubOf(target), await hubOf(target)];
    const edge = await serve(target, remotes(`{ url: "${west.url}" }`), { flags: ['-D'] });
    await until(() => counts(west.hub).opened === 1, 'the first link');
    expect(await reload(edge, remotes(`{ url: "${west.url}" }`, `{ url: "${east.url}" }`))).toMatch(RELOADED);
    await until(() => counts(east.hub).opened === 1, 'the added link');
    expect(await reload(edge, remotes(`{ url: "${east.url}" }`))).toMatch(RELOADED);
    await until(() => counts(west.hub).closed === 1, 'the removed link to end');
    expect(edge.log).toContain(`Reloaded: LeafNode Remote urls=["${west.url}"], account="$G" removed`);
    expect(await reload(edge, remotes(`{ url: "${east.url}", disabled: true }`))).toMatch(RELOADED);
    await until(() => counts(east.hub).closed === 1, 'the disabled link to end');
    expect(await reload(edge, remotes(`{ url: "${east.url}" }`))).toMatch(RELOADED);
    await until(() => counts(east.hub).opened === 2, 'the enabled link');
    expect(edge.log).toContain('Disabled value is: true');
    expect(edge.log).toContain('Disabled value is: false');
    expect(counts(west.hub)).toEqual({ opened: 1, closed: 1 });
  });

  test('leaves links alone that it is not about', async () => {
    const { hub, url } = await hubOf(target);
    const edge = await serve(target, remotes(`{ url: "${url}" }`), { flags: ['-D'] });
    await until(() => counts(hub).opened === 1, 'the link');
    expect(await reload(edge, `${remotes(`{ url: "${url}" }`)}\nmax_payload: 2MB`)).toMatch(RELOADED);
    expect(counts(hub)).toEqual({ opened: 1, closed: 0 });
  });

  test.each([
    ['Username', 'leafnodes { listen: "127.0.0.1:-1", authorization { user: x } }'],
    ['MinVersion', 'leafnodes { listen: "127.0.0.1:-1", min_version: "2.9.0" }'],
    ['NoAdvertise', 'leafnodes { listen: "127.0.0.1:-1", no_advertise: true }'],
    ['IsolateLeafnodeInterest', 'leafnodes { listen: "127.0.0.1:-1", isolate: true }'],
  ])('refuses to change %s of the leaf port', async (field, config) => {
    const { hub } = await hubOf(target);
    const line = await reload(hub, `server_name: hub\n${config}`);
    expect(line).toContain(`config reload not supported for LeafNode: field "${field}": old=`);
  });

  test('goes on accepting leaves where it did when any port would do', async () => {
    const { hub, url } = await hubOf(target);
    expect(await reload(hub, 'server_name: hub\nleafnodes { listen: "127.0.0.1:-1" }\nmax_payload: 2MB')).toMatch(
      RELOADED,
    );
    const edge = await serve(target, remotes(`{ url: "${url}" }`));
    await until(() => counts(hub).opened === 1, 'the link');
    expect(edge.exited).toBe(false);
  });

  test('tells leaves of mappings that come and go', async () => {
    const { hub, url } = await hubOf(target);
    const edge = await serve(target, remotes(`{ url: "${url}" }`), { flags: ['-D'] });
    await until(() => counts(hub).opened === 1, 'the link');
    const above = await clientOf(hub);
    above.send('SUB inner 1\r\n');
    await above.quiet();
    const mapped = 'server_name: hub\nleafnodes { listen: "127.0.0.1:-1" }\nmappings { outer: inner }';
    expect(await reload(hub, mapped)).toMatch(RELOADED);
    const below = await clientOf(edge);
    const isHeard = async (): Promise<boolean> => {
      below.send('PUB outer 0\r\n\r\n');
      await below.quiet();
      return above.unread.length > 0;
    };
    await until(isHeard, 'the mapping to be known');
    expect(above.unread.toString()).toMatch(/^MSG inner 1 0\r\n/);
  });
});
