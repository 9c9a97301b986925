/**
 * A site of a supercluster: two clusters of two nats-servers each, joined by gateways; petiole is a leaf of one, and whom
 * it talks to is at the other.
 *
 *     petiole ══ leaf ══► east-1 ── east-2
 *                            ╲      ╱        gateways
 *                            west-1 ── west-2 ◄── clients
 */
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../helpers/free-port.ts';
import { describeWithHub } from '../helpers/real-hub.ts';
import { isAbsent, natsServer, petiole, startServer } from '../helpers/targets.ts';
import type { RunningServer, Target } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';

const CLUSTERS = ['east', 'west'];
const NODES = [1, 2];
const JOINED_MS = 20_000;
const TEST_MS = 60_000;
const ANSWER_MS = 1_000;
const MESSAGES = 200;

interface Node {
  readonly name: string;
  readonly cluster: string;
  readonly route: number;
  readonly gateway: number;
  readonly leaf: number;
}

describeWithHub('a leaf of a supercluster', () => {
  it(
    'asks and answers what is behind the other cluster, and mirrors a stream of it',
    { timeout: TEST_MS },
    async () => {
      const { edge, far } = await join();
      far.subscribe('far.service', { callback: (_, message) => void message.respond(`far ${message.string()}`) });
      edge.subscribe('edge.service', { callback: (_, message) => void message.respond(`edge ${message.string()}`) });
      await answers(edge, 'far.service', 'far 1');
      await answers(far, 'edge.service', 'edge 1');
      // Nobody is there: that is known at once on the whole way.
      await expect(edge.request('nobody.there', '', { timeout: ANSWER_MS })).rejects.toThrow(/no responders/i);

      const manager = await jetstreamManager(far, { domain: 'hub', checkAPI: false });
      await until(() => manager.getAccountInfo().catch(() => null), 'JetStream of the supercluster', JOINED_MS);
      await manager.streams.add({ name: 'READINGS', subjects: ['readings.>'] });
      const publisher = jetstream(far, { domain: 'hub' });
      for (let i = 0; i < MESSAGES; i++) await publisher.publish(`readings.${i % 7}`, String(i));

      const site = await jetstreamManager(edge);
      await site.streams.add({
        name: 'COPY',
        mirror: { name: 'READINGS', external: { api: '$JS.hub.API', deliver: '' } },
      });
      await until(async () => (await site.streams.info('COPY')).state.messages === MESSAGES, 'the copy', JOINED_MS);
      const last = await site.streams.getMessage('COPY', { seq: MESSAGES });
      expect(last).toMatchObject({ subject: `readings.${(MESSAGES - 1) % 7}`, seq: MESSAGES });
      expect(last?.string()).toBe(String(MESSAGES - 1));
    },
  );
});

/** Starts all five servers; a client of the leaf, and one of the cluster that the leaf is not linked to. */
async function join(): Promise<{ edge: NatsConnection; far: NatsConnection }> {
  const [real, ours] = [presentOr(natsServer()), presentOr(petiole())];
  const nodes: Node[] = [];
  for (const cluster of CLUSTERS) {
    for (const number of NODES) {
      const [route, gateway, leaf] = [await freePort(), await freePort(), await freePort()];
      nodes.push({ name: `${cluster}-${number}`, cluster, route, gateway, leaf });
    }
  }
  const servers = await Promise.all(nodes.map((node) => serve(real, configOf(node, nodes))));
  const { leaf } = nodes[0] as Node;
  const site = await serve(
    ours,
    `server_name: site\njetstream { domain: site, store_dir: "store" }
    leafnodes { reconnect: "200ms", remotes: [ { url: "nats://app:app@127.0.0.1:${leaf}" } ] }`,
  );
  return { edge: await clientOf(site), far: await clientOf(servers.at(-1) as RunningServer) };
}

function configOf({ name, cluster, route, gateway, leaf }: Node, nodes: readonly Node[]): string {
  const own = nodes.filter((node) => node.cluster === cluster);
  const routes = own.map((node) => `"nats://127.0.0.1:${node.route}"`).join(', ');
  const gateways = CLUSTERS.map((each) => {
    const urls = nodes.filter((node) => node.cluster === each).map((node) => `"nats://127.0.0.1:${node.gateway}"`);
    return `{ name: ${each}, urls: [${urls.join(', ')}] }`;
  });
  return `
    server_name: ${name}
    jetstream { domain: hub, store_dir: "store" }
    cluster { name: ${cluster}, listen: "127.0.0.1:${route}", routes: [${routes}] }
    gateway { name: ${cluster}, listen: "127.0.0.1:${gateway}", gateways: [${gateways.join(', ')}] }
    leafnodes { listen: "127.0.0.1:${leaf}", no_advertise: true }
    system_account: SYS
    accounts {
      SYS: { users: [ { user: sys, password: sys } ] }
      APP: { jetstream: enabled, users: [ { user: app, password: app } ] }
    }
    no_auth_user: app`;
}

async function serve(target: Target, config: string): Promise<RunningServer> {
  const server = await startServer(target, { config });
  onTestFinished(() => server.stop());
  return server;
}

async function clientOf(server: RunningServer): Promise<NatsConnection> {
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}` });
  onTestFinished(() => client.close());
  return client;
}

/** Interest takes its time from one end to the other. */
async function answers(client: NatsConnection, subject: string, answer: string): Promise<void> {
  const asked = async (): Promise<string> => {
    const message = await client.request(subject, '1', { timeout: ANSWER_MS }).catch(() => null);
    return message?.string() ?? '';
  };
  await until(async () => (await asked()) === answer, `${answer} on ${subject}`, JOINED_MS);
}

function presentOr(target: ReturnType<typeof natsServer>): Target {
  if (isAbsent(target)) throw new Error(target.absent);
  return target;
}
