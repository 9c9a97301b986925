/** The sublist gives a subject to exactly those whom a plain list of all subscriptions gives it to, whatever it cached. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Sink } from '../../server/ports.ts';
import { Receivers } from '../../server/subject/receivers.ts';
import { Sublist } from '../../server/subject/sublist.ts';
import { Subscription } from '../../server/subject/subscription.ts';
import { WildcardTrie } from '../../server/subject/wildcard-trie.ts';

const SINK: Sink = { sinkKind: 'internal', deliver: () => true };
/** What stands in a read buffer around and, a moment later, in the place of a subject. */
const NOISE = 0xdd;

/** Subscriptions as a plain list, and who matches by the definition of a match. */
class NaiveList {
  readonly subscriptions: Subscription[] = [];

  remove(subscription: Subscription): void {
    this.subscriptions.splice(this.subscriptions.indexOf(subscription), 1);
  }

  match(subject: string): Subscription[] {
    const tokens = subject.split('.');
    if (tokens.includes('')) return [];
    return this.subscriptions.filter(({ subject: pattern }) => matches(pattern.split('.'), tokens));
  }
}

function matches(pattern: readonly string[], literal: readonly string[]): boolean {
  const [first, ...patternRest] = pattern;
  const [token, ...literalRest] = literal;
  if (first === undefined || token === undefined) return first === token;
  if (first === '>' && patternRest.length === 0) return true;
  return (first === '*' || first === token) && matches(patternRest, literalRest);
}

/** Both, told the same; where the answers of the one are not those of the other it is noted. */
class Pair {
  readonly differences: string[] = [];
  private readonly sublist: Sublist;
  private readonly naive = new NaiveList();
  private readonly scratch = new Receivers();
  private sids = 0;
  private inserts = 0;
  private removes = 0;
  private matches = 0;

  constructor(seed: number, cached: boolean) {
    this.sublist = new Sublist(seed, { cached });
  }

  insert(pattern: string, queueGroup: string, weight: number): void {
    const subscription = new Subscription(SINK, pattern, queueGroup, String(this.sids++));
    subscription.weight = weight;
    this.naive.subscriptions.push(subscription);
    this.sublist.insert(subscription);
    this.inserts++;
  }

  removeAny(index: number): void {
    const { subscriptions } = this.naive;
    const subscription = subscriptions[index % Math.max(1, subscriptions.length)];
    if (subscription === undefined) return;
    this.naive.remove(subscription);
    this.sublist.remove(subscription);
    this.removes++;
  }

  match(subject: string, at: number): void {
    const length = Buffer.byteLength(subject, 'latin1');
    const buffer = Buffer.alloc(at + length + 3, NOISE);
    buffer.write(subject, at, 'latin1');
    const answer = this.sublist.match(buffer, at, at + length, this.scratch);
    // Whatever was kept of the subject has to be a copy.
    buffer.fill(NOISE);
    this.matches++;
    const expected = this.naive.match(subject);
    this.compare(subject, described(answer), describedNaively(expected));
    this.compare(`count of ${subject}`, answer.count, expected.length);
  }

  compareTotals(): void {
    const { sublist, naive } = this;
    const { subscriptions, inserts, removes, matches } = sublist.statistics();
    this.compare('size', sublist.size, naive.subscriptions.length);
    this.compare('all', sidsOf([...sublist.subscriptions()]).join(), sidsOf(naive.subscriptions).join());
    this.compare('subscriptions', subscriptions, naive.subscriptions.length);
    this.compare('inserts', inserts, this.inserts);
    this.compare('removes', removes, this.removes);
    this.compare('matches', matches, this.matches);
  }

  private compare<T extends string | number>(what: string, told: T, wanted: T): void {
    if (told !== wanted) this.differences.push(`${what}: ${told}, but ${wanted} in the list`);
  }
}

/** `sids | group: sids × weight | …` A group that stands twice would be given a message twice, and is seen here. */
function described({ plain, groups }: Receivers): string {
  const lines = groups.map(({ name, members, weight }) => `${name}: ${sidsOf(members).join()} × ${weight}`);
  return [sidsOf(plain).join(), ...lines.sort()].join(' | ');
}

function describedNaively(receivers: readonly Subscription[]): string {
  const lines = [...new Set(receivers.map(({ queueGroup }) => queueGroup))]
    .filter((name) => name !== '')
    .map((name) => {
      const members = receivers.filter(({ queueGroup }) => queueGroup === name);
      const weight = members.reduce((sum, member) => sum + member.weight, 0);
      return `${name}: ${sidsOf(members).join()} × ${weight}`;
    });
  const plain = receivers.filter(({ queueGroup }) => queueGroup === '');
  return [sidsOf(plain).join(), ...lines.sort()].join(' | ');
}

function sidsOf(subscriptions: readonly Subscription[]): string[] {
  return subscriptions.map(({ sid }) => sid).sort();
}

/** Few, so that subjects meet again; some look like wildcards and are none. */
const token = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('a', 'b') },
  { weight: 1, arbitrary: fc.constantFrom('a*', '>b', '\xe9') },
);
const literal = fc.oneof(
  { weight: 3, arbitrary: fc.array(token, { minLength: 1, maxLength: 2 }).map((each) => each.join('.')) },
  { weight: 1, arbitrary: fc.array(token, { minLength: 3, maxLength: 4 }).map((each) => each.join('.')) },
);
const pattern = fc
  .tuple(fc.array(fc.oneof(token, fc.constant('*')), { maxLength: 3 }), fc.boolean())
  .map(([tokens, isOpen]) => (isOpen || tokens.length === 0 ? [...tokens, '>'] : tokens).join('.'));
