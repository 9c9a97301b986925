/**
 * Dead letters and power cuts: a worker acknowledges some messages, terminates some and leaves some alone until they are
 * exhausted; the power goes in the middle. Whatever it did not handle has one dead letter in the end.
 */
import { describe, expect, it } from 'vitest';
import { RecordView } from '../../jetstream/store/record.ts';
import type { Consumer } from '../../jetstream/consumer/consumer.ts';
import type { StreamEntry } from '../../jetstream/api/stream-entry.ts';
import { BatchWorld } from './batch-world.ts';
import { replayable, seedsFor } from './seeds.ts';
import type { ReceivedMessage, SimulatedClient } from './simulated-client.ts';

const CUTS = 3;
const MESSAGES_PER_LIFE = 20;
const LIFE_MS_MAX = 1500;
const WORKER = {
  stream_name: 'ORDERS',
  config: {
    name: 'worker',
    durable_name: 'worker',
    ack_policy: 'explicit',
    ack_wait: 100_000_000,
    max_deliver: 2,
    metadata: { 'petiole.dead_letter_subject': 'dead.orders' },
  },
};
const PULL = '{"batch":5,"expires":500000000}';
const ACTIONS = ['+ACK', '+TERM broken', ''] as const;

describe('power cuts while messages become dead letters', () => {
  it.each(seedsFor('dead-letter-power-cut'))('leave one letter of each that nobody handled (seed %i)', (seed) => {
    replayable(seed, () => {
      const world = new BatchWorld(seed);
      world.createStream('ORDERS');
      world.createStream('DEAD');
      world.request('CONSUMER.CREATE.ORDERS.worker', JSON.stringify(WORKER));
      const stored = new Set<string>();
      for (let life = 0; life <= CUTS; life++) {
        work(world.client(`worker ${life}`));
        publish(world.client(`publisher ${life}`), life, stored);
        if (life === CUTS) break;
        world.world.scheduler.runFor(world.world.random.fraction() * LIFE_MS_MAX);
        world.restart();
      }
      world.until(() => stored.size > 0 && isDone(world), 'all messages to be done');
      const letters = lettersIn(world);
      const unhandled = [...stored].filter((payload) => actionFor(payload) !== '+ACK');
      expect(letters.filter((payload) => actionFor(payload) !== '+ACK').sort()).toEqual(
        expect.arrayContaining(unhandled.sort()),
      );
      expect(new Set(letters).size).toBe(letters.length);
    });
  });
});

/** What the worker does about a message: it depends on its number alone. */
function actionFor(payload: string): (typeof ACTIONS)[number] {
  return ACTIONS[Number(payload.split('.')[1]) % ACTIONS.length] ?? '';
}

/** Publishes; what is acknowledged is noted. */
function publish(client: SimulatedClient, life: number, stored: Set<string>): void {
  client.subscribe('1', 'published.>');
  client.onMessage = ({ subject, payload }) => {
    if (payload.includes('"seq"')) stored.add(subject.slice('published.'.length));
  };
  for (let count = 0; count < MESSAGES_PER_LIFE; count++) {
    const payload = `${life}.${count}`;
    client.send(`PUB orders.new published.${payload} ${payload.length}\r\n${payload}\r\n`);
  }
}

/** Asks for messages again and again. */
function work(client: SimulatedClient): void {
  const pull = (): void =>
    client.send(`PUB $JS.API.CONSUMER.MSG.NEXT.ORDERS.worker work ${PULL.length}\r\n${PULL}\r\n`);
  let left = 0;
  client.subscribe('1', 'work');
  client.onMessage = ({ headers, payload, reply }: ReceivedMessage) => {
    const isStatus = headers.startsWith('NATS/1.0 ');
    const action = isStatus ? '' : actionFor(payload.toString());
    if (action !== '') client.send(`PUB ${reply} ${action.length}\r\n${action}\r\n`);
    left--;
    if (!isStatus && left > 0) return;
    left = 5;
    pull();
  };
  left = 5;
  pull();
}

function orders(world: BatchWorld): { entry: StreamEntry; consumer: Consumer } {
  const entry = world.server.jetstream?.accounts.get('$G')?.streams.get('ORDERS');
  const consumer = entry?.consumers.get('worker');
  if (entry === undefined || consumer === undefined) throw world.world.scheduler.failure('the consumer is gone');
  return { entry, consumer };
}

/** Nothing is to be delivered, and nothing waits for an acknowledgement or for its letter to be stored. */
function isDone(world: BatchWorld): boolean {
  const { entry, consumer } = orders(world);
  const { state } = consumer;
  return state.nextStream > entry.stream.store.appendedSequence && state.pending.size === 0;
}

/** The payloads of all dead letters. */
function lettersIn(world: BatchWorld): string[] {
  const store = world.server.jetstream?.accounts.get('$G')?.streams.get('DEAD')?.stream.store;
  if (store === undefined) throw world.world.scheduler.failure('the stream of dead letters is gone');
  const view = new RecordView(Buffer.alloc(0));
  const letters: string[] = [];
  for (let sequence = store.firstSequence; sequence <= store.lastSequence; sequence++) {
    let outcome = store.read(sequence, view);
    if (outcome === 'loading') {
      let isThere = false;
      store.whenReadable(sequence, () => (isThere = true));
      world.until(() => isThere, 'a letter to be read');
      outcome = store.read(sequence, view);
    }
    if (outcome === 'found') letters.push(view.buffer.toString('latin1', view.payloadStart, view.end));
  }
  return letters;
}
