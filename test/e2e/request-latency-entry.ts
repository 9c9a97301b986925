/**
 * Measures how long core requests take, as a process of its own, which nothing else keeps busy: to each of the servers
 * in turn, so that what else happens on the machine meets all alike. Requester and responder are two connections.
 *
 *     node request-latency-entry.ts COUNT HOST:PORT...      writes COUNT milliseconds for each server, as JSON
 */
import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { setTimeout as delay } from 'node:timers/promises';

const SUBJECT = 'latency';
const WARM_UP = 50;
const TIMEOUT_MS = 5_000;
const PAUSE_MS = 1;

const [count, ...addresses] = process.argv.slice(2);
const connections: NatsConnection[] = [];
const requesters: NatsConnection[] = [];
for (const servers of addresses) {
  const responder = await connect({ servers });
  responder.subscribe(SUBJECT, { callback: (_, message) => void message.respond(message.data) });
  await responder.flush();
  const requester = await connect({ servers });
  requesters.push(requester);
  connections.push(responder, requester);
}

const milliseconds: number[][] = requesters.map(() => []);
for (let round = -WARM_UP; round < Number(count); round++) {
  for (const [index, requester] of requesters.entries()) {
    const began = performance.now();
    await requester.request(SUBJECT, 'ping', { timeout: TIMEOUT_MS });
    if (round >= 0) milliseconds[index]?.push(performance.now() - began);
  }
  await delay(PAUSE_MS);
}
for (const connection of connections) await connection.close();
process.stdout.write(JSON.stringify(milliseconds));