/** What is published is not checked: wildcards are ordinary tokens in it, and tokens may be empty. */
const published = fc.oneof(
  { weight: 4, arbitrary: literal },
  {
    weight: 1,
    arbitrary: fc.array(fc.constantFrom('a', 'b', '*', '>', ''), { maxLength: 4 }).map((each) => each.join('.')),
  },
);

const insertion = fc.record({
  kind: fc.constant('insert' as const),
  pattern: fc.oneof(literal, pattern),
  queueGroup: fc.constantFrom('', '', 'q', 'r', 'q.*'),
  weight: fc.constantFrom(1, 1, 1, 5),
});
const removal = fc.record({ kind: fc.constant('remove' as const), index: fc.nat() });
/** A cache is asked more than once: the first answer is searched, the second kept, the third taken from it. */
const question = fc.record({
  kind: fc.constant('match' as const),
  subject: published,
  times: fc.integer({ min: 1, max: 4 }),
  at: fc.nat(5),
});
const steps = fc.array(
  fc.oneof({ weight: 3, arbitrary: insertion }, { weight: 2, arbitrary: removal }, { weight: 6, arbitrary: question }),
  { maxLength: 80 },
);

describe.each([
  ['with its match cache', true],
  ['without', false],
])('the sublist %s', (_, cached) => {
  test('agrees with a plain list after any insertions and removals', () => {
    fc.assert(
      fc.property(fc.integer(), steps, (seed, steps) => {
        const pair = new Pair(seed, cached);
        for (const step of steps) {
          if (step.kind === 'insert') pair.insert(step.pattern, step.queueGroup, step.weight);
          else if (step.kind === 'remove') pair.removeAny(step.index);
          else for (let i = 0; i < step.times; i++) pair.match(step.subject, step.at);
        }
        pair.compareTotals();
        expect(pair.differences).toEqual([]);
      }),
      { numRuns: 600 },
    );
  });

  test('agrees with it when subjects are many more than the cache has room for at first', () => {
    const device = fc.nat(1500).map((n) => `site.${n % 7}.device.${n}`);
    const interest = fc.oneof(device, fc.constantFrom('site.*.device.*', 'site.3.>', '*.*.device.7', '>'));
    const change = fc.record({ pattern: interest, index: fc.nat(), inserts: fc.boolean() });
    const rounds = fc.array(fc.record({ change, subjects: fc.array(device, { minLength: 100, maxLength: 300 }) }), {
      minLength: 3,
      maxLength: 6,
    });
    fc.assert(
      fc.property(fc.integer(), rounds, (seed, rounds) => {
        const pair = new Pair(seed, cached);
        for (const { change, subjects } of rounds) {
          if (change.inserts) pair.insert(change.pattern, '', 1);
          else pair.removeAny(change.index);
          for (const subject of [...subjects, ...subjects, ...subjects]) pair.match(subject, 1);
        }
        pair.compareTotals();
        expect(pair.differences).toEqual([]);
      }),
      { numRuns: 5 },
    );
  });
});

test('the trie of patterns keeps nothing of what was removed', () => {
  fc.assert(
    fc.property(fc.array(pattern, { minLength: 1, maxLength: 20 }), fc.array(fc.nat()), (patterns, order) => {
      const trie = new WildcardTrie(1);
      const subscriptions = patterns.map((each) => new Subscription(SINK, each, '', '1'));
      for (const each of subscriptions) trie.insert(each);
      for (const index of order) {
        const [removed] = subscriptions.splice(index % Math.max(1, subscriptions.length), 1);
        if (removed !== undefined) trie.remove(removed);
      }
      for (const each of subscriptions) trie.remove(each);
      expect(trie).toEqual(new WildcardTrie(1));
    }),
  );
});

test('subjects have as many tokens as anybody likes', () => {
  const depth = 15_000;
  const sublist = new Sublist(1);
  const tail = Array.from({ length: depth }, () => 'a').join('.');
  const patterns = [`${'*.'.repeat(depth - 1)}*`, `${'a.*.'.repeat(depth / 2 - 1)}a.>`, `${'a.'.repeat(depth - 1)}*`];
  const subscriptions = patterns.map((each) => new Subscription(SINK, each, '', each.slice(0, 4)));
  for (const each of subscriptions) sublist.insert(each);
  const bytes = Buffer.from(tail);
  expect(sidsOf(sublist.match(bytes, 0, bytes.length, new Receivers()).plain)).toEqual(['*.*.', 'a.*.', 'a.a.']);
  expect([...sublist.subscriptions()]).toHaveLength(patterns.length);
  for (const each of subscriptions) sublist.remove(each);
  expect(sublist.size).toBe(0);
});

test('interest is told for a literal subject', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(literal, pattern), { maxLength: 5 }), published, (patterns, subject) => {
      const sublist = new Sublist(1);
      const naive = new NaiveList();
      for (const each of patterns) {
        const subscription = new Subscription(SINK, each, '', '1');
        sublist.insert(subscription);
        naive.subscriptions.push(subscription);
      }
      expect(sublist.hasInterest(subject)).toBe(naive.match(subject).length > 0);
    }),
  );
});
