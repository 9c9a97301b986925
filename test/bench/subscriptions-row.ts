/**
 * A million literal subscriptions on one connection: what they cost, how long they take, and the rate at which messages
 * to all those subjects, each to another, find their one subscriber.
 *
 * The subscriber only counts bytes. Reading a million messages would be slower than sending them.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../helpers/until.ts';
import type { Sample } from './figures.ts';
import { startMeasured } from './measured-server.ts';
import type { Contender } from './programs.ts';
import type { Bench, Row } from './row.ts';
import { WireConnection } from './wire-connection.ts';

const SUBSCRIPTIONS = 1_000_000;
/** Lines per write. */
const WRITTEN = 5_000;
const QUIET_MS = 2_000;
const DELIVERED_MS_MAX = 60_000;
const PAYLOAD = 'hi';
/** Primes: the subjects are published to in an order that is far from the one in which they were subscribed to. */
const TOKEN_STRIDE = 7_919;
const ORDER_STRIDE = 104_729;

export const SUBSCRIPTIONS_ROW: Row = {
  name: 'subscriptions',
  title: 'literal subscriptions on one connection, and a message to each',
  table: 'own',
  roundsMax: 2,
  needsDisk: false,
  measure,
};

async function measure({ count }: Bench, contender: Contender): Promise<Sample> {
  const total = count(SUBSCRIPTIONS);
  const server = await startMeasured(contender, { jetstream: null });
  try {
    const { usage } = server;
    const [subscriber, publisher] = [await WireConnection.open(server.port), await WireConnection.open(server.port)];
    await delay(QUIET_MS);
    const idleMb = usage.residentMb();
    const subscribingMs = performance.now();
    await sendAll(subscriber, total, (index) => `SUB ${subjectOf(index)} ${index}\r\n`);
    await subscriber.fence();
    const subscribeS = (performance.now() - subscribingMs) / 1000;
    await delay(QUIET_MS);
    const loadedMb = usage.residentMb();

    let missingBytes = deliveredBytes(total);
    subscriber.onBytes = (bytes) => (missingBytes -= bytes);
    const cpuBefore = usage.cpuSeconds();
    const publishingMs = performance.now();
    const text = (index: number): string =>
      `PUB ${subjectOf((index * ORDER_STRIDE) % total)} ${PAYLOAD.length}\r\n${PAYLOAD}\r\n`;
    await sendAll(publisher, total, text);
    await publisher.fence();
    await until(() => missingBytes <= 0, 'all messages to be delivered', DELIVERED_MS_MAX);
    const rate = total / ((performance.now() - publishingMs) / 1000);
    const cpuUs = ((usage.cpuSeconds() - cpuBefore) / total) * 1e6;

    const bytesPerSubscription = ((loadedMb - idleMb) * 2 ** 20) / total;
    const peakMb = usage.peakResidentMb();
    subscriber.close();
    publisher.close();
    return { idleMb, loadedMb, bytesPerSubscription, peakMb, subscribeS, rate, cpuUs };
  } finally {
    await server.stop();
  }
}

async function sendAll(connection: WireConnection, total: number, line: (index: number) => string): Promise<void> {
  for (let at = 0; at < total; at += WRITTEN) {
    let text = '';
    for (let index = at; index < Math.min(total, at + WRITTEN); index++) text += line(index);
    await connection.sendPaced(text);
  }
}

function subjectOf(index: number): string {
  return `device.${index}.command.${(index * TOKEN_STRIDE) % 1_000}`;
}

/** What the subscriber gets when each subject has had one message. */
function deliveredBytes(total: number): number {
  let bytes = 0;
  for (let index = 0; index < total; index++) {
    bytes += `MSG ${subjectOf(index)} ${index} ${PAYLOAD.length}\r\n${PAYLOAD}\r\n`.length;
  }
  return bytes;
}
