/** Reads a whole stream of readings with a consumer and compares it with what the publishers know. */
import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect } from 'vitest';
import { readingOf } from './reading-publisher.ts';
import type { ReadingPublisher } from './reading-publisher.ts';

const CONSUMER = 'audit';
const FETCH_MESSAGES = 500;
const FETCH_MS = 5_000;
const DIFFERENCES_SHOWN = 10;

/** A reading as it is in the stream, or as it was acknowledged. */
interface Stored {
  readonly number: number;
  readonly sequence: number;
}

/**
 * Every acknowledged reading is in the stream under the sequence of its acknowledgement, each once, those of a publisher
 * in the order of their numbers, and nothing else is there.
 */
export async function expectAllReadings(
  connection: NatsConnection,
  stream: string,
  publishers: readonly ReadingPublisher[],
): Promise<void> {
  const found = await readAll(connection, stream);
  expect([...found.keys()].toSorted()).toEqual(publishers.map(({ name }) => name).toSorted());
  for (const { name, published, sequences } of publishers) {
    const acknowledged = Array.from({ length: published }, (_, number) => sequences.get(number) ?? -1);
    expect(differences(acknowledged, found.get(name) ?? [])).toEqual([]);
  }
}

/** In words, the first of the differences: a whole stream is too much to show. */
function differences(acknowledged: readonly number[], found: readonly Stored[]): readonly string[] {
  const different: string[] = [];
  for (let i = 0; i < Math.max(acknowledged.length, found.length) && different.length < DIFFERENCES_SHOWN; i++) {
    const { number, sequence } = found[i] ?? { number: 'nothing', sequence: 'nothing' };
    if (number === i && sequence === acknowledged[i]) continue;
    different.push(`${i} was acknowledged as ${acknowledged[i]}; in its place is ${number}, at ${sequence}`);
  }
  return different;
}

/** The readings in the order in which a consumer hands them out, by publisher. */
async function readAll(connection: NatsConnection, stream: string): Promise<Map<string, Stored[]>> {
  const manager = await jetstreamManager(connection);
  const { state } = await manager.streams.info(stream);
  await manager.consumers.add(stream, { durable_name: CONSUMER, ack_policy: AckPolicy.Explicit });
  const consumer = await jetstream(connection).consumers.get(stream, CONSUMER);
  const found = new Map<string, Stored[]>();
  let last = 0;
  for (let left = state.messages; left > 0;) {
    const before = left;
    for await (const message of await consumer.fetch({ max_messages: FETCH_MESSAGES, expires: FETCH_MS })) {
      const { publisher, number } = readingOf(message.string());
      if (message.seq <= last) throw new Error(`message ${message.seq} came after ${last}`);
      last = message.seq;
      if (!found.has(publisher)) found.set(publisher, []);
      found.get(publisher)?.push({ number, sequence: message.seq });
      message.ack();
      if (--left === 0) break;
    }
    if (left === before) throw new Error(`${left} messages behind ${last} did not come`);
  }
  expect(last).toBe(state.last_seq);
  return found;
}
