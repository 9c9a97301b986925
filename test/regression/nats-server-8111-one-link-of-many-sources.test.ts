/**
 * nats-server#8111: when one link of many came back, a stream asked all its origins for new consumers, behind every link: a
 * storm. Only those behind the link that was gone are asked.
 */
import type { NatsConnection } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import { startFaultProxy } from '../helpers/fault-proxy.ts';
import { natsClientOf } from '../helpers/linked-pair.ts';
import { until } from '../helpers/until.ts';

const DOMAINS = ['east', 'west'];
/** nats-server lets time pass before it asks again. */
const PATIENCE_MS = 50_000;

describeTargets('a stream with sources behind several links', (target) => {
  test('asks those behind the link that was cut, and nobody else', { timeout: 2 * PATIENCE_MS }, async () => {
    const hub = await serve(
      target,
      'server_name: hub\njetstream { store_dir: "store", domain: hub }\nleafnodes { listen: "127.0.0.1:-1", no_advertise: true }',
    );
    const client = await natsClientOf(hub);
    const proxy = await startFaultProxy(await hub.listening('leafnode'));
    const sites: NatsConnection[] = [];
    for (const domain of DOMAINS) {
      const { port } = domain === 'east' ? proxy.address : await hub.listening('leafnode');
      const site = await serve(
        target,
        `server_name: ${domain}\njetstream { store_dir: "store", domain: ${domain} }
        leafnodes { reconnect: "100ms", remotes: [ { url: "nats://127.0.0.1:${port}" } ] }`,
      );
      const own = await natsClientOf(site);
      await own.request(`$JS.API.STREAM.CREATE.${domain}`, JSON.stringify({ name: domain, subjects: [domain] }));
      sites.push(own);
    }
    const asked: string[] = [];
    client.subscribe('$JS.*.API.CONSUMER.CREATE.>', {
      callback: (_, { subject }) => void asked.push(subject.split('.')[1] ?? ''),
    });
    const sources = DOMAINS.map((domain) => ({ name: domain, external: { api: `$JS.${domain}.API`, deliver: '' } }));
    await client.request('$JS.API.STREAM.CREATE.ALL', JSON.stringify({ name: 'ALL', sources }));
    const arrives = async (count: number): Promise<void> => {
      for (const [i, site] of sites.entries()) await site.request(DOMAINS[i] ?? '', 'x');
      await until(async () => (await held(client, 'ALL')) === count, `${count} messages`, PATIENCE_MS);
    };
    await arrives(2);
    expect(new Set(asked)).toEqual(new Set(DOMAINS));
    asked.length = 0;
    proxy.reset();
    await arrives(4);
    // nats-server does not even ask these when the link comes back soon.
    expect(asked).not.toContain('west');
  });
});

async function held(client: NatsConnection, stream: string): Promise<number> {
  const answer = await client.request(`$JS.API.STREAM.INFO.${stream}`);
  return answer.json<{ state: { messages: number } }>().state.messages;
}
