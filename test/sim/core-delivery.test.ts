/**
 * The core under an ordinary day's trouble: clients that publish and subscribe at their own pace, with pauses, hang up
 * in the middle, break, come back; streams cut into pieces of any size.
 */
import { describe, expect, it } from 'vitest';
import type { SeededRandom } from '../../server/io/simulated/seeded-random.ts';
import type { SimulatedMachine } from '../../server/io/simulated/simulated-machine.ts';
import { DeliveryLedger } from './delivery-ledger.ts';
import { replayable, seedsFor } from './seeds.ts';
import type { SimulatedClient } from './simulated-client.ts';
import { CoreWorld } from './world.ts';

const STEADY_CLIENTS = 4;
const FLAKY_CLIENTS = 2;
const DURATION_MS = 3000;
const BURSTS = 12;
const BURST_MAX = 20;
const TOKENS = ['a', 'b', 'c'];
const MIB = 1024 * 1024;

class Day {
  readonly core: CoreWorld;
  readonly ledger = new DeliveryLedger();
  readonly steady: SimulatedClient[] = [];
  private readonly random: SeededRandom;
  private readonly machines: SimulatedMachine[];
  private flakyCount = 0;
  private isOver = false;

  constructor(seed: number) {
    this.core = new CoreWorld(seed, { maxPendingBytes: 16 * MIB });
    this.random = this.core.random;
    this.machines = ['east', 'west'].map((name) => this.core.world.machine(name));
  }

  run(): void {
    for (let i = 0; i < STEADY_CLIENTS; i++) this.steady.push(this.arrive(`steady-${i}`, true));
    this.core.fence(this.steady);
    for (let i = 0; i < FLAKY_CLIENTS; i++) this.comeAndGo();
    for (const each of this.steady) this.publishInBursts(each);
    this.core.world.scheduler.runFor(DURATION_MS);
    this.isOver = true;
    // First what was published has to have come to the server, then what it sent has to have arrived.
    this.core.fence(this.core.clients);
    this.core.fence(this.core.clients);
  }

  private arrive(name: string, isSteady: boolean): SimulatedClient {
    const { random } = this;
    const client = this.core.client(random.pick(this.machines), name, {
      headers: random.chance(0.7),
      echo: random.chance(0.7),
      stopChance: random.pick([0, 0, 0.1, 0.5]),
      stopMsMax: random.pick([2, 30]),
    });
    this.ledger.watch(client);
    const count = random.between(1, 5);
    for (let sid = 1; sid <= count; sid++) {
      this.ledger.subscribe({
        client,
        sid: String(sid),
        pattern: this.pattern(),
        queueGroup: random.chance(0.3) ? random.pick(['workers', 'others']) : '',
        max: isSteady && random.chance(0.1) ? random.between(1, 50) : 0,
        isComplete: isSteady,
      });
    }
    return client;
  }

  private publishInBursts(client: SimulatedClient): void {
    for (let i = 0; i < BURSTS; i++) this.later(DURATION_MS, () => this.publishBurst(client));
  }

  private publishBurst(client: SimulatedClient): void {
    const { random } = this;
    const count = random.between(1, BURST_MAX);
    for (let i = 0; i < count; i++) {
      const bytes = random.magnitude(random.chance(0.02) ? 200_000 : 2000);
      this.ledger.publish(client, this.subject(), bytes, random.chance(0.3) && client.options.headers);
    }
  }

  /** A client that hangs up in one way or another, and is followed by the next one. */
  private comeAndGo(): void {
    const { random, core } = this;
    if (this.isOver) return;
    const client = this.arrive(`flaky-${this.flakyCount++}`, false);
    for (let i = 0; i < 4; i++) this.later(DURATION_MS / 3, () => this.publishBurst(client));
    this.later(DURATION_MS / 2, () => {
      const way = random.below(3);
      if (way === 0) client.end();
      else if (way === 1) client.destroy();
      else client.send('UNKNOWN\r\n');
      core.world.scheduler.after(random.below(100_000), null, 'next client', () => this.comeAndGo());
    });
  }

  private later(withinMs: number, run: () => void): void {
    this.core.world.scheduler.after(this.random.fraction() * withinMs * 1000, null, 'client acts', run);
  }

  private subject(): string {
    return Array.from({ length: this.random.between(1, 3) }, () => this.random.pick(TOKENS)).join('.');
  }

  private pattern(): string {
    const tokens = Array.from({ length: this.random.between(1, 3) }, () => {
      return this.random.chance(0.25) ? '*' : this.random.pick(TOKENS);
    });
    return [...tokens, ...(this.random.chance(0.25) ? ['>'] : [])].join('.');
  }
}

describe('an ordinary day', () => {
  const seeds = seedsFor('core-delivery');

  it.each(seeds)('what is published is delivered, whole, in order and once, seed %i', (seed) => {
    replayable(seed, () => {
      const day = new Day(seed);
      day.run();
      expect(day.ledger.verdict((client) => day.steady.includes(client))).toEqual([]);
      expect(day.steady.map(({ isClosed, errors }) => ({ isClosed, errors }))).toEqual(
        day.steady.map(() => ({ isClosed: false, errors: [] })),
      );
      expect(day.ledger.deliveries).toBeGreaterThan(100);
      day.core.close();
    });
  });
});

describe('the same seed', () => {
  it('gives the same history of the core, another seed another', () => {
    const hashes = [21, 22, 21, 22].map((seed) => {
      const day = new Day(seed);
      day.run();
      return day.core.world.scheduler.trace.hash;
    });
    expect(hashes.slice(2)).toEqual(hashes.slice(0, 2));
    expect(hashes[0]).not.toBe(hashes[1]);
  });
});
