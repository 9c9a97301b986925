/**
 * One run of the mixed load in a simulated world, through several lives. What goes wrong besides ends, how large files are
 * and what the load is like depends on the seed. It ends with the first audit that finds something.
 */
import { STORE_SIZES } from '../../jetstream/store/store-sizes.ts';
import type { LoadSite } from '../helpers/load-link.ts';
import { MixedLoad } from '../helpers/mixed-load.ts';
import { SMALL_SIZES } from '../helpers/store-site.ts';
import { LoadWorld } from './load-world.ts';

const LIVES = 3;
const PROGRESS_MIN = 4;
const RUN_MS_MAX = 80;
const TROUBLE_MS_MAX = 100;
const DOWN_MS_MAX = 3000;
/** After a start nobody can tell a clock that was set forward from time that went by: ids are to stay in their window. */
const FORWARD_MS_MAX = 8000;
const BACK_MS_MAX = 86_400_000;
const SETTLE_MS = 2000;
const FAULTS_SHOWN = 8;

export class MixedRun {
  readonly world: LoadWorld;
  readonly load: MixedLoad;
  readonly hasTrouble: boolean;
  readonly hasFlips: boolean;
  readonly hasJumps: boolean;

  constructor(seed: number) {
    const sizes = seed % 4 === 0 ? STORE_SIZES : SMALL_SIZES;
    this.world = new LoadWorld(seed, sizes);
    const { random } = this.world;
    this.hasTrouble = random.chance(0.5);
    this.hasFlips = random.chance(0.25);
    this.hasJumps = random.chance(0.25);
    this.load = new MixedLoad({
      publishers: random.between(1, 2),
      workers: random.between(1, 2),
      pullBatchMax: 20,
      inFlightMax: random.pick([1, 4, 12]),
      pauseMsMax: random.pick([20, 100, 300]),
      ttlChance: random.pick([0, 0.1]),
      ackWaitMs: random.pick([20, 100, 500]),
      keptMessages: random.pick([20, 100]),
    });
  }

  run(): void {
    this.setUp();
    for (let life = 0; life < LIVES && this.isFine; life++) this.live();
    if (this.isFine) this.finish();
  }

  private setUp(): void {
    const { world, load } = this;
    for (const each of load.ledgers) each.mayRefuse = this.hasTrouble;
    let isSetUp = false;
    load.setUp(world.start(), () => (isSetUp = true));
    world.until(() => isSetUp, 'the streams to be made');
    world.end();
  }

  private finish(): void {
    const { world, load } = this;
    const site = world.start();
    this.audit(site, false);
    if (!this.isFine) return;
    load.begin(site);
    load.finish(site);
    world.until(() => load.isDone || !this.isFine, 'everything to be worked off');
    world.runFor(SETTLE_MS);
    if (this.isFine) this.audit(site, true);
    if (this.isFine) load.checkAllSeen(site);
  }

  private get isFine(): boolean {
    return this.load.faults.length === 0;
  }

  private live(): void {
    const { world, load } = this;
    const { random } = world;
    const site = world.start();
    this.audit(site, false);
    if (!this.isFine) return;
    load.begin(site);
    const enough = load.progress + PROGRESS_MIN;
    world.until(() => load.progress >= enough || !this.isFine, 'the load to get on');
    if (this.hasTrouble) this.trouble();
    if (this.hasJumps && random.chance(0.5)) this.jump();
    world.runFor(random.fraction() * RUN_MS_MAX);
    world.end();
    if (this.hasFlips) this.flip();
    world.runFor(random.fraction() ** 3 * DOWN_MS_MAX);
    if (this.hasJumps && random.chance(0.2)) this.jump();
    load.restarted();
  }

  private trouble(): void {
    const { world } = this;
    const { random } = world;
    for (let count = random.between(1, 3); count > 0; count--) {
      world.trouble();
      world.runFor(random.fraction() * TROUBLE_MS_MAX);
      // The end may come in the middle of it.
      if (random.chance(0.3)) return;
      world.heal();
      world.runFor(random.fraction() * TROUBLE_MS_MAX);
    }
  }

  private jump(): void {
    const { world, load } = this;
    for (const each of load.ledgers) each.isClockTrusted = false;
    const { random } = world;
    const jumpMs = random.chance(0.5) ? random.magnitude(FORWARD_MS_MAX) : -random.magnitude(BACK_MS_MAX);
    world.machine.clock.jumpWall(jumpMs);
  }

  private flip(): void {
    const { world, load } = this;
    for (let count = world.random.below(4); count > 0; count--) {
      const cost = world.flip(load.ledgers.map(({ stream }) => stream.name));
      const ledger = load.ledgers.find(({ stream }) => stream.name === cost?.stream);
      if (cost !== null) ledger?.damaged(cost.sequence);
    }
  }

  private audit(site: LoadSite, isSettled: boolean): void {
    const { world, load } = this;
    let isDone = false;
    load.audit(site, isSettled, () => (isDone = true));
    world.until(() => isDone, 'the streams to be read');
  }

  /** What went wrong, as far as it need be shown. */
  get faults(): string[] {
    return this.load.faults.slice(0, FAULTS_SHOWN);
  }
}
