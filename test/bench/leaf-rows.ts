/** Messages over a leaf link, uncompressed, to and from a real nats-server as hub; the leaf is what is measured. */
import { freePort } from '../helpers/free-port.ts';
import { until } from '../helpers/until.ts';
import { fanOut } from './core-rows.ts';
import { startMeasured } from './measured-server.ts';
import type { MeasuredServer } from './measured-server.ts';
import { messageRow } from './message-row.ts';
import type { Site, Work } from './message-row.ts';
import type { Contender } from './programs.ts';
import type { Bench, Row } from './row.ts';
import { WireConnection } from './wire-connection.ts';

const LOAD = { messages: 5e5, bytes: 128 };
const LINK_MS_MAX = 10_000;
const PROBE = 'bench.probe';

export const LEAF_ROWS: readonly Row[] = [
  messageRow({
    name: 'leaf-out-128',
    title: 'from a leaf to its hub, 128 B',
    start,
    work: (bench, { server, hub }) => overLink(bench, server, hub),
  }),
  messageRow({
    name: 'leaf-in-128',
    title: 'from a hub to its leaf, 128 B',
    start,
    work: (bench, { server, hub }) => overLink(bench, hub, server),
  }),
];

function overLink(bench: Bench, from: MeasuredServer | null, to: MeasuredServer | null): Promise<Work> {
  if (from === null || to === null) throw new Error('a link has two ends');
  return fanOut(bench, from, to, LOAD, () => crosses(from, to));
}

async function start({ programs }: Bench, contender: Contender): Promise<Site> {
  const port = await freePort();
  const hub = await startMeasured(programs.natsServer, {
    name: 'hub',
    more: `leafnodes { listen: "127.0.0.1:${port}", compression: off }`,
  });
  try {
    const server = await startMeasured(contender, {
      name: 'leaf',
      more: `leafnodes { remotes: [ { url: "nats://127.0.0.1:${port}", compression: off } ] }`,
    });
    return { server, hub };
  } catch (error) {
    await hub.stop();
    throw error;
  }
}

/**
 * Resolves when a message has crossed the link. Interest crosses in the order in which it came about: what was
 * subscribed to before is known on the other side too.
 */
async function crosses(from: MeasuredServer, to: MeasuredServer): Promise<void> {
  const [sender, receiver] = await Promise.all([WireConnection.open(from.port), WireConnection.open(to.port)]);
  try {
    let hasCrossed = false;
    receiver.onMessage = () => (hasCrossed = true);
    receiver.send(`SUB ${PROBE} 1\r\n`);
    await until(
      () => {
        sender.send(`PUB ${PROBE} 0\r\n\r\n`);
        return hasCrossed;
      },
      'the leaf link',
      LINK_MS_MAX,
    );
  } finally {
    sender.close();
    receiver.close();
  }
}
