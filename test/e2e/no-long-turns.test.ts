/**
 * The one thread that serves everybody is never busy with one thing for long: while a stream is filled, listed, purged
 * message by message, compacted and purged whole, and while /connz lists thousands of connections with all that they
 * subscribe to. What is measured is the CPU time of single turns of the event loop, and not the time that passes, so that
 * other work on the machine does not matter; design says 5 ms, of which a test that runs anywhere allows several.
 *
 * MESSAGES and CONNECTIONS in the environment ask for other sizes: 1000000 and 5000 are those of the promise.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { WireConnection } from '../bench/wire-connection.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';
import type { TurnReport } from './turn-length-entry.ts';

const MESSAGES = Number(process.env['MESSAGES'] ?? 200_000);
const CONNECTIONS = Number(process.env['CONNECTIONS'] ?? 500);
const SUBSCRIPTIONS = 10;
/** On a machine of any speed, and with a collection of garbage on top. */
const TURN_MS_MAX = 100;
const SUBJECTS = 1000;
const WRITTEN = 2000;
const DONE_MS = 120_000;
const COMPACTION_MS = 4000;
const PAYLOAD = 'x'.repeat(100);
/** Many files and connections at once. */
const DIALLED = 100;

it('no turn is long, whatever is done at the same time', { timeout: DONE_MS * 2 }, async () => {
  const { child, port, monitorPort } = await startMeasured();
  const client = await WireConnection.open(port);
  onTestFinished(() => client.close());
  await client.request('$JS.API.STREAM.CREATE.MANY', { name: 'MANY', subjects: ['many.>'] });
  const turns: Record<string, TurnReport> = {};
  const during = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    await report(child);
    await work();
    turns[what] = await report(child);
  };

  await during('publishing', () => publish(client));
  await during('listing subjects', () =>
    client.request('$JS.API.STREAM.INFO.MANY', { subjects_filter: '>', deleted_details: true }),
  );
  await during('purging one of two messages', () =>
    client.request('$JS.API.STREAM.PURGE.MANY', { filter: 'many.1.*' }),
  );
  await during('compacting', () => new Promise((resolve) => setTimeout(resolve, COMPACTION_MS)));
  await during('listing removed messages', () => client.request('$JS.API.STREAM.INFO.MANY', { deleted_details: true }));
  await during('purging the rest', () => client.request('$JS.API.STREAM.PURGE.MANY', {}));
  await during('connecting', () => connectCrowd(port));
  await during('/connz?subs=detail', async () => {
    const url = `http://127.0.0.1:${monitorPort}/connz?subs=detail&sort=bytes_to&limit=${CONNECTIONS}`;
    const { connections } = (await (await fetch(url)).json()) as { connections: unknown[] };
    expect(connections).toHaveLength(CONNECTIONS);
  });

  console.info(JSON.stringify(turns, null, 1));
  const long = Object.entries(turns).filter(([, { longestMs }]) => longestMs > TURN_MS_MAX);
  expect(long).toEqual([]);
});

async function startMeasured(): Promise<{ child: ChildProcess; port: number; monitorPort: number }> {
  const root = join(import.meta.dirname, '../..');
  const child = fork(join(import.meta.dirname, 'turn-length-entry.ts'), [temporaryDirectory()], {
    execPath: join(root, 'node_modules/.bin/node'),
    execArgv: [],
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const [ports] = (await once(child, 'message')) as [{ port: number; monitorPort: number }];
  return { child, ...ports };
}

/** What the turns were since the last report. */
async function report(child: ChildProcess): Promise<TurnReport> {
  const answer = once(child, 'message');
  child.send('report');
  const [turns] = (await answer) as [TurnReport];
  return turns;
}

/** Half of the messages go to subjects of one kind, half to the other. */
async function publish(client: WireConnection): Promise<void> {
  for (let at = 0; at < MESSAGES; at += WRITTEN) {
    let text = '';
    for (let i = at; i < Math.min(at + WRITTEN, MESSAGES); i++) {
      text += `PUB many.${i % 2}.${i % SUBJECTS} ${PAYLOAD.length}\r\n${PAYLOAD}\r\n`;
    }
    await client.sendPaced(text);
  }
  await client.fence();
  await until(
    async () => (await client.request('$JS.API.STREAM.INFO.MANY', {})).state?.messages === MESSAGES,
    'all messages to be stored',
    DONE_MS,
  );
}

async function connectCrowd(port: number): Promise<void> {
  let lines = '';
  for (let i = 0; i < SUBSCRIPTIONS; i++) lines += `SUB crowd.of.many.subscribers.${i} ${i + 1}\r\n`;
  for (let at = 0; at < CONNECTIONS - 1; at += DIALLED) {
    const next = Math.min(DIALLED, CONNECTIONS - 1 - at);
    const dialled = await Promise.all(Array.from({ length: next }, () => WireConnection.open(port)));
    for (const each of dialled) {
      onTestFinished(() => each.close());
      each.send(lines);
    }
    await Promise.all(dialled.map((each) => each.fence()));
  }
}
