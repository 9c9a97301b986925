/**
 * A tree of petioles joined by leaf links, in a simulated world: a hub at its root, leaves below, some of them hubs of
 * others. Links are cut, half cut, slowed down and reset, servers are killed, paused and lose their power, as the seed
 * wants it; in the end everything is well again.
 *
 *     hub ─┬─ leaf ─── leaf …       a star, a chain, or anything in between
 *          ├─ leaf
 *          └─ leaf ─┬─ leaf
 *                   └─ leaf
 */
import type { CompressionOptions } from '../../server/config/compression.ts';
import type { SeededRandom } from '../../server/io/simulated/seeded-random.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';
import { TreeSite } from './tree-site.ts';

const LAN = { latencyMs: 0.2, jitterMs: 1 };
const CONDITIONS = [LAN, { latencyMs: 20, jitterMs: 10 }, { latencyMs: 80, jitterMs: 300 }];
const THRESHOLDS_MS = [10, 50, 100];
const COMPRESSIONS: readonly CompressionOptions[] = [
  { mode: 'off', rttThresholdsMs: [] },
  { mode: 's2_fast', rttThresholdsMs: [] },
  { mode: 's2_auto', rttThresholdsMs: THRESHOLDS_MS },
];
const LEVEL_MS = 50;

export class LeafTree {
  readonly world: SimulatedWorld;
  readonly sites: readonly TreeSite[];
  readonly random: SeededRandom;

  /** A tree of so many sites; `depth` from 0, nearly a star, to 1, a chain. */
  constructor(seed: number, count: number, depth: number) {
    this.world = new SimulatedWorld(seed);
    this.random = this.world.random.fork('tree');
    const clients = this.world.machine('clients');
    const sites: TreeSite[] = [];
    for (let i = 0; i < count; i++) {
      const parent = this.random.chance(depth) ? sites.at(-1) : sites[this.random.below(1 + Math.floor(i / 4))];
      const compression = this.random.pick(COMPRESSIONS);
      sites.push(new TreeSite(this.world.machine(`site-${i}`), parent ?? null, clients, { compression }));
    }
    this.sites = sites;
  }

  start(): void {
    for (const site of this.sites) site.start();
  }

  /** Runs something at a random time within so many milliseconds. */
  later(withinMs: number, run: () => void): void {
    this.world.scheduler.after(this.random.fraction() * withinMs * 1000, null, 'tree', run);
  }

  // ── faults ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** For so long things go wrong, as often, and each for so long at most. */
  storm(forMs: number, count: number, troubleMsMax: number): void {
    for (let i = 0; i < count; i++) this.later(forMs, () => this.trouble(troubleMsMax));
  }

  /** One thing goes wrong, and is well again within so many milliseconds. */
  private trouble(withinMs: number): void {
    const { random } = this;
    const site = random.pick(this.sites.slice(1));
    random.pick([
      () => this.cut(site, withinMs, 'both'),
      () => this.cut(site, withinMs, 'up'),
      () => this.cut(site, withinMs, 'down'),
      () => this.reset(site),
      () => this.reset(site),
      () => this.slowDown(site, withinMs),
      () => random.pick(this.sites).pause(random.fraction() * withinMs),
      () => this.restart(random.pick(this.sites), withinMs),
    ])();
  }

  private cut(site: TreeSite, withinMs: number, direction: 'both' | 'up' | 'down'): void {
    const { network } = this.world;
    const above = (site.parent as TreeSite).machine;
    if (direction !== 'down') network.cut(site.machine, above);
    if (direction !== 'up') network.cut(above, site.machine);
    this.later(withinMs, () => network.heal(site.machine, above));
  }

  private reset(site: TreeSite): void {
    this.world.network.resetBetween(site.machine, (site.parent as TreeSite).machine);
  }

  private slowDown(site: TreeSite, withinMs: number): void {
    const { network } = this.world;
    const above = (site.parent as TreeSite).machine;
    network.setConditions(site.machine, above, this.random.pick(CONDITIONS));
    this.later(withinMs, () => network.setConditions(site.machine, above, LAN));
  }

  private restart(site: TreeSite, withinMs: number): void {
    if (site.server === null) return;
    site.end(this.random.chance(0.4));
    this.later(withinMs, () => site.start());
  }

  // ── waiting ──────────────────────────────────────────────────────────────────────────────────────────────────────

  runFor(ms: number): void {
    this.world.scheduler.runFor(ms);
  }

  /** Waits until nothing is wrong. Looks now and then: looking takes long. */
  untilNothing(wrongs: () => readonly string[], what: string, withinMs: number): void {
    for (let waitedMs = 0; ; waitedMs += LEVEL_MS) {
      const found = wrongs();
      if (found.length === 0) return;
      if (waitedMs >= withinMs) throw this.failure(`${what}, after ${withinMs} ms:\n${found.slice(0, 10).join('\n')}`);
      this.runFor(LEVEL_MS);
    }
  }

  failure(message: string): Error {
    return this.world.scheduler.failure(message);
  }

  /** Shuts all servers down; fails when they do not end, or leave something behind. */
  close(withinMs: number): void {
    const closed = new Set<TreeSite>();
    for (const site of this.sites) site.server?.close(() => closed.add(site));
    const left = (): string[] =>
      this.sites.flatMap((site) => {
        const unsent = site.server?.outbound.unsentBytes ?? 0;
        if (closed.has(site) && site.openHandles === 0 && unsent === 0) return [];
        return [`${site.name}: closed ${closed.has(site)}, ${site.openHandles} handles, ${unsent} bytes`];
      });
    this.untilNothing(left, 'not everything is closed', withinMs);
  }
}
