/**
 * A leaf with a link to its hub for each of two accounts, X and Y, between which one of the servers passes something on by
 * an import: who hears what, and how often. What one of the links brings to the hub goes back over the other one, since in
 * that account the leaf has not had it; what the hub sends over one link does not go back to it over the other one, or
 * with imports at both ends it would go round and round.
 */
import type { NatsConnection } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { describePairs, serve } from '../helpers/describe-targets.ts';
import { isAnswered, natsClientOf } from '../helpers/linked-pair.ts';
import type { Target } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';

const LISTEN = 'listen: "127.0.0.1:-1", no_advertise: true';
/** As many accounts and links as something can go through. */
const HOPS = 4;

type Account = 'X' | 'Y';
type Importer = Account | 'nobody';
type Place = `${'leaf' | 'hub'} ${Account}`;
type Clients = Readonly<Record<Place, NatsConnection>>;

const PLACES: readonly Place[] = ['leaf X', 'hub X', 'leaf Y', 'hub Y'];
/** Which of them subscribe: how often one hears something does not depend on the others. */
const AUDIENCES: readonly (readonly Place[])[] = [...PLACES.map((place) => [place]), PLACES];

/** How often what is published there is heard, in the order of PLACES. */
type Heard = Readonly<Record<Place, readonly [leafX: number, hubX: number, leafY: number, hubY: number]>>;

const TABLE: readonly { readonly hub: Importer; readonly leaf: Importer; readonly heard: Heard }[] = [
  {
    hub: 'nobody',
    leaf: 'Y',
    heard: { 'leaf X': [1, 1, 1, 1], 'hub X': [1, 1, 1, 0], 'leaf Y': [0, 0, 1, 1], 'hub Y': [0, 0, 1, 1] },
  },
  {
    hub: 'Y',
    leaf: 'nobody',
    heard: { 'leaf X': [1, 1, 1, 1], 'hub X': [1, 1, 1, 1], 'leaf Y': [0, 0, 1, 1], 'hub Y': [0, 0, 1, 1] },
  },
  {
    hub: 'Y',
    leaf: 'Y',
    heard: { 'leaf X': [1, 1, 2, 2], 'hub X': [1, 1, 2, 1], 'leaf Y': [0, 0, 1, 1], 'hub Y': [0, 0, 1, 1] },
  },
  {
    hub: 'Y',
    leaf: 'X',
    heard: { 'leaf X': [2, 1, 1, 1], 'hub X': [2, 1, 1, 1], 'leaf Y': [2, 1, 2, 2], 'hub Y': [1, 0, 1, 1] },
  },
];

function accounts(importer: Importer): string {
  const account = (name: Account, other: Account): string => {
    const from = `account: ${other}, subject:`;
    const imports =
      importer === name ? `imports: [ { stream: { ${from} "data.>" } }, { service: { ${from} "svc" } } ]` : '';
    return `${name} {
      users: [ { user: ${name}, password: p } ]
      exports: [ { stream: "data.>" }, { service: "svc" } ]
      ${imports}
    }`;
  };
  return `accounts { ${account('X', 'Y')}\n${account('Y', 'X')} }`;
}

async function start(leafTarget: Target, hubTarget: Target, hub: Importer, leaf: Importer): Promise<Clients> {
  const above = await serve(hubTarget, `server_name: hub\n${accounts(hub)}\nleafnodes { ${LISTEN} }`);
  const { port } = await above.listening('leafnode');
  const remotes = ['X', 'Y'].map((name) => `{ url: "nats://${name}:p@127.0.0.1:${port}", account: ${name} }`);
  const links = `leafnodes { remotes: [ ${remotes.join(', ')} ] }`;
  const below = await serve(leafTarget, `server_name: leaf\n${accounts(leaf)}\n${links}`);
  const clientAt = async (place: Place): Promise<NatsConnection> => {
    const [where, user] = place.split(' ') as ['leaf' | 'hub', Account];
    const client = await natsClientOf(where === 'hub' ? above : below, { user, pass: 'p' });
    client.subscribe(`ask.${where}`, { callback: (_, message) => void message.respond() });
    await client.flush();
    return client;
  };
  const clients: Clients = {
    'leaf X': await clientAt('leaf X'),
    'hub X': await clientAt('hub X'),
    'leaf Y': await clientAt('leaf Y'),
    'hub Y': await clientAt('hub Y'),
  };
  await settle(clients);
  return clients;
}

/** Everything that was subscribed or published before has got where it goes: questions follow it over each link. */
async function settle(clients: Clients): Promise<void> {
  for (const place of PLACES) await clients[place].flush();
  for (let i = 0; i < HOPS; i++) {
    for (const place of PLACES) {
      const other = place.startsWith('leaf') ? 'hub' : 'leaf';
      await until(() => isAnswered(clients[place], `ask.${other}`), `an answer of the ${other} to ${place}`);
    }
  }
}

/** How often each of the audience hears what is published at the place. */
async function hear(
  clients: Clients,
  audience: readonly Place[],
  queue: string | undefined,
  publisher: Place,
): Promise<Record<string, number>> {
  const heard: Record<string, number> = Object.fromEntries(audience.map((place) => [place, 0]));
  const subscriptions = audience.map((place) => {
    const callback = (): void => void (heard[place] = (heard[place] as number) + 1);
    return clients[place].subscribe('data.x', queue === undefined ? { callback } : { callback, queue });
  });
  await settle(clients);
  clients[publisher].publish('data.x', 'once');
  await settle(clients);
  for (const subscription of subscriptions) subscription.unsubscribe();
  await settle(clients);
  return heard;
}

describePairs('links of two accounts, one of which imports from the other', (leafTarget, hubTarget) => {
  test.each(TABLE)('a stream: $hub at the hub, $leaf at the leaf', async ({ hub, leaf, heard }) => {
    const clients = await start(leafTarget, hubTarget, hub, leaf);
    for (const publisher of PLACES) {
      for (const audience of AUDIENCES) {
        const expected = audience.map((place) => [place, heard[publisher][PLACES.indexOf(place)]]);
        const found = await hear(clients, audience, undefined, publisher);
        expect({ publisher, ...found }).toEqual({ publisher, ...Object.fromEntries(expected) });
      }
    }
  });

  test('a stream, to a queue group behind the other link of its publisher', async () => {
    const clients = await start(leafTarget, hubTarget, 'Y', 'nobody');
    expect(await hear(clients, ['leaf Y'], 'workers', 'leaf X')).toEqual({ 'leaf Y': 1 });
  });

  test('a service that the hub imports answers over both links, one that the leaf imports does not', async () => {
    const above = await start(leafTarget, hubTarget, 'Y', 'nobody');
    above['leaf X'].subscribe('svc', { callback: (_, message) => void message.respond() });
    await settle(above);
    expect(await isAnswered(above['leaf Y'], 'svc')).toBe(true);
    const below = await start(leafTarget, hubTarget, 'nobody', 'Y');
    below['hub X'].subscribe('svc', { callback: (_, message) => void message.respond() });
    await settle(below);
    expect(await isAnswered(below['leaf Y'], 'svc')).toBe(true);
    expect(await isAnswered(below['hub Y'], 'svc')).toBe(false);
  });
});
