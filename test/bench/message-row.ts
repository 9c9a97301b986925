/**
 * Rows that send messages through a server: rate, CPU per message, peaks of memory, and latency where a message waits
 * for its answer.
 *
 *     start ─► prepare ─► peaks and CPU from here ─► work ─► the rest is delivered ─► peaks and CPU up to here ─► kill
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Sample } from './figures.ts';
import { startMeasured } from './measured-server.ts';
import type { MeasuredServer } from './measured-server.ts';
import type { LoadFigures } from './nats-cli.ts';
import { peaksDuring } from './process-usage.ts';
import type { Contender } from './programs.ts';
import type { Bench, Row } from './row.ts';

/** Work that goes on in the server when the load has its last answer. */
const REST_MS = 100;

/** The servers of one run. */
export interface Site {
  /** The one that is measured. */
  readonly server: MeasuredServer;
  /** A nats-server that it is linked to; `null` where the row has none. */
  readonly hub: MeasuredServer | null;
}

export interface Work extends LoadFigures {
  /** How many messages the CPU time is shared by. */
  readonly messages: number;
}

export interface MessageLoad {
  readonly name: string;
  readonly title: string;
  readonly work: (bench: Bench, site: Site) => Promise<Work>;
  /** What is done before measuring begins. */
  readonly prepare?: (bench: Bench, site: Site) => Promise<void>;
  /** Lines of the `jetstream` block. */
  readonly jetstream?: string;
  readonly needsDisk?: boolean;
  /** Each message waits for its answer, so that times mean something. */
  readonly waits?: boolean;
  /** Starts the servers; by default one, without a hub. */
  readonly start?: (bench: Bench, contender: Contender) => Promise<Site>;
}

export function messageRow(load: MessageLoad): Row {
  const { name, title, needsDisk = false, jetstream = '' } = load;
  const start = load.start ?? ((_: Bench, contender: Contender) => startAlone(contender, jetstream));
  return {
    name,
    title,
    table: 'shared',
    roundsMax: Infinity,
    needsDisk,
    measure: async (bench, contender) => {
      const site = await start(bench, contender);
      try {
        await load.prepare?.(bench, site);
        return await measure(bench, site, load);
      } finally {
        await site.server.stop();
        await site.hub?.stop();
      }
    },
  };
}

async function startAlone(contender: Contender, jetstream: string): Promise<Site> {
  return { server: await startMeasured(contender, { jetstream }), hub: null };
}

async function measure(bench: Bench, site: Site, { work, waits = false }: MessageLoad): Promise<Sample> {
  const { usage } = site.server;
  usage.resetPeak();
  const cpuBefore = usage.cpuSeconds();
  const [{ rate, messages, p50Us, p99Us }, peaks] = await peaksDuring(usage, async () => {
    const done = await work(bench, site);
    await delay(REST_MS);
    return done;
  });
  const cpuUs = ((usage.cpuSeconds() - cpuBefore) / messages) * 1e6;
  const { ownMb, threads } = peaks;
  const sample: Sample = { rate, cpuUs, peakMb: usage.peakResidentMb(), ownMb, threads };
  return waits && p50Us !== undefined && p99Us !== undefined ? { ...sample, p50Us, p99Us } : sample;
}
