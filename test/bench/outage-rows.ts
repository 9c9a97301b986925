/**
 * A leaf and its hub, a nats-server, behind a proxy that cuts the link: how long it takes until everything flows again.
 * What is measured is the leaf.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { FaultProxy } from '../helpers/fault-proxy.ts';
import { freePort } from '../helpers/free-port.ts';
import { median, type Sample } from './figures.ts';
import { startMeasured } from './measured-server.ts';
import type { MeasuredServer } from './measured-server.ts';
import type { Contender } from './programs.ts';
import type { Bench, Row } from './row.ts';
import { WireConnection } from './wire-connection.ts';

const RESETS = 10;
const OUTAGE_MS = 20_000;
const MESSAGES = 2_000;
const LOOK_MS = 20;
const HEALED_MS_MAX = 120_000;
const LINKED_MS_MAX = 20_000;
const SETTLED_MS = 1_500;
const PING = 'ping_interval: "1s", ping_max: 2';

interface Linked {
  readonly hub: MeasuredServer;
  readonly leaf: MeasuredServer;
  readonly proxy: FaultProxy;
}

export const OUTAGE_ROWS: readonly Row[] = [
  outageRow('outage-reset', 'until messages cross again after a reset', 3, async (linked) => {
    const healedMs: number[] = [];
    for (let round = 0; round < RESETS; round++) {
      await delay(SETTLED_MS);
      linked.proxy.reset();
      healedMs.push(await msUntil(await crossing(linked)));
    }
    return { healedMs: median(healedMs) };
  }),
  outageRow('outage-silence', 'until a link is given up from which nothing comes', 3, async ({ leaf, proxy }) => {
    const client = await WireConnection.open(leaf.port);
    // What the leaf sends all the time must not make it believe that the hub is there.
    const sending = setInterval(() => client.send('PUB up 1\r\n!\r\n'), LOOK_MS);
    try {
      const accepted = proxy.accepted;
      proxy.pause('down');
      return { healedMs: await msUntil(async () => Promise.resolve(proxy.accepted > accepted)) };
    } finally {
      clearInterval(sending);
      client.close();
      proxy.resume('down');
    }
  }),
  outageRow('outage-mirror', 'until a mirror and a source are whole after 20 s without link', 1, async (linked) => {
    await prepareCopies(linked);
    linked.proxy.refuse(true);
    linked.proxy.reset();
    await publish(linked.hub, MESSAGES, MESSAGES * 2);
    await delay(OUTAGE_MS);
    linked.proxy.refuse(false);
    return { healedMs: await msUntil(() => areWhole(linked.leaf, MESSAGES * 2)) };
  }),
  outageRow('outage-restart', 'until a mirror and a source are whole after the hub was killed', 1, async (linked) => {
    await prepareCopies(linked);
    const hub = await linked.hub.restart();
    try {
      await publish(hub, MESSAGES, MESSAGES * 2);
      return { healedMs: await msUntil(() => areWhole(linked.leaf, MESSAGES * 2)) };
    } finally {
      await hub.stop();
    }
  }),
];

function outageRow(name: string, title: string, roundsMax: number, act: (linked: Linked) => Promise<Sample>): Row {
  const measure = async ({ programs }: Bench, contender: Contender): Promise<Sample> => {
    const port = await freePort();
    const hub = await startMeasured(programs.natsServer, {
      name: 'hub',
      jetstream: 'domain: hub',
      more: `${PING}\nleafnodes { listen: "127.0.0.1:${port}", no_advertise: true }`,
    });
    const proxy = new FaultProxy({ host: '127.0.0.1', port });
    await proxy.listen();
    const leaf = await startMeasured(contender, {
      name: 'leaf',
      jetstream: 'domain: leaf',
      more: `${PING}
        leafnodes { reconnect: "200ms", remotes: [ { url: "nats://127.0.0.1:${proxy.address.port}" } ] }`,
    });
    try {
      const linked = { hub, leaf, proxy };
      await msUntil(await crossing(linked), LINKED_MS_MAX);
      await delay(SETTLED_MS);
      return await act(linked);
    } finally {
      await leaf.stop();
      await proxy.close();
      await hub.stop();
    }
  };
  return { name, title, table: 'own', roundsMax, needsDisk: true, measure };
}

/** Milliseconds from now until it is so. */
async function msUntil(isSo: () => Promise<boolean>, msMax = HEALED_MS_MAX): Promise<number> {
  const beganMs = performance.now();
  while (!(await isSo())) {
    if (performance.now() - beganMs > msMax) throw new Error(`it took longer than ${msMax} ms`);
    await delay(LOOK_MS);
  }
  return performance.now() - beganMs;
}

/** Whether a message that was published now, or later, has crossed in both directions. */
async function crossing({ hub, leaf }: Linked): Promise<() => Promise<boolean>> {
  const [up, down] = await Promise.all([WireConnection.open(hub.port), WireConnection.open(leaf.port)]);
  const crossed = { up: false, down: false };
  up.onMessage = () => (crossed.up = true);
  down.onMessage = () => (crossed.down = true);
  up.send('SUB up 1\r\n');
  down.send('SUB down 1\r\n');
  return () => {
    up.send('PUB down 1\r\n!\r\n');
    down.send('PUB up 1\r\n!\r\n');
    const isSo = crossed.up && crossed.down;
    if (isSo) for (const each of [up, down]) each.close();
    return Promise.resolve(isSo);
  };
}

async function prepareCopies(linked: Linked): Promise<void> {
  const [hub, leaf] = await Promise.all([WireConnection.open(linked.hub.port), WireConnection.open(linked.leaf.port)]);
  const origin = { name: 'ORIGIN', external: { api: '$JS.hub.API', deliver: '' } };
  await hub.request('$JS.API.STREAM.CREATE.ORIGIN', { name: 'ORIGIN', subjects: ['origin.>'] });
  await leaf.request('$JS.API.STREAM.CREATE.MIRROR', { name: 'MIRROR', mirror: origin });
  await leaf.request('$JS.API.STREAM.CREATE.SOURCED', { name: 'SOURCED', sources: [origin] });
  for (const each of [hub, leaf]) each.close();
  await publish(linked.hub, 0, MESSAGES);
  await msUntil(() => areWhole(linked.leaf, MESSAGES));
}

async function publish(hub: MeasuredServer, from: number, to: number): Promise<void> {
  const client = await WireConnection.open(hub.port);
  for (let i = from; i < to; i++) client.send(`PUB origin.${i % 10} 1\r\n!\r\n`);
  await client.fence();
  client.close();
}

async function areWhole(leaf: MeasuredServer, messages: number): Promise<boolean> {
  const client = await WireConnection.open(leaf.port);
  const mirror = await client.request('$JS.API.STREAM.INFO.MIRROR', {});
  const sourced = await client.request('$JS.API.STREAM.INFO.SOURCED', {});
  client.close();
  return mirror.state?.messages === messages && sourced.state?.messages === messages;
}
