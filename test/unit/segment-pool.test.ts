/** Segments that hold nothing any more are gone, closed and removed, when the log is closed. */
import { expect, it } from 'vitest';
import { SegmentPool } from '../../jetstream/store/segment-pool.ts';
import type { Segment } from '../../jetstream/store/segment.ts';
import type { IoError } from '../../server/io/io.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';
import { DiskWatch } from '../helpers/store-checked-disk.ts';
import { SMALL_SIZES } from '../helpers/store-site.ts';

const NEXT_LSN = 1000;

it('a segment on which something is in flight is closed and removed before the log is closed', () => {
  const world = new SimulatedWorld(1);
  const machine = world.machine('site');
  const watch = new DiskWatch();
  const io = watch.watch(machine.start().io);
  io.disk.makeDirectoryNow('/log');
  const pool = new SegmentPool(io, '/log', 'write-synced', SMALL_SIZES, []);
  const errors: (IoError | null)[] = [];
  const taken = (_: Segment, error: IoError | null): void => void errors.push(error);
  pool.take(0, taken);
  world.scheduler.runUntilIdle(1000);
  pool.take(NEXT_LSN, taken);
  world.scheduler.runUntilIdle(1000);
  pool.noteRoom(0);
  world.scheduler.runUntilIdle(1000);
  expect(io.disk.readDirectoryNow('/log')).toEqual(['000000.seg', '000001.seg', '000002.seg']);

  machine.disk.faults.rates.slowSync = 1;
  let isNoted = false;
  pool.noteNewest(() => (isNoted = true));
  machine.disk.faults.rates.slowSync = 0;
  pool.releaseBelow(NEXT_LSN);
  let isClosed = false;
  pool.close(() => (isClosed = true));
  world.scheduler.runUntil(() => isClosed, 'the log to close', 10_000);
  expect({ errors, isNoted, open: watch.open }).toEqual({ errors: [null, null], isNoted: true, open: [] });
  expect(io.disk.readDirectoryNow('/log')).toEqual(['000001.seg', '000002.seg']);
  world.scheduler.runUntilIdle(1000);
  expect(watch.mistakes).toEqual([]);
});
