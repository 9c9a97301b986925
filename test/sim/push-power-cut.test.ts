/**
 * A push consumer while its listeners come and go, it is paused and moved to another subject, and the power goes: what was
 * acknowledged, and confirmed, never comes back; what was not, comes until it is; and nothing comes out of order.
 */
import { describe, expect, it } from 'vitest';
import type { Consumer } from '../../jetstream/consumer/consumer.ts';
import type { SeededRandom } from '../../server/io/simulated/seeded-random.ts';
import { BatchWorld } from './batch-world.ts';
import { PushLedger, PushListener } from './push-listener.ts';
import { replayable, seedsFor } from './seeds.ts';

const CUTS = 3;
const CONFIRMED_MIN = 15;
const RUN_MS_MAX = 100;
const MESSAGE_BYTES_MAX = 200_000;
const CHANGE_MS_MAX = 150;

describe('power cuts while messages are pushed', () => {
  it.each(seedsFor('push-power-cut'))('lose nothing and bring nothing back (seed %i)', (seed) => {
    replayable(seed, () => {
      const world = new BatchWorld(seed);
      const { random } = world.world;
      const ledger = new PushLedger();
      const group = random.pick(['', 'g']);
      const config = {
        durable_name: 'C',
        ack_policy: 'explicit',
        ack_wait: random.between(20, 200) * 1e6,
        deliver_subject: 'd.1',
        deliver_group: group,
        max_ack_pending: random.pick([-1, 1, 10]),
        idle_heartbeat: 100e6,
        flow_control: random.chance(0.7),
      };
      world.request('CONSUMER.CREATE.S.C', JSON.stringify({ stream_name: 'S', config }));
      for (let cut = 0; cut < CUTS; cut++) {
        const listeners = startListeners(world, ledger, group, cut);
        publish(world, random.fork(`publisher ${cut}`));
        change(world, random.fork(`changes ${cut}`), config);
        const enough = ledger.confirmed.size + CONFIRMED_MIN;
        world.until(() => ledger.confirmed.size >= enough || ledger.faults.length > 0, 'messages to be confirmed');
        world.world.scheduler.runFor(random.fraction() * RUN_MS_MAX);
        expect(ledger.faults).toEqual([]);
        expect(listeners.length).toBeGreaterThan(0);
        world.restart();
        ledger.restarted();
      }
      // With listeners that stay, everything is confirmed in the end.
      for (const listener of startListeners(world, ledger, group, CUTS)) listener.settle();
      world.request('CONSUMER.PAUSE.S.C', '{}');
      const { lastSequence } = world.stream.store;
      const consumer = consumerOf(world);
      world.until(
        () => ledger.faults.length > 0 || (consumer.numPending === 0 && consumer.state.pending.size === 0),
        'everything to be acknowledged',
      );
      expect(ledger.faults).toEqual([]);
      expect(consumer.state.ackFloor.stream).toBe(lastSequence);
      expect(world.log.filter((line) => line.includes('[ERR]'))).toEqual([]);
    });
  });
});

function startListeners(world: BatchWorld, ledger: PushLedger, group: string, life: number): PushListener[] {
  // Listeners to each subject that the consumer may deliver to; of a group, several.
  const subjects = group === '' ? ['d.1', 'd.2'] : ['d.1', 'd.1', 'd.2'];
  return subjects.map((subject, at) => {
    const random = world.world.random.fork(`listener ${life} ${at}`);
    const listener = new PushListener(world.client(`listener-${at}`), random, ledger, [subject, group], (ms, run) => {
      world.after(ms, run);
    });
    listener.begin();
    return listener;
  });
}

/** Publishes for as long as the server lives, without waiting for answers. */
function publish(world: BatchWorld, random: SeededRandom): void {
  const client = world.client('publisher');
  const next = (): void => {
    if (client.isClosed) return;
    const bytes = random.chance(0.1) ? random.between(0, MESSAGE_BYTES_MAX) : random.between(0, 200);
    client.send(`PUB s.${random.between(1, 3)} ${bytes}\r\n${'.'.repeat(bytes)}\r\n`);
    world.after(random.between(1, 10), next);
  };
  next();
}

/** Pauses, resumes and moves the consumer now and then; that it may not be moved while it is heard is not an error here. */
function change(world: BatchWorld, random: SeededRandom, config: object): void {
  const client = world.client('operator');
  const ask = (request: string, body: object): void => {
    const text = JSON.stringify(body);
    client.send(`PUB $JS.API.${request} ${text.length}\r\n${text}\r\n`);
  };
  const next = (): void => {
    if (client.isClosed) return;
    if (random.chance(0.5)) {
      const untilMs = world.machine.clock.wallMs() + random.between(-50, 60);
      ask('CONSUMER.PAUSE.S.C', { pause_until: new Date(untilMs).toISOString() });
    } else {
      const wanted = { ...config, deliver_subject: random.pick(['d.1', 'd.2']) };
      ask('CONSUMER.CREATE.S.C', { stream_name: 'S', config: wanted });
    }
    world.after(random.between(1, CHANGE_MS_MAX), next);
  };
  next();
}

function consumerOf(world: BatchWorld): Consumer {
  const consumer = world.server.jetstream?.accounts.get('$G')?.streams.get('S')?.consumers.get('C');
  if (consumer === undefined) throw world.world.scheduler.failure('the consumer is gone');
  return consumer;
}
