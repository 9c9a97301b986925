/** When a spool takes what a hub wants to hear for whole. */
import { describe, expect, it } from 'vitest';
import { Settling } from '../../jetstream/spool/settling.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';
import type { SpooledLink } from '../../server/ports.ts';

class Scene {
  readonly world = new SimulatedWorld(1);
  readonly settling: Settling;
  /** When interest was taken for whole, in milliseconds. */
  readonly settledMs: number[] = [];
  /** When who was there before was there again. */
  readonly readyMs: number[] = [];
  isBack = true;
  private readonly fences: (() => void)[] = [];

  constructor() {
    const { io } = this.world.machine('petiole').start();
    const now = (): number => Math.round(this.world.scheduler.nowMs);
    this.settling = new Settling(io, {
      isBack: () => this.isBack,
      ready: () => this.readyMs.push(now()),
      settled: () => this.settledMs.push(now()),
    });
  }

  begin(): void {
    const fence = (done: () => void): void => void this.fences.push(done);
    this.settling.begin({ fence } as Partial<SpooledLink> as SpooledLink);
  }

  answer(): void {
    this.fences.shift()?.();
  }

  /** Lets time pass; timers are a little late. */
  pass(ms: number): void {
    this.world.scheduler.runFor(ms);
  }
}

describe('what a hub wants to hear', () => {
  it('is whole when the hub has answered and nothing came for a second', () => {
    const scene = new Scene();
    scene.begin();
    scene.answer();
    scene.pass(900);
    expect(scene.settling.isSettled).toBe(false);
    scene.pass(300);
    expect(scene.settling.isSettled).toBe(true);
    expect(scene.settledMs).toHaveLength(1);
  });

  it('is not while somebody is missing who was there before, and who is back is not kept waiting', () => {
    const scene = new Scene();
    scene.isBack = false;
    scene.begin();
    scene.answer();
    scene.pass(4000);
    expect([scene.readyMs, scene.settledMs]).toEqual([[], []]);
    scene.isBack = true;
    scene.settling.told();
    scene.pass(300);
    expect(scene.readyMs).toHaveLength(1);
    expect(scene.settledMs).toEqual([]);
    scene.pass(1000);
    expect(scene.settledMs).toHaveLength(1);
  });

  it('is whole in the end though somebody does not come back', () => {
    const scene = new Scene();
    scene.isBack = false;
    scene.begin();
    scene.answer();
    scene.pass(29_000);
    expect(scene.readyMs).toEqual([]);
    scene.pass(1500);
    expect([scene.readyMs, scene.settledMs].map((each) => each.length)).toEqual([1, 1]);
  });

  it('is not while the rest may be on its way', () => {
    const scene = new Scene();
    scene.begin();
    scene.answer();
    for (let i = 0; i < 10; i++) {
      scene.pass(700);
      scene.settling.told();
    }
    expect(scene.settling.isSettled).toBe(false);
    scene.pass(1300);
    expect(scene.settling.isSettled).toBe(true);
  });

  it('is not while the hub is silent, and is as soon as it answers', () => {
    const scene = new Scene();
    scene.begin();
    scene.pass(10_000);
    expect(scene.settling.isSettled).toBe(false);
    scene.answer();
    expect(scene.settledMs).toEqual([10_000]);
  });

  it('is taken for whole in the end where it never rests', () => {
    const scene = new Scene();
    scene.begin();
    scene.answer();
    for (let i = 0; i < 100 && !scene.settling.isSettled; i++) {
      scene.pass(500);
      scene.settling.told();
    }
    expect(scene.settledMs[0]).toBeGreaterThanOrEqual(30_000);
    expect(scene.settledMs[0]).toBeLessThan(31_000);
  });

  it('is looked at again a second after each change', () => {
    const scene = new Scene();
    scene.begin();
    scene.answer();
    scene.pass(1500);
    scene.settling.told();
    scene.settling.told();
    scene.pass(1500);
    expect(scene.settledMs).toHaveLength(2);
  });

  it('is nothing of the next link, nor told when that is over', () => {
    const scene = new Scene();
    scene.begin();
    scene.settling.cancel();
    scene.begin();
    scene.answer();
    scene.pass(5000);
    expect(scene.settledMs).toEqual([]);
    scene.answer();
    expect(scene.settledMs).toHaveLength(1);
    scene.settling.told();
    scene.settling.cancel();
    scene.pass(5000);
    expect(scene.settledMs).toHaveLength(1);
  });
});
