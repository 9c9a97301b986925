/** Handshakes of strangers get a part of the thread, in short turns; who comes late gets in; who stays long goes. */
import { describe, expect, it } from 'vitest';
import { type Handshake, HandshakeQueue } from '../../server/connection/handshake-queue.ts';
import type { Clock, Timers } from '../../server/io/io.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';

const COST_MS = 0.125;
const CREDIT_MS_MAX = 2;
const GOING_MAX = 256;
const GRACE_MS = 250;

class Fixture {
  private readonly world = new SimulatedWorld(1);
  private readonly io = this.world.machine('hub').start().io;
  /** What handshakes have taken, which the simulated clock knows nothing of. */
  private spentMs = 0;
  private readonly clock: Clock = {
    wallMs: () => this.io.clock.wallMs(),
    monotonicMs: () => this.io.clock.monotonicMs() + this.spentMs,
  };
  readonly timers: Timers = this.io.timers;
  readonly queue = new HandshakeQueue({ clock: this.clock, timers: this.timers });
  /** In the order in which they went on. */
  readonly gone: Stranger[] = [];

  add(count: number): Stranger[] {
    const all = Array.from({ length: count }, () => new Stranger(this));
    for (const each of all) this.queue.add(each);
    return all;
  }

  takesTime(stranger: Stranger): void {
    this.gone.push(stranger);
    this.spentMs += COST_MS;
  }

  runFor(ms: number): void {
    this.world.scheduler.runFor(ms);
  }
}

class Stranger implements Handshake {
  isOver = false;
  isGivenUp = false;
  private readonly fixture: Fixture;

  constructor(fixture: Fixture) {
    this.fixture = fixture;
  }

  goOn(): void {
    this.fixture.takesTime(this);
  }

  giveUp(): void {
    this.isGivenUp = true;
    this.isOver = true;
  }

  end(): void {
    this.isOver = true;
    this.fixture.queue.ended(this);
  }
}

describe('the queue of handshakes', () => {
  it('lets one go on at once, and of many no more than a short turn takes', () => {
    const fixture = new Fixture();
    fixture.add(1);
    expect(fixture.gone).toHaveLength(1);
    fixture.add(100);
    expect(fixture.gone).toHaveLength(CREDIT_MS_MAX / COST_MS);
  });

  it('leaves others a third of the time at least', () => {
    const fixture = new Fixture();
    fixture.add(GOING_MAX);
    fixture.runFor(50);
    const part = (fixture.gone.length * COST_MS) / (50 + fixture.gone.length * COST_MS);
    expect(part).toBeGreaterThan(0.2);
    expect(part).toBeLessThan(2 / 3);
    fixture.runFor(1_000);
    expect(fixture.gone).toHaveLength(GOING_MAX);
  });

  it('takes the oldest first when few wait, the newest when very many do', () => {
    const few = new Fixture();
    const fewOnes = few.add(100);
    few.runFor(1_000);
    expect(few.gone).toEqual(fewOnes);

    const many = new Fixture();
    many.add(1_100);
    const before = many.gone.length;
    const [late] = many.add(1);
    many.runFor(10);
    expect(many.gone.indexOf(late as Stranger)).toBe(before);
  });

  it('skips those that have ended, wherever they wait, and forgets them', () => {
    const fixture = new Fixture();
    const all = fixture.add(300);
    const waiting = all.filter((each) => !fixture.gone.includes(each));
    const kept = waiting[150] as Stranger;
    for (const each of waiting) if (each !== kept) each.end();
    const before = fixture.gone.length;
    fixture.runFor(100);
    expect(fixture.gone.slice(before)).toEqual([kept]);
  });

  it('has room for so many, and gives up the one that goes on for longest after its time of grace', () => {
    const fixture = new Fixture();
    const first = fixture.add(GOING_MAX);
    fixture.runFor(100);
    expect(fixture.gone).toEqual(first);
    const [late, later] = fixture.add(2);
    fixture.runFor(GRACE_MS / 5);
    expect(fixture.gone).not.toContain(late);
    expect(first.filter(({ isGivenUp }) => isGivenUp)).toEqual([]);
    fixture.runFor(GRACE_MS);
    expect(fixture.gone.slice(GOING_MAX)).toEqual([later, late]);
    expect(first.filter(({ isGivenUp }) => isGivenUp)).toEqual(first.slice(0, 2));
  });

  it('fills a place that becomes free at once', () => {
    const fixture = new Fixture();
    const first = fixture.add(GOING_MAX);
    fixture.runFor(100);
    const [late] = fixture.add(1);
    first[5]?.end();
    fixture.runFor(1);
    expect(fixture.gone.at(-1)).toBe(late);
    expect(first.some(({ isGivenUp }) => isGivenUp)).toBe(false);
  });
});
