/**
 * A store through several lives that end by closing, by kill or with the power, on a disk that fails as the seed says:
 * nothing acknowledged is lost, nothing settled comes back, no sequence is given twice.
 */
import { describe, expect, it } from 'vitest';
import { type Fault, type RunOptions, StoreRun } from '../helpers/store-run.ts';
import { replayable, seedsFor } from './seeds.ts';

const LIVES = 4;
const ACTIONS = 60;
const FAULTS: readonly Fault[] = [
  'write errors',
  'sync errors',
  'short writes',
  'read errors',
  'slow syncs',
  'full disk',
];

const plays: readonly (readonly [string, RunOptions])[] = [
  ['and the disk is sound', { faults: [], lives: LIVES, actions: ACTIONS }],
  ['and the disk fails at times', { faults: FAULTS, lives: LIVES, actions: ACTIONS }],
  ['and the disk is full when it starts', { faults: [], lives: LIVES, actions: ACTIONS, fullStarts: true }],
  ['and bits flip in between', { faults: [], lives: LIVES, actions: ACTIONS, flips: 3 }],
];

describe.each(plays)('a store whose power is cut %s', (name, options) => {
  it.each(seedsFor(`store-power-cut, ${name}`))('keeps what it acknowledged (seed %i)', (seed) => {
    replayable(seed, () => {
      const run = new StoreRun(seed, options);
      run.run();
      expect(run.watch.mistakes).toEqual([]);
    });
  });
});
