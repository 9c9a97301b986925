/**
 * A leaf link that goes through every fault a network has, under load, round after round: afterwards everything flows
 * again by itself, both ways, nothing has come twice or out of order, and each end knows exactly what the other wants to
 * hear. All pairs of petiole and nats-server as leaf and hub, so that the times can be compared, too.
 *
 * ROUNDS and SEED in the environment ask for other runs; the seed is printed.
 */
import { expect, it, onTestFinished } from 'vitest';
import { describePairs } from '../helpers/describe-targets.ts';
import { freePort } from '../helpers/free-port.ts';
import { type FaultProxy, startFaultProxy } from '../helpers/fault-proxy.ts';
import { LinkFaults } from '../helpers/link-faults.ts';
import { LinkTraffic } from '../helpers/link-traffic.ts';
import { startServer } from '../helpers/targets.ts';
import type { Target } from '../helpers/targets.ts';

const ROUNDS = Number(process.env['ROUNDS'] ?? 9);
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const ROUND_MS_MAX = 20_000;

const LINK = 'ping_interval: "1s", ping_max: 2';
const RECONNECT = 'reconnect: "200ms"';

describePairs('a leaf link', (leaf, hub) => {
  it(`heals from ${ROUNDS} faults under load`, { timeout: ROUND_MS_MAX * (ROUNDS + 1) }, async () => {
    const { proxy, traffic } = await link(leaf, hub);
    const faults = new LinkFaults(proxy, SEED);
    const healedMs: Record<string, number[]> = {};
    await traffic.flows();
    for (let round = 0; round < ROUNDS; round++) {
      const fault = faults.next();
      await fault.inflict(() => traffic.changeInterest());
      const beganMs = performance.now();
      await traffic.flows().catch((cause: unknown) => {
        throw new Error(`round ${round} of seed ${SEED}, after ${fault.name}`, { cause });
      });
      (healedMs[fault.name] ??= []).push(Math.round(performance.now() - beganMs));
      await traffic.interestIsExact();
    }
    console.info(`${leaf.name} to ${hub.name}, seed ${SEED}, ms until all flowed: ${JSON.stringify(healedMs)}`);
    expect(traffic.repeated).toEqual([]);
    expect(traffic.outOfOrder).toEqual([]);
    expect(traffic.received).toBeGreaterThan(ROUNDS);
  });
});

async function link(leaf: Target, hub: Target): Promise<{ proxy: FaultProxy; traffic: LinkTraffic }> {
  const port = await freePort();
  const up = await startServer(hub, {
    config: `server_name: hub\n${LINK}\nleafnodes { listen: "127.0.0.1:${port}", no_advertise: true }`,
  });
  onTestFinished(() => up.stop());
  const proxy = await startFaultProxy(await up.listening('leafnode'));
  const url = `nats://127.0.0.1:${proxy.address.port}`;
  const down = await startServer(leaf, {
    config: `server_name: leaf\n${LINK}\nleafnodes { ${RECONNECT}, remotes: [ { url: "${url}" } ] }`,
  });
  onTestFinished(() => down.stop());
  const traffic = await LinkTraffic.between(down.address(), up.address());
  onTestFinished(() => traffic.stop());
  return { proxy, traffic };
}
