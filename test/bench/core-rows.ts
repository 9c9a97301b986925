/** Core publish and subscribe, and requests: one `nats bench` sends, another receives. */
import { setInterval } from 'node:timers';
import type { MeasuredServer } from './measured-server.ts';
import { messageRow } from './message-row.ts';
import type { Site, Work } from './message-row.ts';
import type { Bench, Row } from './row.ts';
import { WireConnection } from './wire-connection.ts';

interface FanOut {
  readonly messages: number;
  readonly bytes: number;
  readonly publishers?: number;
  readonly subscribers?: number;
  /** Each message on the next of 100,000 subjects; the subscriber takes all of them. */
  readonly isMultiSubject?: boolean;
}

const SUBJECT = 'bench.a';

/** So many inboxes come and go each time, and so often. */
const CHURN_INBOXES = 50;
const CHURN_MS = 10;

export const CORE_ROWS: readonly Row[] = [
  messageRow({
    name: 'core-pub-16',
    title: 'publishing 16 B that nobody subscribes to',
    work: async ({ cli, count }, { server }) => {
      const messages = count(4e6);
      return { ...(await cli.bench(server, ['pub', SUBJECT, '--msgs', `${messages}`, '--size', '16'])), messages };
    },
  }),
  fanOutRow('core-1x1-16', '1 publisher, 1 subscriber, 16 B', { messages: 2e6, bytes: 16 }),
  fanOutRow('core-1x1-1k', '1 publisher, 1 subscriber, 1 KiB', { messages: 5e5, bytes: 1024 }),
  fanOutRow('core-1x4-128', '1 publisher, 4 subscribers, 128 B', { messages: 1e6, bytes: 128, subscribers: 4 }),
  fanOutRow('core-200x1-64', '200 publishers, 1 subscriber, 64 B', { messages: 1e6, bytes: 64, publishers: 200 }),
  fanOutRow('core-100k-subjects', '100,000 subjects under one wildcard, 16 B', {
    messages: 1e6,
    bytes: 16,
    isMultiSubject: true,
  }),
  messageRow({
    name: 'core-1x1-churn',
    title: '1 x 1, 16 B, while 5,000 inboxes a second come and go',
    work: async (bench, { server }) => {
      const stop = await churn(server);
      try {
        return await fanOut(bench, server, server, { messages: 2e6, bytes: 16 });
      } finally {
        stop();
      }
    },
  }),
  requestRow('request-1', 'request and reply, 1 client', 1, 3e4),
  requestRow('request-10', 'request and reply, 10 clients', 10, 1e5),
];

/** Messages from publishers at one server to subscribers at the same or another; counted where they arrive. */
export async function fanOut(
  bench: Bench,
  from: MeasuredServer,
  to: MeasuredServer,
  { messages, bytes, publishers = 1, subscribers = 1, isMultiSubject = false }: FanOut,
  whenSubscribed: () => Promise<void> = async () => undefined,
): Promise<Work> {
  const count = bench.count(messages);
  const shared = ['--msgs', `${count}`, '--size', `${bytes}`, ...(isMultiSubject ? ['--multisubject'] : [])];
  const listening = await bench.cli.listen(to, subscribers, ['sub', SUBJECT, '--clients', `${subscribers}`, ...shared]);
  try {
    await whenSubscribed();
    await bench.cli.bench(from, ['pub', SUBJECT, '--clients', `${publishers}`, ...shared]);
    return { rate: (await listening.figures).rate, messages: count * subscribers };
  } finally {
    await listening.stop();
  }
}

function fanOutRow(name: string, title: string, load: FanOut): Row {
  return messageRow({ name, title, work: (bench, { server }) => fanOut(bench, server, server, load) });
}

function requestRow(name: string, title: string, clients: number, requests: number): Row {
  const work = async ({ cli, count }: Bench, { server }: Site): Promise<Work> => {
    const messages = count(requests);
    const service = await cli.listen(server, 1, ['service', 'serve', 'bench.service', '--size', '16']);
    try {
      const shared = ['--msgs', `${messages}`, '--size', '16', '--clients', `${clients}`];
      return { ...(await cli.bench(server, ['service', 'request', 'bench.service', ...shared])), messages };
    } finally {
      await service.stop();
    }
  };
  return messageRow({ name, title, waits: true, work });
}

/** Subscribes and unsubscribes inboxes until the returned function is called. */
async function churn(server: MeasuredServer): Promise<() => void> {
  const connection = await WireConnection.open(server.port);
  let sid = 0;
  const timer = setInterval(() => {
    let text = '';
    for (let k = 0; k < CHURN_INBOXES; k++) text += `SUB _INBOX.churn.${++sid} ${sid}\r\nUNSUB ${sid}\r\n`;
    connection.send(text);
  }, CHURN_MS);
  return () => {
    clearInterval(timer);
    connection.close();
  };
}
