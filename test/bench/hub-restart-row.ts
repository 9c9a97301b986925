/**
 * The hub of many sites dies and comes back: how long it takes until all links stand again, counted from the moment when
 * it can be dialled, and how many dials a second it has to bear meanwhile. What is measured is the hub together with
 * petiole's own remotes, 500 of them in four processes: the other contender is another hub for the same remotes.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../helpers/free-port.ts';
import { killChild } from './children.ts';
import type { Sample } from './figures.ts';
import { startMeasured } from './measured-server.ts';
import type { Contender } from './programs.ts';
import type { Bench, Row } from './row.ts';

const LINKS = 500;
const FARMS = 4;
const SHORT_MS = 1_000;
const LONG_MS = 20_000;
const LOOK_MS = 20;
const BACK_MS_MAX = 60_000;
const QUIET_MS = 2_000;

export const HUB_RESTART_ROW: Row = {
  name: 'hub-restart',
  title: 'links of 500 sites after their hub was killed',
  table: 'own',
  roundsMax: 1,
  needsDisk: false,
  measure,
};

async function measure({ count }: Bench, contender: Contender): Promise<Sample> {
  const total = count(LINKS);
  const [leafPort, monitorPort] = [await freePort(), await freePort()];
  let hub = await startMeasured(contender, {
    jetstream: null,
    name: 'hub',
    more: `http: "127.0.0.1:${monitorPort}"
      leafnodes { listen: "127.0.0.1:${leafPort}", compression: off, isolate_leafnode_interest: true }`,
  });
  const farms: Farm[] = [];
  try {
    const each = Math.ceil(total / FARMS);
    for (let first = 0; first < total; first += each) {
      farms.push(await Farm.start(leafPort, first, Math.min(each, total - first)));
    }
    await untilLinked(monitorPort, total);
    const outage = async (awayMs: number): Promise<Outage> => {
      await delay(QUIET_MS);
      await dialsOf(farms);
      hub = await hub.restart(awayMs);
      const healedMs = await untilLinked(monitorPort, total);
      return { healedMs, dials: busiestSecond(await dialsOf(farms)) };
    };
    const [short, long] = [await outage(SHORT_MS), await outage(LONG_MS)];
    return {
      healedMs: short.healedMs,
      dialsPeak: short.dials,
      healedLongMs: long.healedMs,
      dialsPeakLong: long.dials,
      peakMb: hub.usage.peakResidentMb(),
    };
  } finally {
    for (const farm of farms) await farm.stop();
    await hub.stop();
  }
}

interface Outage {
  readonly healedMs: number;
  readonly dials: number;
}

/** Milliseconds until the hub shows so many links. */
async function untilLinked(monitorPort: number, total: number): Promise<number> {
  const beganMs = performance.now();
  for (;;) {
    const { leafnodes } = (await (await fetch(`http://127.0.0.1:${monitorPort}/varz`)).json()) as { leafnodes: number };
    const tookMs = performance.now() - beganMs;
    if (leafnodes === total) return tookMs;
    if (tookMs > BACK_MS_MAX) throw new Error(`${leafnodes} of ${total} links stand after ${BACK_MS_MAX} ms`);
    await delay(LOOK_MS);
  }
}

async function dialsOf(farms: readonly Farm[]): Promise<number[]> {
  return (await Promise.all(farms.map((farm) => farm.takeDials()))).flat();
}

/** The most of them that lie within one second. */
function busiestSecond(timesMs: readonly number[]): number {
  const sorted = timesMs.toSorted((a, b) => a - b);
  let most = 0;
  let begin = 0;
  for (const [end, timeMs] of sorted.entries()) {
    while ((sorted[begin] ?? 0) <= timeMs - 1000) begin++;
    most = Math.max(most, end - begin + 1);
  }
  return most;
}

/** A process with many leaves. */
class Farm {
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Resolves when all its servers have started; their links come by themselves. */
  static async start(leafPort: number, first: number, count: number): Promise<Farm> {
    const entry = join(import.meta.dirname, 'leaf-farm-entry.ts');
    const child = fork(entry, [`nats://127.0.0.1:${leafPort}`, String(first), String(count)]);
    const [said] = (await once(child, 'message')) as [string];
    if (said !== 'ready') throw new Error(`the leaves said ${said}`);
    return new Farm(child);
  }

  /** When its dials began since this was asked last, in wall time. */
  async takeDials(): Promise<number[]> {
    const told = once(this.#child, 'message');
    this.#child.send('dials');
    const [timesMs] = (await told) as [number[]];
    return timesMs;
  }

  async stop(): Promise<void> {
    await killChild(this.#child);
  }
}
