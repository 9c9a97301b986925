/**
 * A whole JetStream server under mixed load, through several lives that end with the power or by kill: streams of each
 * retention, pull and push consumers, buckets, batches, TTLs, removals, a stream that is made again and again. Some seeds
 * have a disk that fails at times, bits that flip in cold blocks, or a clock that is set.
 *
 * Nothing acknowledged is lost, nothing that was confirmed as done comes back, nothing of a deleted stream is in the one
 * that follows, no id is stored twice, order is kept.
 */
import { describe, expect, it } from 'vitest';
import { MixedRun } from './mixed-run.ts';
import { replayable, seedsFor } from './seeds.ts';

describe('a server under mixed load', () => {
  it.each(seedsFor('mixed-load'))('keeps what it promised (seed %i)', (seed) => {
    replayable(seed, () => {
      const run = new MixedRun(seed);
      run.run();
      expect(run.faults).toEqual([]);
    });
  });
});
