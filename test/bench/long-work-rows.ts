/**
 * How long core requests take while the server has something large to do: a million messages are removed, what is left of
 * a stream is compacted, and 5,000 connections are listed with all that they subscribe to. One requester asks one
 * responder, one request at a time, in a process that does nothing else, so that it is the server that they wait for.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { request as requestPage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../helpers/free-port.ts';
import { until } from '../helpers/until.ts';
import type { Sample } from './figures.ts';
import { startMeasured } from './measured-server.ts';
import type { MeasuredServer } from './measured-server.ts';
import type { Contender } from './programs.ts';
import type { Bench, Row } from './row.ts';
import { WireConnection } from './wire-connection.ts';

const MESSAGES = 1_000_000;
const SUBJECTS = 1_000;
const PAYLOAD = 'x'.repeat(128);
/** Lines per write. */
const WRITTEN = 2_000;
const STORED_MS_MAX = 120_000;

const CONNECTIONS = 5_000;
const SUBSCRIPTIONS = 10;
const DIALLED = 100;
const PAGES = 5;

/** Removed messages are compacted in the background, a while after they went. */
const COMPACTION_MS = 5_000;
/** Requests before anything is asked of the server, and after. */
const AROUND_MS = 200;

export const LONG_WORK_ROWS: readonly Row[] = [
  longWorkRow('requests-during-purge', 'requests while a million messages are purged', async (bench, site) => {
    const { client } = site;
    await fill(bench, client);
    return async () => {
      await client.request('$JS.API.STREAM.PURGE.MANY', {});
    };
  }),
  longWorkRow(
    'requests-during-compaction',
    'requests while a stream loses half of its messages',
    async (bench, site) => {
      const { client } = site;
      await fill(bench, client);
      return async () => {
        await client.request('$JS.API.STREAM.PURGE.MANY', { filter: 'many.1.*' });
        await delay(COMPACTION_MS);
      };
    },
  ),
  longWorkRow('requests-during-connz', 'requests while 5,000 connections are listed', async ({ count }, site) => {
    await connectCrowd(site, count(CONNECTIONS));
    return async () => {
      for (let page = 0; page < PAGES; page++) await readConnz(site.monitorPort, count(CONNECTIONS));
    };
  }),
];

interface Site {
  readonly server: MeasuredServer;
  readonly monitorPort: number;
  /** Loads the server, and has no part in the requests. */
  readonly client: WireConnection;
  readonly crowd: WireConnection[];
}

/** `prepare` loads the server, and gives what is done while requests are measured. */
function longWorkRow(
  name: string,
  title: string,
  prepare: (bench: Bench, site: Site) => Promise<() => Promise<void>>,
): Row {
  const measure = async (bench: Bench, contender: Contender): Promise<Sample> => {
    const monitorPort = await freePort();
    const server = await startMeasured(contender, { more: `http: "127.0.0.1:${monitorPort}"` });
    const opened: WireConnection[] = [];
    try {
      const client = await WireConnection.open(server.port);
      opened.push(client);
      const work = await prepare(bench, { server, monitorPort, client, crowd: opened });
      return await requestsDuring(server, work);
    } finally {
      for (const each of opened) each.close();
      await server.stop();
    }
  };
  return { name, title, table: 'own', roundsMax: 3, needsDisk: true, measure };
}

/** Has another process ask until the work is done. */
async function requestsDuring(server: MeasuredServer, work: () => Promise<void>): Promise<Sample> {
  const child = fork(join(import.meta.dirname, 'requester-entry.ts'), [String(server.port)]);
  try {
    await once(child, 'message');
    await delay(AROUND_MS);
    await work();
    await delay(AROUND_MS);
    const answered = once(child, 'message');
    child.send('stop');
    const [timesMs] = (await answered) as [number[]];
    const sorted = timesMs.toSorted((a, b) => a - b);
    const at = (part: number): number => (sorted[Math.floor(sorted.length * part)] ?? 0) * 1000;
    return { p50Us: at(0.5), p99Us: at(0.99), p999Us: at(0.999), longestUs: (sorted.at(-1) ?? 0) * 1000 };
  } finally {
    child.kill();
  }
}

/** Half of the messages go to subjects of one kind, half to the other. */
async function fill({ count }: Bench, client: WireConnection): Promise<void> {
  const total = count(MESSAGES);
  await client.request('$JS.API.STREAM.CREATE.MANY', { name: 'MANY', subjects: ['many.>'] });
  for (let at = 0; at < total; at += WRITTEN) {
    let text = '';
    for (let i = at; i < Math.min(at + WRITTEN, total); i++) {
      text += `PUB many.${i % 2}.${i % SUBJECTS} ${PAYLOAD.length}\r\n${PAYLOAD}\r\n`;
    }
    await client.sendPaced(text);
    // More than a server takes on at a time is refused by some.
    await client.request('$JS.API.STREAM.INFO.MANY', {});
  }
  const stored = async (): Promise<boolean> => {
    const { state } = await client.request('$JS.API.STREAM.INFO.MANY', {});
    return state?.messages === total;
  };
  await until(stored, 'all messages to be stored', STORED_MS_MAX);
}

async function connectCrowd({ server, crowd }: Site, total: number): Promise<void> {
  let lines = '';
  for (let i = 0; i < SUBSCRIPTIONS; i++) lines += `SUB crowd.of.many.subscribers.${i} ${i + 1}\r\n`;
  for (let at = 0; at < total; at += DIALLED) {
    const next = Math.min(DIALLED, total - at);
    const dialled = await Promise.all(Array.from({ length: next }, () => WireConnection.open(server.port)));
    crowd.push(...dialled);
    for (const each of dialled) each.send(lines);
    await Promise.all(dialled.map((each) => each.fence()));
  }
}

/** Reads the page and looks only at how much of it there is. */
function readConnz(port: number, limit: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const path = `/connz?subs=detail&sort=bytes_to&limit=${limit}`;
    const asked = requestPage({ host: '127.0.0.1', port, path }, (page) => {
      let bytes = 0;
      page.on('data', (piece: Buffer) => (bytes += piece.length));
      page.on('end', () => {
        if (page.statusCode === 200 && bytes > limit) resolve();
        else reject(new Error(`/connz answered ${page.statusCode} with ${bytes} bytes`));
      });
      page.on('error', reject);
    });
    asked.on('error', reject);
    asked.end();
  });
}
