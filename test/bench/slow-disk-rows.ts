/**
 * Publishing one message after the other to disks that take 0.1, 5 and 20 ms for each sync, as a good one, a hard disk and
 * an SD card do, in each mode of syncing. The disk is made slow by strace, which delays the return of the calls that wait
 * for the device: synced writes and syncs, and with an interval only the syncs. petiole alone: other programs wait for the
 * device in other calls.
 */
import { straceAbsence, underStrace } from '../e2e/strace.ts';
import type { Sample } from './figures.ts';
import { startMeasured } from './measured-server.ts';
import type { Contender } from './programs.ts';
import type { Bench, Row } from './row.ts';
import { WireConnection } from './wire-connection.ts';

interface SyncMode {
  readonly name: string;
  readonly title: string;
  readonly jetstream: string;
  readonly stream: object;
  readonly delayed: readonly string[];
}

const DELAYS_MS = [0.1, 5, 20];
const SYNCS = ['fdatasync', 'fsync'];
const MODES: readonly SyncMode[] = [
  { name: 'always', title: 'synced before each answer', jetstream: '', stream: {}, delayed: ['pwrite64', ...SYNCS] },
  { name: 'interval', title: 'sync_interval 2m', jetstream: 'sync_interval: "2m"', stream: {}, delayed: SYNCS },
  {
    name: 'async',
    title: 'persist_mode async',
    jetstream: '',
    stream: { persist_mode: 'async' },
    delayed: ['pwrite64', ...SYNCS],
  },
];
/** A row takes about so long. */
const ROW_SECONDS = 5;
const MESSAGES_MAX = 5_000;
const WARM_UP = 20;
const PAYLOAD = 'x'.repeat(128);
const ANSWER_MS_MAX = 10_000;

export const SLOW_DISK_ROWS: readonly Row[] = DELAYS_MS.flatMap((delayMs) =>
  MODES.map((mode): Row => ({
    name: `slow-disk-${delayMs}-${mode.name}`,
    title: `publishing one at a time, ${delayMs} ms per sync, ${mode.title}`,
    table: 'shared',
    roundsMax: Infinity,
    needsDisk: true,
    only: 'petiole',
    measure: (bench, contender) => measure(bench, contender, delayMs, mode),
  })),
);

async function measure({ count }: Bench, contender: Contender, delayMs: number, mode: SyncMode): Promise<Sample> {
  const absence = straceAbsence();
  if (absence !== null) throw new Error(`a slow disk can't be had: ${absence}`);
  const delay = { call: mode.delayed.join(','), microseconds: delayMs * 1000 };
  const options = { calls: mode.delayed, output: '/dev/null', bufferBytes: 0, delay };
  const server = await startMeasured(contender, {
    jetstream: mode.jetstream,
    around: (command) => underStrace(command, options),
  });
  try {
    const connection = await WireConnection.open(server.port);
    try {
      const config = { name: 'SLOW', subjects: ['slow'], storage: 'file', ...mode.stream };
      await connection.request('$JS.API.STREAM.CREATE.SLOW', config);
      const messages = Math.min(count(MESSAGES_MAX), Math.ceil((ROW_SECONDS * 1000) / delayMs));
      return await publishOneByOne(connection, messages);
    } finally {
      connection.close();
    }
  } finally {
    await server.stop();
  }
}

async function publishOneByOne(connection: WireConnection, messages: number): Promise<Sample> {
  connection.send('SUB _INBOX.slow slow\r\n');
  const timesMs: number[] = [];
  for (let sent = -WARM_UP; sent < messages; sent++) {
    const answered = connection.receive(1, ANSWER_MS_MAX, (answer) => {
      if (answer.includes('"error"')) throw new Error(answer.toString());
    });
    const startedMs = performance.now();
    connection.send(`PUB slow _INBOX.slow ${PAYLOAD.length}\r\n${PAYLOAD}\r\n`);
    await answered;
    if (sent >= 0) timesMs.push(performance.now() - startedMs);
  }
  const sorted = timesMs.toSorted((a, b) => a - b);
  const at = (part: number): number => (sorted[Math.floor(sorted.length * part)] ?? 0) * 1000;
  const rate = (messages * 1000) / timesMs.reduce((sum, each) => sum + each, 0);
  return { rate, p50Us: at(0.5), p99Us: at(0.99) };
}
