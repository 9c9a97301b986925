/**
 * Publishing to streams and reading from them. The `-durable` rows compare like with like: both servers sync before
 * they acknowledge. In the others petiole does and nats-server, by its default, does not.
 *
 * Streams are made by this file and not by the CLI, which would ask for features beside those that are measured.
 */
import { messageRow } from './message-row.ts';
import type { Site, Work } from './message-row.ts';
import type { Bench, Row } from './row.ts';
import { WireConnection } from './wire-connection.ts';

const STREAM = 'BENCH';
const SUBJECT = 'bench.stream';
const PAYLOAD_BYTES = 128;
const STREAM_BYTES_MAX = 2 ** 30;
const DEDUP_WINDOW_NS = 120e9;

const SYNCED = 'sync_interval: always';

const STREAMS = 100;
const IN_FLIGHT = 2_000;
/** Acknowledgements after which as many messages follow. */
const REFILL = 100;
const ALL_ACKS_MS_MAX = 120_000;

export const JETSTREAM_ROWS: readonly Row[] = [
  publishRow('js-async-file', 'to a file, 500 in flight', { mode: 'async', messages: 3e5 }),
  publishRow('js-async-memory', 'to memory, 500 in flight', { mode: 'async', messages: 3e5, storage: 'memory' }),
  publishRow('js-async-dedup', 'the same to a file, with ids', { mode: 'async', messages: 2e5, more: ['--dedup'] }),
  publishRow('js-async-file-durable', 'to a file, both synced', { mode: 'async', messages: 6e4, jetstream: SYNCED }),
  messageRow({
    name: 'js-100-streams-durable',
    title: 'to 100 streams in turn, 2,000 in flight, both synced',
    jetstream: SYNCED,
    needsDisk: true,
    prepare: addStreams,
    work: publishToMany,
  }),
  publishRow('js-sync-file', 'to a file, one at a time', { mode: 'sync', messages: 2e4 }),
  publishRow('js-sync-file-durable', 'one at a time, both synced', { mode: 'sync', messages: 5e3, jetstream: SYNCED }),
  readRow('js-fetch', 'fetching 500 at a time, each acknowledged', ['fetch', '--acks', 'explicit', '--batch', '500']),
  readRow('js-consume', 'consuming, each acknowledged', ['consume', '--acks', 'explicit']),
];

interface PublishLoad {
  readonly mode: 'async' | 'sync';
  readonly messages: number;
  readonly storage?: 'file' | 'memory';
  readonly jetstream?: string;
  /** Further flags of the CLI. */
  readonly more?: readonly string[];
}

function publishRow(name: string, title: string, load: PublishLoad): Row {
  const { mode, storage = 'file', jetstream = '' } = load;
  return messageRow({
    name,
    title,
    jetstream,
    needsDisk: storage === 'file',
    waits: mode === 'sync',
    prepare: (_, site) => addStream(site, STREAM, SUBJECT, storage),
    work: (bench, site) => publish(bench, site, load),
  });
}

function readRow(name: string, title: string, command: readonly string[]): Row {
  const messages = 3e5;
  return messageRow({
    name,
    title,
    needsDisk: true,
    prepare: async (bench, site) => {
      await addStream(site, STREAM, SUBJECT, 'file');
      await publish(bench, site, { mode: 'async', messages });
    },
    work: async ({ cli, count }, { server }) => {
      const total = count(messages);
      const figures = await cli.bench(server, ['js', ...command, '--stream', STREAM, '--msgs', `${total}`]);
      return { ...figures, messages: total };
    },
  });
}

async function publish({ cli, count }: Bench, { server }: Site, load: PublishLoad): Promise<Work> {
  const messages = count(load.messages);
  const flags = ['--stream', STREAM, '--msgs', `${messages}`, '--size', `${PAYLOAD_BYTES}`, ...(load.more ?? [])];
  return { ...(await cli.bench(server, ['js', 'pub', load.mode, SUBJECT, ...flags])), messages };
}

async function addStream({ server }: Site, name: string, subject: string, storage: string): Promise<void> {
  const connection = await WireConnection.open(server.port);
  try {
    await createStream(connection, { name, subjects: [subject], storage, discard: 'new', max_bytes: STREAM_BYTES_MAX });
  } finally {
    connection.close();
  }
}

async function addStreams(_: Bench, { server }: Site): Promise<void> {
  const connection = await WireConnection.open(server.port);
  try {
    for (let i = 0; i < STREAMS; i++) {
      await createStream(connection, { name: `${STREAM}-${i}`, subjects: [`${SUBJECT}.${i}`], storage: 'file' });
    }
  } finally {
    connection.close();
  }
}

interface StreamConfig {
  readonly name: string;
  readonly subjects: readonly string[];
  readonly storage: string;
  readonly discard?: 'new';
  readonly max_bytes?: number;
}

async function createStream(connection: WireConnection, config: StreamConfig): Promise<void> {
  await connection.request(`$JS.API.STREAM.CREATE.${config.name}`, {
    retention: 'limits',
    duplicate_window: DEDUP_WINDOW_NS,
    allow_direct: true,
    ...config,
  });
}

/** Publishes to each stream in turn and counts the acknowledgements. */
async function publishToMany({ count }: Bench, { server }: Site): Promise<Work> {
  const connection = await WireConnection.open(server.port);
  try {
    const messages = count(4e4);
    const startedMs = performance.now();
    await publishInFlight(connection, messages);
    return { rate: (messages / (performance.now() - startedMs)) * 1000, messages };
  } finally {
    connection.close();
  }
}

/** Resolves when all have been acknowledged; fails on the first that is refused. */
async function publishInFlight(connection: WireConnection, messages: number): Promise<void> {
  const reply = '_INBOX.acks';
  const payload = 'x'.repeat(PAYLOAD_BYTES);
  let sent = 0;
  let acknowledged = 0;
  const send = (count: number): void => {
    let text = '';
    for (let k = 0; k < count && sent < messages; k++) {
      text += `PUB ${SUBJECT}.${sent++ % STREAMS} ${reply} ${PAYLOAD_BYTES}\r\n${payload}\r\n`;
    }
    if (text !== '') connection.send(text);
  };
  connection.send(`SUB ${reply} acks\r\n`);
  const acknowledgements = connection.receive(messages, ALL_ACKS_MS_MAX, (answer) => {
    if (answer.includes('"error"')) throw new Error(answer.toString());
    if (++acknowledged % REFILL === 0) send(REFILL);
  });
  send(IN_FLIGHT);
  await acknowledgements;
}
