/**
 * Asks core requests, one at a time, until it is told to stop: a process of its own, which nothing else keeps busy.
 *
 *     node requester-entry.ts PORT      sends 'ready'; asks from then on until a message comes; sends what each took, in ms
 */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { WireConnection } from './wire-connection.ts';

const ANSWER_MS_MAX = 30_000;
const PAUSE_MS = 0.2;

const port = Number(process.argv[2]);
const [requester, responder] = [await WireConnection.open(port), await WireConnection.open(port)];
responder.send('SUB latency 1\r\n');
responder.onMessage = () => responder.send('PUB _INBOX.latency 2\r\nok\r\n');
await responder.fence();
requester.send('SUB _INBOX.latency 1\r\n');
await requester.fence();

const told = new AbortController();
process.once('message', () => told.abort());
process.send?.('ready');
const timesMs: number[] = [];
while (!told.signal.aborted) {
  const answered = requester.receive(1, ANSWER_MS_MAX);
  const startedMs = performance.now();
  requester.send('PUB latency 2\r\nhi\r\n');
  await answered;
  timesMs.push(performance.now() - startedMs);
  await delay(PAUSE_MS);
}
requester.close();
responder.close();
process.send?.(timesMs);
await once(process, 'disconnect');
