/**
 * Many idle clients with two subscriptions each: what they cost, how long it takes to accept them all, how long until
 * one message has reached every one, and what a burst of twenty 1 KiB messages to all of them leaves behind.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../helpers/until.ts';
import type { Sample } from './figures.ts';
import { startMeasured } from './measured-server.ts';
import type { MeasuredServer } from './measured-server.ts';
import { peaksDuring } from './process-usage.ts';
import type { Contender } from './programs.ts';
import type { Bench, Row } from './row.ts';
import { WireConnection } from './wire-connection.ts';

const CONNECTIONS = 9_000;
/** Dialled at a time. */
const DIALLED = 200;
/** Files that the bench and a server need beside the connections. */
const OTHER_FILES = 200;
/** A server at rest has given back what it will: its collector has run. */
const QUIET_MS = 3_000;
const QUIET_AFTER_BURST_MS = 6_500;
const REACHED_MS_MAX = 30_000;

const BURST_MESSAGES = 20;
const BURST_BYTES = 1_024;

export const CONNECTIONS_ROW: Row = {
  name: 'connections',
  title: 'idle connections with 2 subscriptions each',
  table: 'own',
  roundsMax: 1,
  needsDisk: false,
  measure,
};

async function measure({ count }: Bench, contender: Contender): Promise<Sample> {
  const total = count(CONNECTIONS);
  assertFilesSuffice(total);
  const server = await startMeasured(contender, { jetstream: null });
  const crowd = new Crowd();
  try {
    const { usage } = server;
    await delay(QUIET_MS);
    const idleMb = usage.residentMb();
    const acceptS = await seconds(() => crowd.connect(server, total));
    await delay(QUIET_MS);
    const loadedMb = usage.residentMb();
    const kbPerConnection = ((loadedMb - idleMb) * 1024) / total;

    const cpuBefore = usage.cpuSeconds();
    const fanOutMs = (await seconds(() => crowd.send('hello', 1))) * 1000;
    const fanOutCpuMs = (usage.cpuSeconds() - cpuBefore) * 1000;
    const { reached } = crowd;

    const [, burst] = await peaksDuring(usage, () => crowd.send('y'.repeat(BURST_BYTES), BURST_MESSAGES));
    await delay(QUIET_AFTER_BURST_MS);
    const peaks = { peakMb: burst.residentMb, afterBurstMb: usage.residentMb() };
    return { idleMb, loadedMb, kbPerConnection, acceptS, reached, fanOutMs, fanOutCpuMs, ...peaks };
  } finally {
    crowd.close();
    await server.stop();
  }
}

/** All clients of one run. */
class Crowd {
  readonly #members: WireConnection[] = [];
  /** Messages received by each member since the last `send`. */
  readonly #received: number[] = [];
  #missing = 0;

  /** How many members have received all of the last `send`. */
  get reached(): number {
    return this.#members.length - this.#missing;
  }

  async connect(server: MeasuredServer, total: number): Promise<void> {
    while (this.#members.length < total) {
      const next = Math.min(DIALLED, total - this.#members.length);
      const dialled = await Promise.all(Array.from({ length: next }, () => WireConnection.open(server.port)));
      await Promise.all(dialled.map((connection) => this.#join(connection)));
    }
  }

  /** Sends the payload so many times to all, and resolves when all have received all, or time is up. */
  async send(payload: string, times: number): Promise<void> {
    const [sender] = this.#members;
    if (sender === undefined) throw new Error('nobody is connected');
    this.#received.fill(0);
    this.#missing = this.#members.length;
    for (const [index, member] of this.#members.entries()) {
      member.onMessage = () => {
        const received = (this.#received[index] ?? 0) + 1;
        this.#received[index] = received;
        if (received === times) this.#missing--;
      };
    }
    sender.send(`PUB all.x ${payload.length}\r\n${payload}\r\n`.repeat(times));
    await until(() => this.#missing === 0, 'all connections to be reached', REACHED_MS_MAX);
  }

  close(): void {
    for (const member of this.#members) member.close();
  }

  #join(connection: WireConnection): Promise<void> {
    const index = this.#members.push(connection) - 1;
    this.#received.push(0);
    connection.send(`SUB all.> 1\r\nSUB device.${index}.command 2\r\n`);
    return connection.fence();
  }
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return (performance.now() - startedMs) / 1000;
}

function assertFilesSuffice(total: number): void {
  const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
  const wanted = total + OTHER_FILES;
  if (limit === undefined || Number(limit) >= wanted) return;
  throw new Error(`${total} connections take ${wanted} open files and ${limit} are allowed: see ulimit -n, or --scale`);
}
