/**
 * Many leaves, one hub, and everything that can happen to their links, while clients at all sites come and go with what
 * they want to hear: when all is well again each end of each link knows exactly what is wanted behind it, and messages get
 * where they are wanted, once. Afterwards nobody wants anything, and nobody remembers that anything was wanted.
 */
import { describe, expect, it } from 'vitest';
import { InterestLedger } from './interest-ledger.ts';
import { LeafTree } from './leaf-tree.ts';
import { replayable, seedsFor } from './seeds.ts';
import type { TreeSite } from './tree-site.ts';

const SITES_MIN = 5;
const SITES_MAX = 16;
const STORMS = 2;
const STORM_MS = 6000;
const TROUBLE_MS_MAX = 3000;
/** A dial that waited out its time, a silence that had to be noticed, a delay before the next dial; some of it twice. */
const HEALED_MS_MAX = 6000;
/** Until what was on its way when a link healed has been sent again, or the link has been given up after all. */
const SETTLED_MS = 4000;
const ARRIVED_MS_MAX = 2000;
const SURPLUS_MS = 500;
const CLOSED_MS_MAX = 2000;
const CROWD = 1200;
/** Each of them knows all of it. */
const CROWDED_SITES_MAX = 8;
const TOKENS = ['a', 'b', 'c'];
const QUEUE_GROUPS = ['', '', 'workers', 'others'];

class Churn {
  readonly tree: LeafTree;
  readonly ledger: InterestLedger;
  private readonly hasCrowd: boolean;

  constructor(seed: number) {
    const depth = [0, 0.3, 0.6, 1][seed % 4] as number;
    const count = SITES_MIN + (seed % (SITES_MAX - SITES_MIN + 1));
    this.tree = new LeafTree(seed, depth === 1 ? SITES_MIN + (seed % 4) : count, depth);
    this.ledger = new InterestLedger(this.tree.sites);
    this.hasCrowd = seed % 5 === 3 && this.tree.sites.length <= CROWDED_SITES_MAX;
  }

  run(): void {
    const { tree } = this;
    for (const site of tree.sites) for (let i = 0; i < 3; i++) this.subscribe(site);
    if (this.hasCrowd) this.gather(tree.random.pick(tree.sites));
    tree.start();
    this.checkWhole();
    for (let storm = 0; storm < STORMS; storm++) {
      this.storm();
      this.checkWhole();
    }
    for (const site of tree.sites) for (const sid of site.wanted.keys()) site.unsubscribe(sid);
    this.checkWhole();
    this.checkForgotten();
  }

  private storm(): void {
    const { tree } = this;
    const { sites } = tree;
    tree.storm(STORM_MS, sites.length, TROUBLE_MS_MAX);
    for (const site of sites) {
      for (let i = 0; i < 8; i++) tree.later(STORM_MS, () => this.change(site));
      for (let i = 0; i < 15; i++) tree.later(STORM_MS, () => this.ledger.publish(site, this.subject()));
    }
    tree.runFor(STORM_MS + TROUBLE_MS_MAX);
  }

  /** More than is told in one turn, and not in the way of anything else. */
  private gather(site: TreeSite): void {
    for (let i = 0; i < CROWD; i++) this.ledger.subscribe(site, { subject: `crowd.${i}`, queueGroup: '' });
  }

  private change(site: TreeSite): void {
    const { random } = this.tree;
    const sids = [...site.wanted.keys()];
    if (sids.length > 0 && random.chance(0.5)) site.unsubscribe(random.pick(sids));
    else this.subscribe(site);
  }

  /** Interest is what it has to be, and so is what is delivered. */
  private checkWhole(): void {
    const { tree, ledger } = this;
    const { sites } = tree;
    const wrongs = (): readonly string[] => ledger.interestWrongs();
    tree.untilNothing(wrongs, 'interest is not whole', HEALED_MS_MAX);
    tree.runFor(SETTLED_MS);
    tree.untilNothing(wrongs, 'interest is no longer whole', HEALED_MS_MAX);
    const first = ledger.count;
    for (const site of sites) for (let i = 0; i < 10; i++) ledger.publish(site, this.subject());
    tree.untilNothing(() => ledger.missingSince(first), 'not everything arrived', ARRIVED_MS_MAX);
    tree.runFor(SURPLUS_MS);
    this.fail('something is wrong', [
      ...ledger.wrongs,
      ...ledger.interestWrongs(),
      ...sites.flatMap(({ client }) => client?.errors ?? ['a client is gone']),
    ]);
  }

  /** With nothing wanted each server knows loop subjects alone, one of each site. */
  private checkForgotten(): void {
    const { sites } = this.tree;
    const known = sites.map(({ name, server }) => {
      return `${name} knows ${server?.leafNodes.interestOf(server.globalAccount).size}`;
    });
    this.fail(
      'something is remembered',
      known.filter((line) => !line.endsWith(` ${sites.length}`)),
    );
  }

  private fail(what: string, wrongs: readonly string[]): void {
    if (wrongs.length > 0) throw this.tree.failure([what, ...wrongs].join('\n'));
  }

  private subscribe(site: TreeSite): void {
    this.ledger.subscribe(site, { subject: this.pattern(), queueGroup: this.tree.random.pick(QUEUE_GROUPS) });
  }

  private subject(): string {
    const { random } = this.tree;
    return Array.from({ length: random.between(1, 3) }, () => random.pick(TOKENS)).join('.');
  }

  private pattern(): string {
    const { random } = this.tree;
    const tokens = Array.from({ length: random.between(1, 3) }, () => {
      return random.chance(0.25) ? '*' : random.pick(TOKENS);
    });
    return [...tokens, ...(random.chance(0.2) ? ['>'] : [])].join('.');
  }
}

describe('a tree of leaf links', () => {
  const seeds = seedsFor('leaf-interest');

  it.each(seeds)('knows what is wanted, and brings it once, after every storm, seed %i', (seed) => {
    replayable(seed, () => {
      const churn = new Churn(seed);
      churn.run();
      const { tree, ledger } = churn;
      expect(tree.sites.filter(({ log }) => log.some((line) => line.includes('Loop detected')))).toEqual([]);
      expect(ledger.deliveries).toBeGreaterThan(200);
      tree.close(CLOSED_MS_MAX);
    });
  });

  it('has the same history with the same seed, and another with another', () => {
    const hashes = [5, 6, 5].map((seed) => {
      const churn = new Churn(seed);
      churn.run();
      return churn.tree.world.scheduler.trace.hash;
    });
    expect(hashes[2]).toBe(hashes[0]);
    expect(hashes[1]).not.toBe(hashes[0]);
  });
});
