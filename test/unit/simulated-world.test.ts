/** Virtual time, seeded order and randomness of a simulated world, and that one seed gives one history. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Scheduler, SimulationError } from '../../server/io/simulated/scheduler.ts';
import { SeededRandom } from '../../server/io/simulated/seeded-random.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';
import { patterned, SocketRecorder } from './network-recorder.ts';

const seed = fc.nat(2 ** 31);

describe('seeded randomness', () => {
  it('repeats itself for a seed, and differs between seeds and purposes', () => {
    const draw = (random: SeededRandom): number[] => Array.from({ length: 20 }, () => random.uint32());
    fc.assert(
      fc.property(seed, (number) => {
        const first = draw(new SeededRandom(number));
        expect(draw(new SeededRandom(number))).toEqual(first);
        expect(draw(new SeededRandom(number + 1))).not.toEqual(first);
        expect(draw(new SeededRandom(number).fork('a'))).not.toEqual(first);
        expect(draw(new SeededRandom(number).fork('a'))).not.toEqual(draw(new SeededRandom(number).fork('b')));
      }),
    );
  });

  it('forks the same however much was drawn before', () => {
    const random = new SeededRandom(7);
    const fresh = random.fork('disk').uint32();
    for (let i = 0; i < 100; i++) random.fraction();
    expect(random.fork('disk').uint32()).toBe(fresh);
  });

  it('keeps to the ranges asked for, and reaches their ends', () => {
    const random = new SeededRandom(1);
    const draws = Array.from({ length: 3000 }, () => ({
      fraction: random.fraction(),
      below: random.below(5),
      between: random.between(-2, 2),
      magnitude: random.magnitude(64),
      byte: random.bytes(1)[0],
    }));
    const rangeOf = (key: keyof (typeof draws)[0]): number[] => {
      const values = draws.map((each) => Number(each[key]));
      return [Math.min(...values), Math.max(...values)];
    };
    expect(rangeOf('below')).toEqual([0, 4]);
    expect(rangeOf('between')).toEqual([-2, 2]);
    expect(rangeOf('magnitude')).toEqual([1, 64]);
    expect(rangeOf('byte')).toEqual([0, 255]);
    const [least = 1, most = 0] = rangeOf('fraction');
    expect(least).toBeGreaterThanOrEqual(0);
    expect(least).toBeLessThan(0.01);
    expect(most).toBeGreaterThan(0.99);
    expect(most).toBeLessThan(1);
    const heads = draws.filter(() => random.chance(0.25)).length;
    expect(heads / draws.length).toBeCloseTo(0.25, 1);
  });
});

describe('the scheduler', () => {
  it('runs events by time, and those of one time in an order that the seed decides', () => {
    const orderOf = (number: number): string => {
      const scheduler = new Scheduler(number);
      let order = '';
      for (const each of ['a', 'b', 'c', 'd']) scheduler.at(10, null, each, () => (order += each));
      scheduler.at(20, null, 'late', () => (order += '!'));
      scheduler.at(5, null, 'early', () => (order += '?'));
      scheduler.runUntilIdle(1);
      return order;
    };
    const orders = Array.from({ length: 30 }, (_, number) => orderOf(number));
    for (const each of orders) expect(each).toMatch(/^\?[abcd]{4}!$/);
    expect(new Set(orders).size).toBeGreaterThan(5);
    expect(orders.map((_, number) => orderOf(number))).toEqual(orders);
  });

  it('agrees with a sorted list about what is next', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { maxLength: 60 }), (times) => {
        const scheduler = new Scheduler(1);
        const ran: number[] = [];
        for (const time of times) scheduler.at(time, null, 'event', () => ran.push(scheduler.nowUs));
        scheduler.runUntilIdle(1);
        expect(ran).toEqual(times.toSorted((a, b) => a - b));
      }),
    );
  });

  it('ends a turn when everything of its instant has happened, and a turn put behind it comes later', () => {
    const scheduler = new Scheduler(1);
    const order: string[] = [];
    scheduler.at(10, null, 'first', () => {
      scheduler.afterTurn(null, () => {
        order.push(`end of turn at ${scheduler.nowUs}`);
        scheduler.afterTurn(null, () => order.push(`next turn at ${scheduler.nowUs}`));
      });
      scheduler.at(10, null, 'added', () => order.push('added'));
    });
    scheduler.at(10, null, 'second', () => order.push('second'));
    scheduler.at(11, null, 'third', () => order.push('third'));
    scheduler.runUntilIdle(1);
    expect(order.slice(0, 2).sort()).toEqual(['added', 'second']);
    expect(order.slice(2)).toEqual(['end of turn at 10', 'third', 'next turn at 11']);
  });

  it('does not run what was cancelled, nor lets it keep the world busy', () => {
    const scheduler = new Scheduler(1);
    let ran = 0;
    const event = scheduler.after(10, null, 'event', () => ran++);
    event.cancel();
    expect(scheduler.isIdle).toBe(true);
    scheduler.runFor(1);
    expect(ran).toBe(0);
    expect(scheduler.nowMs).toBe(1);
  });

  it('stops at the time asked for, and goes on from there', () => {
    const scheduler = new Scheduler(1);
    const ran: number[] = [];
    for (const time of [999, 1000, 1001]) scheduler.at(time, null, 'event', () => ran.push(time));
    scheduler.runFor(1);
    expect(ran).toEqual([999, 1000]);
    scheduler.runFor(0.001);
    expect(ran).toEqual([999, 1000, 1001]);
  });

  it('names seed and time of a failure, and what happened last', () => {
    const scheduler = new Scheduler(4711);
    scheduler.at(1500, null, 'explosion', () => {
      throw new Error('boom');
    });
    const failure = failureOf(() => scheduler.runFor(10));
    expect(failure).toBeInstanceOf(SimulationError);
    expect(failure.message).toMatch(/^seed 4711, step 1, 1\.5 ms: explosion: boom/);
    expect(failure.message).toContain('1.500 ms explosion');
    expect((failure.cause as Error).message).toBe('boom');
  });

  it('fails when a condition does not come true, and says why', () => {
    const scheduler = new Scheduler(1);
    const wait = (): void => scheduler.runUntil(() => false, 'a miracle', 5);
    expect(failureOf(wait).message).toContain('in vain for a miracle: nothing more would happen');
    const tick = (): unknown => scheduler.after(1000, null, 'tick', tick);
    tick();
    expect(failureOf(wait).message).toContain('in vain for a miracle: 5 ms passed');
    expect(failureOf(() => scheduler.runUntilIdle(5)).message).toContain('everything to come to rest');
  });

  it('ends an endless loop', () => {
    const scheduler = new Scheduler(1, 1000);
    const again = (): void => scheduler.afterTurn(null, again);
    again();
    expect(failureOf(() => scheduler.runFor(1e9)).message).toContain('more than 1000 steps');
  });
});

describe('a simulated process', () => {
  it('has clocks that go with virtual time; wall time can be set', () => {
    const world = new SimulatedWorld(1);
    const machine = world.machine('site');
    const { clock } = machine.start().io;
    const wall = clock.wallMs();
    const monotonic = clock.monotonicMs();
    world.scheduler.runFor(1.5);
    expect(clock.wallMs() - wall).toBeCloseTo(1.5, 3);
    machine.clock.jumpWall(-3_600_000);
    world.scheduler.runFor(1);
    expect(clock.wallMs() - wall).toBeCloseTo(2.5 - 3_600_000, 3);
    expect(clock.monotonicMs() - monotonic).toBeCloseTo(2.5, 3);
  });

  it('has timers that are never early, mostly a little late, and can be cancelled', () => {
    const world = new SimulatedWorld(2);
    const { timers, clock } = world.machine('site').start().io;
    const start = clock.monotonicMs();
    const late: number[] = [];
    for (let i = 0; i < 200; i++) timers.after(i * 0.5, () => late.push(clock.monotonicMs() - start - i * 0.5));
    timers.after(5, () => late.push(Number.NaN)).cancel();
    world.scheduler.runFor(1000);
    expect(late).toHaveLength(200);
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...late)).toBeGreaterThan(1);
  });

  it('knows its host', () => {
    const world = new SimulatedWorld(3);
    world.machine('hub');
    const machine = world.machine('site');
    machine.memoryLimitBytes = 1000;
    const first = machine.start().io.host;
    const second = machine.start().io.host;
    expect([first.name, first.processId, second.processId, first.cores]).toEqual(['site', 1, 2, 2]);
    expect(first.addresses()).toEqual([machine.address]);
    expect(first.memoryLimitBytes()).toBe(1000);
    expect([first.cpuSeconds(), first.collectGarbage()]).toEqual([0, 0]);
    expect(first.residentBytes()).toBeGreaterThan(0);
  });
});

describe('one seed', () => {
  it('gives one history, and another seed another', () => {
    const hashes = [1, 2, 3, 1, 2, 3].map(historyOf);
    expect(hashes.slice(3)).toEqual(hashes.slice(0, 3));
    expect(new Set(hashes).size).toBe(3);
  });
});

/** The hash of a busy little world: sockets, files, timers, a power cut. */
function historyOf(number: number): string {
  const world = new SimulatedWorld(number);
  const hub = world.machine('hub');
  const site = world.machine('site');
  const accepted: SocketRecorder[] = [];
  hub.start().io.network.listen(
    { host: '0.0.0.0', port: 4222 },
    {
      listening: () => undefined,
      accepted: (socket) => {
        const recorder = new SocketRecorder();
        recorder.onData = () => {
          if (recorder.bytesRead === 20_000) socket.write([patterned(5000)]);
        };
        accepted.push(recorder);
        return recorder;
      },
      failed: () => undefined,
    },
  );
  const { network, disk, timers } = site.start().io;
  timers.after(2, () => network.connect({ host: 'hub', port: 4222 }, new SocketRecorder()).write([patterned(20_000)]));
  disk.makeDirectoryNow('/data');
  disk.open('/data/a', 'write-synced', (_, file) => {
    for (let i = 0; i < 10; i++) file?.write(patterned(700), 0, 700, i * 700, () => undefined);
  });
  world.scheduler.runFor(30);
  site.powerCut();
  const kept = site.start().io.disk;
  if (kept.statusNow('/data/a') !== null) {
    world.scheduler.trace.record(world.scheduler.nowUs, kept.readFileNow('/data/a').toString('hex'));
  }
  world.scheduler.runFor(300_000);
  expect(accepted).toHaveLength(1);
  return world.scheduler.trace.hash;
}

function failureOf(run: () => void): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it should have failed');
}
