/**
 * Batches and power cuts: publishers send atomic and fast batches and single messages, the power goes in the middle, and
 * what is there afterwards is whole batches only, and everything that was acknowledged.
 */
import { describe, expect, it } from 'vitest';
import { BatchLedger, readAll } from './batch-ledger.ts';
import { BatchWorld } from './batch-world.ts';
import { replayable, seedsFor } from './seeds.ts';

const CUTS = 3;
const PUBLISHERS = 3;
const ACKNOWLEDGED_MIN = 8;
const RUN_MS_MAX = 100;

describe('power cuts while batches are published', () => {
  it.each(seedsFor('batch-power-cut'))('leave no part of a batch and lose nothing acknowledged (seed %i)', (seed) => {
    replayable(seed, () => {
      const world = new BatchWorld(seed);
      const ledger = new BatchLedger();
      for (let cut = 0; cut < CUTS; cut++) {
        world.watch();
        for (let i = 0; i < PUBLISHERS; i++) world.publisher(ledger);
        const enough = ledger.acknowledgedCount + ACKNOWLEDGED_MIN;
        world.until(() => ledger.acknowledgedCount >= enough, 'something to be acknowledged');
        world.world.scheduler.runFor(world.world.random.fraction() * RUN_MS_MAX);
        world.restart();
        const { store } = world.stream;
        const messages = readAll(store, (condition) => world.until(condition, 'a message to be read'));
        expect(ledger.faults(messages)).toEqual([]);
        expect(messages.length).toBe(store.messages);
      }
      expect(world.log.filter((line) => line.includes('[ERR]'))).toEqual([]);
    });
  });
});
