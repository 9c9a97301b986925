/**
 * nats-server#6468, #7530: what a site stored while it was offline did not come to its hub afterwards, where streams of both
 * have the same name; and nobody said why a stream was not fed. The hub is petiole: nats-server does this too, but may wait
 * for 40 seconds before it asks again.
 */
import type { NatsConnection } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { natsClientOf, startLinkedPair } from '../helpers/linked-pair.ts';
import { isAbsent, petiole } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';

const PATIENCE_MS = 10_000;
const DOMAINS = {
  hub: 'jetstream { store_dir: "store", domain: hub }',
  leaf: 'jetstream { store_dir: "store", domain: site }',
};
const EXTERNAL = { api: '$JS.site.API', deliver: '' };

describeTargets('a hub that draws from a stream of its own name at a site', (leafTarget) => {
  test('gets what was stored offline, and says what is amiss', async () => {
    const hubTarget = petiole();
    if (isAbsent(hubTarget)) throw new Error(hubTarget.absent);
    const pair = await startLinkedPair(leafTarget, hubTarget, DOMAINS);
    const site = await natsClientOf(pair.leaf);
    const hub = await natsClientOf(pair.hub);
    await ask(site, 'STREAM.CREATE.ORDERS', { name: 'ORDERS', subjects: ['orders.>'] });
    pair.proxy.refuse(true);
    pair.proxy.reset();
    await until(() => pair.proxy.connections === 0, 'the site to be offline');
    await ask(hub, 'STREAM.CREATE.ORDERS', { name: 'ORDERS', sources: [{ name: 'ORDERS', external: EXTERNAL }] });
    await ask(hub, 'STREAM.CREATE.LOST', { name: 'LOST', mirror: { name: 'NOWHERE', external: EXTERNAL } });
    for (let n = 1; n <= 20; n++) await site.request('orders.new', String(n));
    pair.proxy.refuse(false);
    const held = async (): Promise<number> => (await ask<Info>(hub, 'STREAM.INFO.ORDERS')).state.messages;
    await until(async () => (await held()) === 20, 'the hub to have all', PATIENCE_MS);
    const error = async (): Promise<Info['mirror']> => {
      const { mirror } = await ask<Info>(hub, 'STREAM.INFO.LOST');
      return mirror?.error === undefined ? null : mirror;
    };
    const mirror = await until(error, 'the error to show', PATIENCE_MS);
    expect(mirror).toMatchObject({ name: 'NOWHERE', error: { err_code: 10_059, description: 'stream not found' } });
  });
});

interface Info {
  readonly state: { readonly messages: number };
  readonly mirror?: { readonly error?: object } | null;
}

async function ask<T = object>(client: NatsConnection, request: string, body: object | '' = ''): Promise<T> {
  return (await client.request(`$JS.API.${request}`, body === '' ? '' : JSON.stringify(body))).json<T>();
}
