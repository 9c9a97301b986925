/** The batches under way of a stream: how many there may be, and that one that nobody adds to is over after a while. */
import { beforeEach, describe, expect, it } from 'vitest';
import { BatchTable, type BatchUse, type TimedBatch } from '../../jetstream/stream/batch-table.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';

const LATENESS_MS_MAX = 40;

class Counted implements TimedBatch {
  readonly id: string;
  usedMs = 0;
  ends = 0;

  constructor(id: string) {
    this.id = id;
  }

  ended(): void {
    this.ends++;
  }
}

describe('a table of batches', () => {
  let world: SimulatedWorld;
  let use: BatchUse;
  let table: BatchTable<Counted>;

  function newTable(): BatchTable<Counted> {
    const { io } = world.machine('other').start();
    return new BatchTable(io, use, 'atomicBatches', { inFlightMax: 3, serverMax: 5, timeoutMs: 10_000 });
  }

  function added(to: BatchTable<Counted>, ...ids: string[]): Counted[] {
    return ids.map((id) => {
      const batch = new Counted(id);
      to.add(batch);
      return batch;
    });
  }

  beforeEach(() => {
    world = new SimulatedWorld(1);
    use = { atomicBatches: 0, fastBatches: 0, stagedBytes: 0 };
    const { io } = world.machine('m').start();
    table = new BatchTable(io, use, 'atomicBatches', { inFlightMax: 3, serverMax: 5, timeoutMs: 10_000 });
  });

  it('is full with so many batches, here or on the server', () => {
    added(table, 'a', 'b');
    expect(table.isFull).toBe(false);
    added(table, 'c');
    expect(table.isFull).toBe(true);
    const other = newTable();
    added(other, 'a');
    expect([other.isFull, use.atomicBatches]).toEqual([false, 4]);
    added(other, 'b');
    expect([other.isFull, other.size, use.atomicBatches]).toEqual([true, 2, 5]);
    table.clear();
    expect([other.isFull, table.isFull, table.size, use.atomicBatches]).toEqual([false, false, 0, 2]);
  });

  it('ends each batch once', () => {
    const [a, b] = added(table, 'a', 'b') as [Counted, Counted];
    table.drop(a);
    table.drop(a);
    table.clear();
    table.clear();
    expect([a.ends, b.ends, use.atomicBatches]).toEqual([1, 1, 0]);
    expect(table.find('a')).toBeUndefined();
  });

  it('abandons a batch when nobody has added to it for its time', () => {
    const [a, b] = added(table, 'a', 'b') as [Counted, Counted];
    world.scheduler.runFor(6_000);
    table.touch(b);
    world.scheduler.runFor(4_000 + LATENESS_MS_MAX);
    expect([a.ends, b.ends, use.atomicBatches]).toEqual([1, 0, 1]);
    world.scheduler.runFor(5_000);
    expect(table.find('b')).toBe(b);
    world.scheduler.runFor(1_000 + LATENESS_MS_MAX);
    expect([b.ends, table.size]).toEqual([1, 0]);
  });

  it('does not find a batch whose time is over, however late the timer is', () => {
    const machine = world.machine('late');
    const process = machine.start();
    const late = new BatchTable<Counted>(process.io, use, 'fastBatches', {
      inFlightMax: 3,
      serverMax: 5,
      timeoutMs: 100,
    });
    const [a] = added(late, 'a') as [Counted];
    process.pause(60_000);
    world.scheduler.runFor(99);
    expect(late.find('a')).toBe(a);
    world.scheduler.runFor(1);
    expect(late.find('a')).toBeUndefined();
    expect([a.ends, use.fastBatches]).toEqual([1, 0]);
  });

  it('leaves nothing to happen when it is empty', () => {
    added(table, 'a');
    table.clear();
    expect(world.scheduler.isIdle).toBe(true);
  });
});
