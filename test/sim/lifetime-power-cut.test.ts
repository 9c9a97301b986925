/**
 * Roll-ups, TTLs and delete markers across power cuts: a message that replaces others is there with all of them gone, or
 * not at all with all of them there; what has a TTL goes in its time, whatever happened meanwhile; nothing else goes.
 */
import { describe, expect, it } from 'vitest';
import type { MessageStore } from '../../jetstream/store/store.ts';
import type { SeededRandom } from '../../server/io/simulated/seeded-random.ts';
import { BatchWorld } from './batch-world.ts';
import { LifetimeLedger, readFound, type Sent } from './lifetime-ledger.ts';
import { replayable, seedsFor } from './seeds.ts';

const CUTS = 4;
const PUBLISHERS = 3;
const SUBJECTS = 4;
const TTL_MAX = 6;
const ACKNOWLEDGED_MIN = 12;
const RUN_MS_MAX = 4000;
const SETTLE_MS = 2000;
const PAUSE_MS_MAX = 60;
const LARGE_BYTES = 60_000;

describe('power cuts while messages replace each other and expire', () => {
  it.each(seedsFor('lifetime-power-cut'))('leave what is due, and nothing else (seed %i)', (seed) => {
    replayable(seed, () => {
      const world = new BatchWorld(seed);
      const markerTtl = seed % 2 === 0 ? 2 : 0;
      const config = { allow_rollup_hdrs: true, allow_msg_ttl: true, subject_delete_marker_ttl: markerTtl * 1e9 };
      world.request('STREAM.CREATE.L', JSON.stringify({ name: 'L', subjects: ['l.>'], ...config }));
      const ledger = new LifetimeLedger();
      for (let cut = 0; cut < CUTS; cut++) {
        for (let i = 0; i < PUBLISHERS; i++) publish(world, ledger, `${cut}-${i}`);
        const enough = ledger.acknowledgedCount + ACKNOWLEDGED_MIN;
        world.until(() => ledger.acknowledgedCount >= enough, 'something to be acknowledged');
        world.world.scheduler.runFor(world.world.random.fraction() * RUN_MS_MAX);
        world.restart();
        expect(faults(world, ledger, markerTtl, 0)).toEqual([]);
        expect(faults(world, ledger, markerTtl, SETTLE_MS)).toEqual([]);
      }
      const forever = ledger.sent.filter(({ ttl }) => ttl === 0).length;
      expect(faults(world, ledger, markerTtl, (TTL_MAX + markerTtl) * 1000 + SETTLE_MS)).toEqual([]);
      expect(storeOf(world).messages).toBeLessThanOrEqual(forever);
      expect(world.log.filter((line) => line.includes('[ERR]'))).toEqual([]);
    });
  });
});

function storeOf(world: BatchWorld): MessageStore {
  const stream = world.server.jetstream?.accounts.get('$G')?.streams.get('L')?.stream;
  if (stream === undefined) throw new Error('the stream is gone');
  return stream.store;
}

/** What is wrong after so many more milliseconds. */
function faults(world: BatchWorld, ledger: LifetimeLedger, markerTtl: number, afterMs: number): string[] {
  if (afterMs > 0) world.world.scheduler.runFor(afterMs);
  const found = readFound(storeOf(world), (condition) => world.until(condition, 'a message to be read'));
  // Right after a start what expired meanwhile may still be there.
  const all = ledger.faults(found, wallMs(world), markerTtl);
  return afterMs > 0 ? all : all.filter((fault) => !fault.includes('outlived'));
}

/** Publishes one message after the other, as a seed decides, until the power goes. */
function publish(world: BatchWorld, ledger: LifetimeLedger, name: string): void {
  const random: SeededRandom = world.world.random.fork(`publisher ${name}`);
  const client = world.client(name);
  const { timers } = world.stream.host.io;
  let count = 0;
  let waiting: Sent | null = null;
  const next = (): void => {
    const id = `${name}/${++count}`;
    const rollsUp = random.chance(0.25) ? (random.chance(0.1) ? 'all' : 'sub') : null;
    // Whether one was stored that takes everything away must be known.
    const ttl = rollsUp !== 'all' && random.chance(0.5) ? random.between(1, TTL_MAX) : 0;
    const subject = `l.${name}.${random.below(SUBJECTS)}`;
    waiting = { id, subject, ttl, rollsUp, sentMs: wallMs(world), sequence: 0 };
    ledger.sent.push(waiting);
    const lines = [rollsUp === null ? '' : `Nats-Rollup: ${rollsUp}`, ttl > 0 ? `Nats-TTL: ${ttl}` : ''].filter(
      (line) => line !== '',
    );
    const headers = lines.length === 0 ? '' : `NATS/1.0\r\n${lines.join('\r\n')}\r\n\r\n`;
    const payload = `${id} ${'.'.repeat(random.below(random.chance(0.1) ? LARGE_BYTES : 200))}`;
    const size = headers.length + payload.length;
    const verb = headers === '' ? `PUB ${subject} R.${name}` : `HPUB ${subject} R.${name} ${headers.length}`;
    client.send(`${verb} ${size}\r\n${headers}${payload}\r\n`);
  };
  client.onMessage = ({ payload }) => {
    const answer = JSON.parse(payload.toString()) as { seq: number; error?: object };
    if (answer.error !== undefined) throw new Error(payload.toString());
    if (waiting !== null) waiting.sequence = answer.seq;
    timers.after(random.fraction() * PAUSE_MS_MAX, next);
  };
  client.subscribe('1', `R.${name}`);
  next();
}

function wallMs(world: BatchWorld): number {
  return world.stream.host.io.clock.wallMs();
}
