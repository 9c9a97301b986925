/**
 * Work queues and interest while the power goes: what a consumer acknowledged, and heard that this counts, never comes
 * back and is not kept; what somebody still waits for is never lost.
 */
import { describe, expect, it } from 'vitest';
import type { MessageStore } from '../../jetstream/store/store.ts';
import { visitMessages } from '../helpers/store-messages.ts';
import { BatchWorld } from './batch-world.ts';
import { RetentionPublisher, RetentionWorker } from './retention-actors.ts';
import { RetentionLedger, type WantedStream } from './retention-ledger.ts';
import { replayable, seedsFor } from './seeds.ts';

const CUTS = 4;
const CONFIRMED_MIN = 20;
const RUN_MS_MAX = 100;
const SETTLE_MS = 50;

const STREAMS: readonly WantedStream[] = [
  { name: 'Q', isWorkQueue: true, consumers: { qa: ['q.a'], qb: ['q.b'] } },
  { name: 'I', isWorkQueue: false, consumers: { ia: ['i.a'], iab: ['i.a', 'i.b'] } },
];

describe('power cuts while messages are worked on', () => {
  it.each(seedsFor('retention-power-cut'))('lose nothing awaited and bring nothing back (seed %i)', (seed) => {
    replayable(seed, () => {
      const world = new BatchWorld(seed);
      const ledgers = STREAMS.map((stream) => new RetentionLedger(stream));
      for (const stream of STREAMS) makeStream(world, stream);
      for (let cut = 0; cut < CUTS; cut++) {
        for (const ledger of ledgers) startActors(world, ledger, cut);
        const enough = ledgers.map(({ confirmedCount }) => confirmedCount + CONFIRMED_MIN);
        world.until(
          () => ledgers.every(({ confirmedCount }, at) => confirmedCount >= (enough[at] as number)),
          'messages to be worked on',
        );
        world.world.scheduler.runFor(world.world.random.fraction() * RUN_MS_MAX);
        world.restart();
        world.world.scheduler.runFor(SETTLE_MS);
        for (const ledger of ledgers) {
          const store = storeOf(world, ledger.stream.name);
          ledger.check(heldBy(world, store), store.lastSequence);
          expect(ledger.faults).toEqual([]);
        }
      }
      expect(world.log.filter((line) => line.includes('[ERR]'))).toEqual([]);
    });
  });
});

function makeStream(world: BatchWorld, { name, isWorkQueue, consumers }: WantedStream): void {
  const retention = isWorkQueue ? 'workqueue' : 'interest';
  world.request(`STREAM.CREATE.${name}`, JSON.stringify({ name, subjects: [`${name.toLowerCase()}.>`], retention }));
  for (const [consumer, filter_subjects] of Object.entries(consumers)) {
    const config = { durable_name: consumer, ack_policy: 'explicit', ack_wait: 50_000_000, filter_subjects };
    const body = JSON.stringify({ stream_name: name, config });
    world.request(`CONSUMER.DURABLE.CREATE.${name}.${consumer}`, body);
  }
}

function startActors(world: BatchWorld, ledger: RetentionLedger, cut: number): void {
  const { name, consumers } = ledger.stream;
  const random = world.world.random.fork(`actors ${name} ${cut}`);
  new RetentionPublisher(world.client(`p${name}`), random, ledger, `p${name}`).begin();
  for (const consumer of Object.keys(consumers)) {
    const worker = new RetentionWorker(world.client(consumer), random, ledger, consumer, (ms, run) => {
      world.after(ms, run);
    });
    worker.begin();
  }
}

function storeOf(world: BatchWorld, name: string): MessageStore {
  const entry = world.server.jetstream?.accounts.get('$G')?.streams.get(name);
  if (entry === undefined) throw world.world.scheduler.failure(`${name} is gone`);
  return entry.stream.store;
}

/** Subjects by sequence. */
function heldBy(world: BatchWorld, store: MessageStore): Map<number, string> {
  const held = new Map<number, string>();
  const wait = (condition: () => boolean): void => world.until(condition, 'a message to be read');
  visitMessages(store, wait, ({ sequence, subject }) => held.set(sequence, subject));
  return held;
}
