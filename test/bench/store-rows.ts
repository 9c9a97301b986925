/**
 * What a store costs: memory for a million subjects and for a million message ids, the start with ten million messages,
 * bytes written for each byte stored, and bytes written while nobody asks for anything.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Sample } from './figures.ts';
import { startMeasured } from './measured-server.ts';
import type { MeasuredServer } from './measured-server.ts';
import type { Contender } from './programs.ts';
import type { Bench, Row } from './row.ts';
import { WireConnection } from './wire-connection.ts';

const STREAM = 'STORED';
const MILLION = 1_000_000;
const START_MESSAGES = 10_000_000;
const WRITTEN_MESSAGES = 300_000;
/** Messages in one write to the socket; acknowledgements are asked for the last of each. */
const WRITTEN = 2_000;
const ACK_MS_MAX = 120_000;
/** What is written behind and at rest is written by then. */
const SETTLE_MS = 5_000;
/** How long a server is watched that has nothing to do; BENCH_IDLE_SECONDS asks for another time. */
const IDLE_SECONDS = Number(process.env['BENCH_IDLE_SECONDS'] ?? 60);
const PAYLOAD_BYTES = 128;
const DEDUP_WINDOW_NS = 3600e9;

interface Load {
  /** Subject and headers of the message with this number. */
  readonly subject: (index: number) => string;
  readonly id?: (index: number) => string;
  readonly payload: string;
}

const MANY_SUBJECTS: Load = { subject: (index) => `stored.${index % 1000}.${index}`, payload: 'x' };
const MANY_IDS: Load = { subject: () => 'stored.x', id: (index) => `message-${index}`, payload: 'x' };
const SMALL: Load = { subject: (index) => `stored.${index % 100}`, payload: 'x'.repeat(16) };
const USUAL: Load = { subject: (index) => `stored.${index % 100}`, payload: 'x'.repeat(PAYLOAD_BYTES) };

export const STORE_ROWS: readonly Row[] = [
  row('store-1m-subjects', 'a million subjects in one stream', (bench, contender) =>
    measureMemory(bench, contender, MANY_SUBJECTS),
  ),
  row('store-1m-ids', 'a million message ids in the duplicate window', (bench, contender) =>
    measureMemory(bench, contender, MANY_IDS),
  ),
  row('store-start', 'start after kill -9, with ten million messages of 16 B', measureStart),
  row('store-written', `bytes written for each byte of payloads of ${PAYLOAD_BYTES} B`, measureWritten),
  row('store-idle', `bytes written in ${IDLE_SECONDS} s in which nobody asks for anything`, measureIdle),
];

function row(name: string, title: string, measure: Row['measure']): Row {
  return { name, title, table: 'own', roundsMax: 1, needsDisk: true, measure };
}

async function measureMemory({ count }: Bench, contender: Contender, load: Load): Promise<Sample> {
  const server = await startMeasured(contender);
  try {
    await delay(SETTLE_MS);
    const { usage } = server;
    const idleMb = usage.residentMb();
    const total = count(MILLION);
    const startedMs = performance.now();
    await store(server, load, total);
    const rate = total / ((performance.now() - startedMs) / 1000);
    await delay(SETTLE_MS);
    return { idleMb, loadedMb: usage.residentMb(), loadedOwnMb: usage.ownMb(), peakMb: usage.peakResidentMb(), rate };
  } finally {
    await server.stop();
  }
}

async function measureStart({ count }: Bench, contender: Contender): Promise<Sample> {
  const filling = await startMeasured(contender);
  let server = filling;
  try {
    await store(filling, SMALL, count(START_MESSAGES));
    await delay(SETTLE_MS);
    server = await filling.restart();
    const { usage } = server;
    return { startStoreMs: server.startMs, peakMb: usage.peakResidentMb(), loadedOwnMb: usage.ownMb() };
  } finally {
    await server.stop();
  }
}

async function measureWritten({ count }: Bench, contender: Contender): Promise<Sample> {
  const server = await startMeasured(contender);
  try {
    // What is made ready once, and used again from then on, is not counted.
    const total = count(WRITTEN_MESSAGES);
    await store(server, USUAL, total);
    await delay(SETTLE_MS);
    const before = server.usage.writtenBytes();
    await store(server, USUAL, total, total);
    await delay(SETTLE_MS);
    return { writtenPerByte: (server.usage.writtenBytes() - before) / (total * PAYLOAD_BYTES) };
  } finally {
    await server.stop();
  }
}

async function measureIdle({ count }: Bench, contender: Contender): Promise<Sample> {
  const server = await startMeasured(contender);
  try {
    await store(server, USUAL, count(WRITTEN_MESSAGES / 10));
    await delay(SETTLE_MS);
    const { usage } = server;
    const [written, cpu] = [usage.writtenBytes(), usage.cpuSeconds()];
    await delay(IDLE_SECONDS * 1000);
    return {
      idleWrittenKb: (usage.writtenBytes() - written) / 1024,
      idleCpuMs: (usage.cpuSeconds() - cpu) * 1000,
    };
  } finally {
    await server.stop();
  }
}

/** Makes the stream, which has so many messages already, and publishes; returns when all is acknowledged. */
async function store(server: MeasuredServer, load: Load, total: number, present = 0): Promise<void> {
  const connection = await WireConnection.open(server.port);
  try {
    const config = { name: STREAM, subjects: ['stored.>'], storage: 'file', duplicate_window: DEDUP_WINDOW_NS };
    await connection.request(`$JS.API.STREAM.CREATE.${STREAM}`, config);
    connection.send('SUB _INBOX.stored stored\r\n');
    for (let at = 0; at < total; at += WRITTEN) {
      const end = Math.min(total, at + WRITTEN);
      const acknowledged = connection.receive(1, ACK_MS_MAX, (answer) => {
        if (!answer.includes('"seq"') || answer.includes('"error"')) throw new Error(answer.toString());
      });
      connection.send(textOf(load, at, end));
      await acknowledged;
    }
    const { state } = await connection.request(`$JS.API.STREAM.INFO.${STREAM}`, {});
    const stored = (state?.messages ?? 0) - present;
    if (stored !== total) throw new Error(`${stored} of ${total} messages are stored`);
  } finally {
    connection.close();
  }
}

function textOf({ subject, id, payload }: Load, from: number, end: number): string {
  let text = '';
  for (let index = from; index < end; index++) {
    const reply = index === end - 1 ? ' _INBOX.stored' : '';
    const headers = id === undefined ? '' : `NATS/1.0\r\nNats-Msg-Id: ${id(index)}\r\n\r\n`;
    const sizes = headers === '' ? `${payload.length}` : `${headers.length} ${headers.length + payload.length}`;
    text += `${headers === '' ? 'PUB' : 'HPUB'} ${subject(index)}${reply} ${sizes}\r\n${headers}${payload}\r\n`;
  }
  return text;
}
