/**
 * What a server is before it has anything to do: how soon it greets, what it takes up when idle, how large it is. Starts
 * find the program file in the page cache, as on a machine where it was run before.
 */
import { realpathSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { endOf, startChild } from './children.ts';
import { median } from './figures.ts';
import type { Sample } from './figures.ts';
import { startMeasured } from './measured-server.ts';
import type { MeasuredServer, ServerConfig } from './measured-server.ts';
import { peaksDuring } from './process-usage.ts';
import type { Contender } from './programs.ts';
import type { Row } from './row.ts';
import { WireConnection } from './wire-connection.ts';

/** In each round; the first of them may find a cold cache. */
const STARTS = 5;
/** After that much quiet a server has done what it does at its start. */
const IDLE_MS = 1_500;
/** Enough stored messages that every thread a server keeps for its disk has been started. */
const STORED = 2_000;
const STORED_MS_MAX = 20_000;
const BYTES_PER_MILLION = 1e6;

export const START_ROWS: readonly Row[] = [
  {
    name: 'start',
    title: 'start and idle',
    table: 'own',
    roundsMax: Infinity,
    needsDisk: false,
    measure: (_, contender) => measureStart(contender),
  },
  {
    name: 'start-size',
    title: 'size of the program',
    table: 'own',
    roundsMax: 1,
    needsDisk: false,
    measure: (_, contender) => measureSize(contender),
  },
];

async function measureStart(contender: Contender): Promise<Sample> {
  const startMs = await medianStartMs(contender, { jetstream: null, isWarm: true });
  const startStoreMs = await medianStartMs(contender, { isWarm: true });
  return { startMs, startStoreMs, ...(await measureIdleCore(contender)), ...(await measureIdleStore(contender)) };
}

async function measureIdleCore(contender: Contender): Promise<Sample> {
  const server = await startMeasured(contender, { jetstream: null });
  try {
    await delay(IDLE_MS);
    return { idleMb: server.usage.residentMb(), idleOwnMb: server.usage.ownMb() };
  } finally {
    await server.stop();
  }
}

/** With an empty store, and then how many threads there are when something is stored. */
async function measureIdleStore(contender: Contender): Promise<Sample> {
  const server = await startMeasured(contender);
  try {
    await delay(IDLE_MS);
    const { usage } = server;
    const idle = { idleOwnStoreMb: usage.ownMb(), idleThreads: usage.threads() };
    const [, { threads }] = await peaksDuring(usage, () => storeSome(server));
    return { ...idle, threads };
  } finally {
    await server.stop();
  }
}

async function medianStartMs(contender: Contender, config: ServerConfig): Promise<number> {
  const times: number[] = [];
  for (let k = 0; k < STARTS; k++) {
    const server = await startMeasured(contender, config);
    times.push(server.startMs);
    await server.stop();
  }
  return median(times);
}

async function storeSome(server: MeasuredServer): Promise<void> {
  const connection = await WireConnection.open(server.port);
  try {
    await connection.request('$JS.API.STREAM.CREATE.SOME', { name: 'SOME', subjects: ['some'], storage: 'file' });
    const stored = connection.receive(STORED, STORED_MS_MAX);
    connection.send(`SUB _INBOX.acks acks\r\n${'PUB some _INBOX.acks 4\r\nsome\r\n'.repeat(STORED)}`);
    await stored;
  } finally {
    connection.close();
  }
}

async function measureSize({ path }: Contender): Promise<Sample> {
  const program = realpathSync(path);
  const programMb = statSync(program).size / BYTES_PER_MILLION;
  const compressed = await compressedBytes(program);
  return compressed === null ? { programMb } : { programMb, compressedMb: compressed / BYTES_PER_MILLION };
}

/** Bytes that `xz` makes of the file; `null` where there is no xz. */
async function compressedBytes(path: string): Promise<number | null> {
  const child = startChild('xz', ['--stdout', '--threads=0', path], { stdio: ['ignore', 'pipe', 'inherit'] });
  let bytes = 0;
  child.stdout?.on('data', (chunk: Buffer) => (bytes += chunk.length));
  try {
    const code = await endOf(child);
    if (code !== 0) throw new Error(`xz failed (${code})`);
    return bytes;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
