/**
 * A leaf link that goes through every fault a network has, under load, round after round: afterwards everything flows
 * again by itself, both ways, nothing has come twice or out of order, and each end knows exactly what the other wants to
 * hear. Streams that follow one at the other end have all that was acknowledged there, and the hub all that was spooled.
 *
 * ROUNDS and SEED in the environment ask for other runs; the seed is printed. Where ROUNDS does, streams of nats-server have
 * to follow, too, which they do half a minute late, and a pair of nats-servers is run, so that the times can be compared.
 */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, it, onTestFinished } from 'vitest';
import { describePairs, serve } from '../helpers/describe-targets.ts';
import { type FaultProxy, startFaultProxy } from '../helpers/fault-proxy.ts';
import { LinkFaults } from '../helpers/link-faults.ts';
import { LinkStreams } from '../helpers/link-streams.ts';
import { LinkTraffic } from '../helpers/link-traffic.ts';
import type { RunningServer, Target, TargetName } from '../helpers/targets.ts';

const IS_LONG = process.env['ROUNDS'] !== undefined;
const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const ROUND_MS_MAX = 60_000;
/** petiole asks an origin again as soon as it can be reached. */
const FOLLOWED_MS_MAX = 20_000;
/** nats-server takes its time. */
const FOLLOWED_LATE_MS_MAX = 90_000;
const FOLLOWING: readonly TargetName[] = IS_LONG ? ['petiole', 'nats-server'] : ['petiole'];

const LINK = 'ping_interval: "1s", ping_max: 2';
const RECONNECT = 'reconnect: "200ms"';

describePairs('a leaf link', (leaf, hub) => {
  const isOnlyCompared = leaf.name === 'nats-server' && hub.name === 'nats-server';
  it.skipIf(isOnlyCompared && !IS_LONG)(
    `heals from ${ROUNDS} faults under load`,
    { timeout: ROUND_MS_MAX * (ROUNDS + 5) },
    async () => {
      const { proxy, traffic, streams } = await link(leaf, hub);
      const faults = new LinkFaults(proxy, SEED);
      const healedMs: Record<string, number[]> = {};
      await traffic.flows();
      for (let round = 0; round < ROUNDS; round++) {
        const fault = faults.next();
        await fault.inflict(() => traffic.changeInterest());
        const beganMs = performance.now();
        const since = (): number => Math.round(performance.now() - beganMs);
        const heals = async (): Promise<void> => {
          await traffic.flows();
          const flowsMs = since();
          await streams.followed(['petiole'], FOLLOWED_MS_MAX);
          (healedMs[fault.name] ??= []).push(flowsMs, since());
        };
        await heals().catch((cause: unknown) => {
          throw new Error(`round ${round} of seed ${SEED}, after ${fault.name}`, { cause });
        });
        await traffic.interestIsExact();
      }
      console.info(
        `${leaf.name} to ${hub.name}, seed ${SEED}, ms until all flowed, and was followed: ${JSON.stringify(healedMs)}`,
      );
      await streams.stop();
      await streams.followed(FOLLOWING, FOLLOWED_LATE_MS_MAX);
      expect(traffic.repeated).toEqual([]);
      expect(traffic.outOfOrder).toEqual([]);
      expect(traffic.received).toBeGreaterThan(ROUNDS);
      expect(streams.failed).toEqual([]);
      const { wrongs, messages } = await streams.verdict(FOLLOWING);
      expect(wrongs).toEqual([]);
      expect(messages).toBeGreaterThan(ROUNDS);
    },
  );
});

interface Link {
  readonly proxy: FaultProxy;
  readonly traffic: LinkTraffic;
  readonly streams: LinkStreams;
}

async function link(leaf: Target, hub: Target): Promise<Link> {
  const up = await serve(hub, configOf('hub', 'listen: "127.0.0.1:-1", no_advertise: true'));
  const proxy = await startFaultProxy(await up.listening('leafnode'));
  const spool = leaf.name === 'petiole' ? ', spool { subjects: ["spooled.>"] }' : '';
  const remote = `{ url: "nats://127.0.0.1:${proxy.address.port}"${spool} }`;
  const down = await serve(leaf, configOf('leaf', `${RECONNECT}, remotes: [ ${remote} ]`));
  const traffic = await LinkTraffic.between(down.address(), up.address());
  onTestFinished(() => traffic.stop());
  await traffic.flows();
  const streams = await LinkStreams.between(
    { name: 'leaf', kind: leaf.name, client: await clientOf(down) },
    { name: 'hub', kind: hub.name, client: await clientOf(up) },
  );
  onTestFinished(() => streams.stop());
  return { proxy, traffic, streams };
}

function configOf(name: string, leafnodes: string): string {
  return `server_name: ${name}\n${LINK}\njetstream { store_dir: "store", domain: ${name} }\nleafnodes { ${leafnodes} }`;
}

async function clientOf(server: RunningServer): Promise<NatsConnection> {
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}` });
  onTestFinished(() => client.close());
  return client;
}
