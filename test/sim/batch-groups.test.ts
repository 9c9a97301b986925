/**
 * Groups of messages in a store: appended among single messages, removals and purges, with large messages and across
 * batches of the log, while checkpoints are taken, and ended by power cuts, kills and orderly ends. What is there
 * afterwards is whole groups, less what somebody removed, and everything that was ever visible.
 */
import { describe, expect, it } from 'vitest';
import type { StoreSizes } from '../../jetstream/store/store-sizes.ts';
import type { SeededRandom } from '../../server/io/simulated/seeded-random.ts';
import { messageOf, readStored, sequencesOf } from '../helpers/store-messages.ts';
import { SMALL_SIZES, StoreSite } from '../helpers/store-site.ts';
import { replayable, seedsFor } from './seeds.ts';

const LIVES = 4;
const STEPS_PER_LIFE = 60;
/** Segments hold a whole batch of the log, and few of them; blocks are small. */
const SIZES: StoreSizes = { ...SMALL_SIZES, segmentBytesMin: 640 * 1024, segmentBytesMax: 1280 * 1024 };

interface Group {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  isTold: boolean;
}

class GroupScenario {
  readonly site: StoreSite;
  private readonly random: SeededRandom;
  private groups: Group[] = [];
  /** Messages whose removal was asked for, and below which sequence everything was. */
  private readonly removed = new Set<number>();
  private purgedBelow = 0;
  private names = 0;
  private clock = 1;

  constructor(seed: number) {
    this.site = new StoreSite(seed, { sizes: SIZES });
    this.random = this.site.world.random;
    this.site.open();
    this.site.putStream('S');
    this.watch();
  }

  live(): void {
    for (let step = 0; step < STEPS_PER_LIFE; step++) this.step();
  }

  /** Ends the process one way or another, and starts the next. */
  die(): void {
    const { site, random } = this;
    const end = random.pick(['cut', 'cut', 'kill', 'close'] as const);
    if (end === 'cut') site.cut();
    else if (end === 'kill') site.kill();
    else site.close();
    site.open();
    this.watch();
  }

  /** What is wrong with what is there. */
  faults(): string[] {
    const { store } = this;
    const settle = (): void => this.site.settle();
    settle();
    const present = new Map<number, string>();
    for (const sequence of sequencesOf(store, settle)) {
      present.set(sequence, readStored(store, sequence, settle)?.payload.split(' ', 1)[0] ?? '');
    }
    const faults: string[] = [];
    for (const { name, first, last, isTold } of this.groups) {
      const missing: number[] = [];
      for (let each = first; each <= last; each++) if (present.get(each) !== name) missing.push(each);
      const isThere = isTold || missing.length <= last - first;
      const unexplained = missing.filter((each) => !this.removed.has(each) && each >= this.purgedBelow);
      if (isThere && unexplained.length > 0) {
        faults.push(`${name}, ${first} to ${last}${isTold ? ', visible once' : ''}, lacks ${unexplained.join(', ')}`);
      }
    }
    if (store.lost > 0) faults.push(`${store.lost} messages are lost`);
    // What was not there in the end never was: its sequences are given anew.
    this.groups = this.groups.filter(({ last }) => last <= store.lastSequence);
    for (const each of this.removed) if (each > store.lastSequence) this.removed.delete(each);
    return faults;
  }

  private get store(): ReturnType<StoreSite['stream']>['fileStore'] {
    return this.site.stream('S').fileStore;
  }

  private watch(): void {
    const subject = this.site.stream('S');
    // Which removals it hears of is tested elsewhere.
    subject.removed = () => undefined;
    subject.onStored = (_from, to) => {
      for (const group of this.groups) {
        if (group.last <= to) group.isTold = true;
        else if (group.first <= to) throw new Error(`${group.name} is visible up to ${to} of ${group.last}`);
      }
    };
  }

  private step(): void {
    const { random, site } = this;
    const choice = random.fraction();
    if (choice < 0.45) this.appendGroup(this.groupBytes());
    else if (choice < 0.6) this.append(`single${++this.names}`, random.pick([10, 10, 10, 40_000]));
    else if (choice < 0.7) this.remove();
    else if (choice < 0.73) this.purge();
    else if (choice < 0.97) site.world.scheduler.runFor(random.fraction() * 8);
    else site.settle();
  }

  private remove(): void {
    const { random, store } = this;
    if (store.messages === 0) return;
    const sequence = random.between(store.firstSequence, store.lastSequence);
    if (store.remove(sequence)) this.removed.add(sequence);
  }

  private purge(): void {
    const below = this.random.between(this.store.firstSequence, this.store.lastSequence + 1);
    this.store.purgeBelow(below);
    this.purgedBelow = Math.max(this.purgedBelow, below);
  }

  /** Sizes of the messages of a group; sometimes more than a batch of the log holds, sometimes with large ones. */
  private groupBytes(): number[] {
    const { random } = this;
    if (random.chance(0.08)) return Array.from({ length: random.between(25, 40) }, () => 20_000);
    const largeChance = random.pick([0, 0, 0.3]);
    return Array.from({ length: random.between(1, 12) }, () =>
      random.chance(largeChance) ? 40_000 : random.below(400),
    );
  }

  private appendGroup(sizes: readonly number[]): void {
    const { store } = this;
    const name = `group${++this.names}`;
    const first = store.appendedSequence + 1;
    store.beginGroup();
    for (const bytes of sizes) this.append(name, bytes);
    store.endGroup();
    this.groups.push({ name, first, last: store.appendedSequence, isTold: false });
  }

  private append(name: string, bytes: number): void {
    const time = { seconds: 1000 + Math.floor(this.clock / 1000), nanoseconds: this.clock++ % 1000 };
    this.store.append(messageOf(`s.${this.names % 3}`, `${name} `.padEnd(bytes, '.')), time);
  }
}

describe('groups of messages in a store', () => {
  it.each(seedsFor('batch-groups'))('are there whole or not at all (seed %i)', (seed) => {
    replayable(seed, () => {
      const scenario = new GroupScenario(seed);
      for (let life = 0; life < LIVES; life++) {
        scenario.live();
        scenario.die();
        expect(scenario.faults()).toEqual([]);
      }
    });
  });
});
