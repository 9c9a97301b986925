/** What the cache of matches keeps, what it forgets, and how much of it there can be. */
import { describe, expect, it } from 'vitest';
import type { Sink } from '../../server/ports.ts';
import { MatchCache } from '../../server/subject/match-cache.ts';
import { Receivers } from '../../server/subject/receivers.ts';
import { hashText } from '../../server/subject/subject-hash.ts';
import { Subscription } from '../../server/subject/subscription.ts';

const SEED = 17;
const ENTRIES_MAX = 16_384;
const RECEIVERS_MAX = 262_144;
const BYTES_MAX = 4_194_304;
const SINK: Sink = { sinkKind: 'internal', deliver: () => true };

function receiversOf(count: number): Receivers {
  const receivers = new Receivers();
  for (let i = 0; i < count; i++) receivers.plain.push(new Subscription(SINK, 'a', '', '1'));
  return receivers;
}

/** A cache asked by text; hashes are the subject's unless given. */
class Asked {
  readonly cache = new MatchCache(SEED);

  miss(subject: string, receivers: Receivers = receiversOf(1), hash: number = hashText(subject, SEED)): void {
    const bytes = Buffer.from(`<${subject}>`);
    this.cache.missed(bytes, 1, bytes.length - 1, hash, receivers);
    bytes.fill(0xdd);
  }

  knows(subject: string, hash: number = hashText(subject, SEED)): boolean {
    const bytes = Buffer.from(`<${subject}>`);
    return this.cache.find(bytes, 1, bytes.length - 1, hash) !== null;
  }

  admit(subject: string, receivers?: Receivers, hash?: number): void {
    this.miss(subject, receivers, hash);
    this.miss(subject, receivers, hash);
  }
}

describe('the match cache', () => {
  it('admits a subject when it is missed for the second time', () => {
    const asked = new Asked();
    asked.miss('a.b');
    expect(asked.knows('a.b')).toBe(false);
    asked.miss('a.b');
    expect(asked.knows('a.b')).toBe(true);
    expect(asked.cache.size).toBe(1);
  });

  it('loses nothing to subjects that come once', () => {
    const asked = new Asked();
    asked.admit('a.b');
    for (let i = 0; i < 20_000; i++) asked.miss(`inbox.${i}`);
    expect(asked.knows('a.b')).toBe(true);
    expect(asked.cache.size).toBe(1);
  });

  it('keeps a copy of the receivers', () => {
    const asked = new Asked();
    const receivers = receiversOf(3);
    asked.admit('a.b', receivers);
    receivers.clear();
    const bytes = Buffer.from('a.b');
    expect(asked.cache.find(bytes, 0, 3, hashText('a.b', SEED))?.receivers.count).toBe(3);
  });

  it('tells subjects of one hash apart', () => {
    const asked = new Asked();
    asked.admit('a.b', receiversOf(1), 5);
    expect(asked.knows('a.b', 5)).toBe(true);
    expect(asked.knows('a.c', 5)).toBe(false);
    asked.admit('a.c', receiversOf(1), 5);
    expect(asked.knows('a.b', 5)).toBe(false);
    expect(asked.knows('a.c', 5)).toBe(true);
    expect(asked.cache.size).toBe(1);
  });

  it('grows when two subjects want one place, and keeps both', () => {
    const asked = new Asked();
    asked.admit('a.b', receiversOf(1), 1);
    asked.admit('a.c', receiversOf(1), 1 + 256);
    expect([asked.knows('a.b', 1), asked.knows('a.c', 1 + 256)]).toEqual([true, true]);
    expect(asked.cache.size).toBe(2);
  });

  it('forgets a literal subject by its hash alone', () => {
    const asked = new Asked();
    asked.admit('a.b');
    asked.admit('a.c');
    asked.cache.dropLiteral(hashText('a.b', SEED));
    expect([asked.knows('a.b'), asked.knows('a.c')]).toEqual([false, true]);
    expect(asked.cache.size).toBe(1);
  });

  it('forgets what begins with the token of a pattern, and all of it for a pattern that begins with a wildcard', () => {
    const asked = new Asked();
    const subjects = ['a', 'a.b', 'b.a', 'b'];
    for (const each of subjects) asked.admit(each);
    asked.cache.dropPattern(hashText('a', SEED));
    expect(subjects.map((each) => asked.knows(each))).toEqual([false, false, true, true]);
    // What was known before need not be missed twice again.
    for (const each of subjects) asked.miss(each);
    expect(subjects.map((each) => asked.knows(each))).toEqual([true, true, true, true]);
    asked.cache.dropPattern(null);
    expect(subjects.map((each) => asked.knows(each))).toEqual([false, false, false, false]);
    expect(asked.cache.fanout()).toEqual({ max: 0, total: 0, entries: 0 });
  });

  it('tells how many messages one becomes, of which a queue group gets one', () => {
    const asked = new Asked();
    const withGroup = receiversOf(2);
    for (let i = 0; i < 5; i++) withGroup.addChain(new Subscription(SINK, 'a', 'workers', String(i)));
    asked.admit('a', withGroup);
    asked.admit('b', receiversOf(7));
    asked.admit('c', receiversOf(0));
    expect(asked.cache.fanout()).toEqual({ max: 7, total: 10, entries: 3 });
  });
});

describe('the bounds of the match cache', () => {
  it(`are ${ENTRIES_MAX} subjects`, () => {
    const asked = new Asked();
    for (let i = 0; i < 5 * ENTRIES_MAX; i++) asked.admit(`device.${i}`);
    expect(asked.cache.size).toBeGreaterThan(ENTRIES_MAX / 4);
    expect(asked.cache.size).toBeLessThanOrEqual(ENTRIES_MAX);
    expect(asked.cache.fanout().entries).toBe(asked.cache.size);
  });

  it(`are ${RECEIVERS_MAX} receivers of all of them together`, () => {
    const asked = new Asked();
    const receivers = receiversOf(1000);
    const totals = Array.from({ length: 1000 }, (_, i) => {
      asked.admit(`device.${i}`, receivers);
      return asked.cache.fanout().total;
    });
    expect(Math.max(...totals)).toBe(Math.floor(RECEIVERS_MAX / 1000) * 1000);
    // It starts anew, and goes on.
    expect(totals.filter((total) => total === 1000).length).toBeGreaterThan(1);
  });

  it('exclude an answer with more receivers than that', () => {
    const asked = new Asked();
    asked.admit('a', receiversOf(RECEIVERS_MAX + 1));
    expect(asked.knows('a')).toBe(false);
    asked.admit('a', receiversOf(RECEIVERS_MAX));
    expect(asked.knows('a')).toBe(true);
  });

  it(`are ${BYTES_MAX} bytes of subjects`, () => {
    const asked = new Asked();
    const bytes = 4096;
    for (let i = 0; i < (3 * BYTES_MAX) / bytes; i++) {
      asked.admit(`${i}.`.padEnd(bytes, 'x'));
      expect(asked.cache.size).toBeLessThanOrEqual(BYTES_MAX / bytes);
    }
    expect(asked.cache.size).toBeGreaterThan(0);
    // What was given up is not counted any more.
    asked.cache.dropPattern(null);
    for (let i = 0; i < 1000; i++) asked.admit(`${i}`);
    for (let i = 0; i < 1000; i++) asked.cache.dropLiteral(hashText(`${i}`, SEED));
    for (let i = 0; i < 100; i++) asked.admit(`${i}.`.padEnd(bytes, 'y'));
    expect(asked.knows('99.'.padEnd(bytes, 'y'))).toBe(true);
  });
});
