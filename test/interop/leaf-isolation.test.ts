/**
 * Interest that is kept from other links, in a chain: an edge below a site below a hub, and another leaf of that hub. Who
 * hears of whom depends on where isolation is asked for.
 */
import { expect, test } from 'vitest';
import { clientOf, describeTargets, serve } from '../helpers/describe-targets.ts';
import type { RunningServer, Target } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import type { WireClient } from '../helpers/wire-client.ts';

/** More of `leafnodes`, and of the remote, of the site in the middle. */
interface Settings {
  readonly leafnodes?: string;
  readonly remote?: string;
}

type Place = 'hub' | 'site' | 'edge' | 'other';

const PLACES: readonly Place[] = ['hub', 'site', 'edge', 'other'];
const ROUNDS = 6;
const LOOK_MS = 100;

async function serverOf(target: Target, name: Place, leafnodes: string): Promise<RunningServer> {
  return serve(target, `server_name: ${name}\nhttp: "127.0.0.1:-1"\nleafnodes { reconnect: "100ms"\n${leafnodes} }`);
}

async function below(hub: RunningServer, more = ''): Promise<string> {
  const { host, port } = await hub.listening('leafnode');
  return `remotes: [ { url: "nats://${host}:${port}"\n${more} } ]`;
}

/** A client at each place; all links stand. */
async function chain(target: Target, { leafnodes = '', remote = '' }: Settings): Promise<Record<Place, WireClient>> {
  const listen = 'listen: "127.0.0.1:-1"';
  const hub = await serverOf(target, 'hub', listen);
  const other = await serverOf(target, 'other', await below(hub));
  const site = await serverOf(target, 'site', `${listen}\n${leafnodes}\n${await below(hub, remote)}`);
  const edge = await serverOf(target, 'edge', await below(site));
  await until(async () => (await links(hub)) === 2 && (await links(site)) === 2, 'all links');
  return {
    hub: await clientOf(hub),
    site: await clientOf(site),
    edge: await clientOf(edge),
    other: await clientOf(other),
  };
}

async function links(server: RunningServer): Promise<number> {
  const { host, port } = await server.listening('monitor');
  const { leafs } = (await (await fetch(`http://${host}:${port}/leafz`)).json()) as { leafs: unknown[] | null };
  return leafs?.length ?? 0;
}

/** Who hears what is published where: `edge>hub` for the hub hearing what the edge says. */
async function paths(clients: Record<Place, WireClient>): Promise<string[]> {
  for (const place of PLACES) {
    clients[place].send(`SUB to.${place} 1\r\nPING\r\n`);
    await clients[place].expect('PONG\r\n');
  }
  const heard = new Set<string>();
  // What is told over three links takes a while, and what is not told never comes.
  for (let round = 0; round < ROUNDS; round++) {
    for (const from of PLACES) {
      for (const to of PLACES) if (to !== from) clients[from].send(`PUB to.${to} ${from.length}\r\n${from}\r\n`);
    }
    for (const to of PLACES) {
      await clients[to].changed(performance.now() + LOOK_MS);
      for (const [, from = ''] of clients[to].unread.toString().matchAll(/^MSG to\.\w+ 1 \d+\r\n(\w+)\r\n/gm)) {
        heard.add(`${from}>${to}`);
      }
    }
  }
  return [...heard].toSorted();
}

/** All paths but these. */
function allBut(...missing: string[]): string[] {
  const all = PLACES.flatMap((from) => PLACES.filter((to) => to !== from).map((to) => `${from}>${to}`));
  return all.filter((path) => !missing.includes(path)).toSorted();
}

describeTargets('interest between links', (target) => {
  test.each<[string, Settings, string[]]>([
    ['is told to all by themselves', {}, []],
    [
      'stays with its link where all are kept apart',
      { leafnodes: 'isolate_leafnode_interest: true' },
      ['hub>edge', 'other>edge', 'edge>hub', 'edge>other'],
    ],
    ['is not told to a hub from which it is kept', { remote: 'isolate: true' }, ['hub>edge', 'other>edge']],
    ['is not told by a hub that was asked not to', { remote: 'request_isolation: true' }, ['site>other', 'edge>other']],
  ])('%s', async (_, settings, missing) => {
    expect(await paths(await chain(target, settings))).toEqual(allBut(...missing));
  });
});
