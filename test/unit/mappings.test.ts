import { describe, expect, test } from 'vitest';
import { compileMapping } from '../../server/account/mapping.ts';
import type { MappingDestination } from '../../server/account/mapping.ts';
import { DROPPED, Mappings } from '../../server/account/mappings.ts';

type Configured = Record<string, string | MappingDestination[]>;

/** Draws the middles of `steps` equal parts in turn: over so many messages every share comes out exactly. */
class EvenFractions {
  drawn = 0;
  private readonly steps: number;

  constructor(steps: number) {
    this.steps = steps;
  }

  fraction(): number {
    return ((this.drawn++ % this.steps) + 0.5) / this.steps;
  }
}

function mappingsOf(
  configured: Configured,
  random: { fraction(): number } = new EvenFractions(100),
  cluster = '',
): Mappings {
  const mappings = new Mappings(random, () => cluster);
  for (const [source, to] of Object.entries(configured)) {
    const { value, error } = compileMapping(source, typeof to === 'string' ? [{ subject: to, weight: 100 }] : to);
    if (value === null) throw new Error(error.message);
    mappings.set(value);
  }
  return mappings;
}

/** How often each result came out for 100 messages on the subject. */
function shares(mappings: Mappings, subject: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (let message = 0; message < 100; message++) {
    const result = mappings.selectText(subject) ?? 'unmapped';
    counts[result] = (counts[result] ?? 0) + 1;
  }
  return counts;
}

describe('selection', () => {
  test.each([
    ['a literal', { foo: 'bar' }, 'foo', 'bar'],
    ['nothing that merely begins alike', { foo: 'bar' }, 'foo.x', null],
    ['nothing shorter', { 'foo.x': 'bar' }, 'foo', null],
    ['a wildcard', { 'foo.*': 'bar.$1' }, 'foo.x', 'bar.x'],
    ['a rest', { 'a.>': 'z.>' }, 'a.b.c', 'z.b.c'],
    ['everything', { '>': 'all.>' }, 'x.y', 'all.x.y'],
    [
      'a prefix inserted in front of a domain',
      { '$JS.hub.API.STREAM.>': '$JS.API.STREAM.>' },
      '$JS.hub.API.STREAM.INFO.A',
      '$JS.API.STREAM.INFO.A',
    ],
    ['a literal into a partition of the whole subject', { foo: 'bar.{{partition(10)}}' }, 'foo', 'bar.3'],
    ['a partition of the whole subject', { 'w.*': 'p.{{partition(10)}}' }, 'w.a', 'p.1'],
  ])('maps %s', (_, configured: Configured, subject, expected) => {
    expect(mappingsOf(configured).selectText(subject)).toBe(expected);
  });

  test.each([
    ['an empty token is taken under >, and the result reaches nobody', { 'a.>': 'z.>' }, 'a..b', 'z..b'],
    ['but not by *', { 'b.*': 'y.$1' }, 'b.', null],
    ['a published * is taken by *', { 'b.*': 'y.$1' }, 'b.*', 'y.*'],
    ['a published > is not', { 'b.*': 'y.$1' }, 'b.>', null],
    ['a published > is taken by >', { 'a.>': 'z.>' }, 'a.>', 'z.>'],
    ['the empty subject is not', { '*': 'y.$1' }, '', null],
    ['a source token that begins with * takes only itself', { '*foo': 'bar' }, 'abc', null],
  ])('%s', (_, configured: Configured, subject, expected) => {
    expect(mappingsOf(configured).selectText(subject)).toBe(expected);
  });

  test('the bytes of a published subject are read in place', () => {
    const mappings = mappingsOf({ 'foo.*': 'bar.$1' });
    const line = Buffer.from('PUB foo.\xc3\xa9 5\r\n', 'latin1');
    expect(mappings.select(line, 4, 10)).toBe('bar.\xc3\xa9');
    expect(mappings.select(line, 4, 7)).toBeNull();
  });

  test('a mapped subject is not mapped again', () => {
    expect(mappingsOf({ a: 'b', b: 'c' }).selectText('a')).toBe('b');
  });
});

describe('precedence', () => {
  const configured = {
    '>': 'all.>',
    'a.>': 'rest.>',
    'a.*.*': 'stars.$1.$2',
    'a.*.c': 'last.$1',
    'a.b.*': 'first.$1',
    'a.b.c': 'literal',
    '*.b.d': 'star.$1',
  };

  test.each([
    ['a.b.c', 'literal'],
    ['a.b.d', 'first.d'],
    ['a.x.c', 'last.x'],
    ['a.x.y', 'stars.x.y'],
    ['a.x', 'rest.x'],
    ['a.b.c.d', 'rest.b.c.d'],
    ['x.b.d', 'star.x'],
    ['x.y', 'all.x.y'],
  ])('%s goes to the most specific source: %s', (subject, expected) => {
    expect(mappingsOf(configured).selectText(subject)).toBe(expected);
    const reversed = Object.fromEntries(Object.entries(configured).reverse());
    expect(mappingsOf(reversed).selectText(subject)).toBe(expected);
  });

  test('a more specific branch that leads nowhere is left again', () => {
    expect(mappingsOf({ 'a.b.c': 'x', 'a.*.d': 'y.$1' }).selectText('a.b.d')).toBe('y.b');
    expect(mappingsOf({ 'a.b.>': 'x.>', '*.b': 'y.$1' }).selectText('a.b')).toBe('y.a');
  });
});

describe('weights', () => {
  test('what the destinations leave goes on unchanged', () => {
    const destinations = [
      { subject: 'b', weight: 20 },
      { subject: 'c', weight: 30 },
    ];
    expect(shares(mappingsOf({ a: destinations }), 'a')).toEqual({ a: 50, b: 20, c: 30 });
  });

  test('what they leave is dropped when the source is one of them', () => {
    const destinations = [
      { subject: 'b', weight: 20 },
      { subject: 'a', weight: 30 },
    ];
    expect(shares(mappingsOf({ a: destinations }), 'a')).toEqual({ a: 30, b: 20, [DROPPED]: 50 });
    expect(shares(mappingsOf({ l: [{ subject: 'l', weight: 0 }] }), 'l')).toEqual({ [DROPPED]: 100 });
    expect(shares(mappingsOf({ 'l.>': [{ subject: 'l.>', weight: 90 }] }), 'l.x')).toEqual({
      'l.x': 90,
      [DROPPED]: 10,
    });
  });

  test('a destination that only amounts to the source is not the source', () => {
    const destinations = [
      { subject: 'b.$1', weight: 20 },
      { subject: 'a.$1', weight: 30 },
    ];
    expect(shares(mappingsOf({ 'a.*': destinations }), 'a.x')).toEqual({ 'a.x': 80, 'b.x': 20 });
  });

  test('a mapping without destinations, or with a weight of nothing, changes nothing', () => {
    expect(shares(mappingsOf({ a: [] }), 'a')).toEqual({ a: 100 });
    expect(shares(mappingsOf({ a: [{ subject: 'b', weight: 0 }] }), 'a')).toEqual({ a: 100 });
  });

  test('a single destination of 100 % draws no random number', () => {
    const random = new EvenFractions(100);
    expect(mappingsOf({ a: 'b' }, random).selectText('a')).toBe('b');
    expect(random.drawn).toBe(0);
  });
});

describe('clusters', () => {
  const both = [
    { subject: 'b', weight: 100, cluster: 'east' },
    { subject: 'c', weight: 100 },
  ];

  test.each([
    ['the own cluster has its set', both, 'east', { b: 100 }],
    ['another has the common set', both, 'west', { c: 100 }],
    ['no cluster has the common set', both, '', { c: 100 }],
    [
      'a set that is not full goes on unchanged',
      [{ subject: 'b', weight: 50, cluster: 'east' }],
      'east',
      { a: 50, b: 50 },
    ],
    [
      'without a common set elsewhere nothing changes',
      [{ subject: 'b', weight: 50, cluster: 'east' }],
      'west',
      { a: 100 },
    ],
    [
      'the source in one set makes the others drop too',
      [{ subject: 'a', weight: 50, cluster: 'east' }],
      'west',
      { [DROPPED]: 100 },
    ],
    [
      'and its own',
      [
        { subject: 'a', weight: 50, cluster: 'east' },
        { subject: 'b', weight: 10 },
      ],
      'east',
      { a: 50, [DROPPED]: 50 },
    ],
  ])('%s', (_, destinations, cluster, expected: Record<string, number>) => {
    expect(shares(mappingsOf({ a: destinations }, new EvenFractions(100), cluster), 'a')).toEqual(expected);
  });

  test('the weights of different clusters are not added up', () => {
    const destinations = ['east', 'west', ''].map((cluster) => ({ subject: `to${cluster}`, weight: 100, cluster }));
    expect(compileMapping('a', destinations).error).toBeNull();
  });
});

/** The texts of nats-server 2.15.2. */
describe('refusals', () => {
  const range = 'invalid mapping destination: wildcard index out of range in $2: [2]';
  const unknown = 'invalid mapping destination: unknown function in';
  test.each([
    ['a bad source', 'a..b', [], 'bad-subject', 'invalid subject'],
    ['a blank in the source', 'a b', [], 'bad-subject', 'invalid subject'],
    [
      'a destination twice',
      'a',
      [
        ['b', 10],
        ['b', 10],
      ],
      'duplicate',
      'duplicate entry for "b"',
    ],
    [
      'a destination in two clusters',
      'a',
      [
        ['b', 10],
        ['b', 10, 'x'],
      ],
      'duplicate',
      'duplicate entry for "b"',
    ],
    ['a weight over 100', 'a', [['b', 101]], 'weight-over-100', 'individual weights need to be <= 100'],
    [
      'a sum over 100',
      'a',
      [
        ['b', 60],
        ['c', 41],
      ],
      'total-over-100',
      'total weight needs to be <= 100',
    ],
    [
      'a sum over 100 in a cluster',
      'a',
      [
        ['b', 60, 'x'],
        ['c', 41, 'x'],
      ],
      'total-over-100',
      'total weight needs to be <= 100',
    ],
    ['a bad destination', 'a.*', [['b.$2', 10]], 'index-out-of-range', range],
    [
      'a blank in the destination',
      'a',
      [['b c', 10]],
      'invalid-transform',
      'invalid mapping destination: invalid transform',
    ],
    ['an unknown function', 'a', [['b.{{foo(1)}}', 10]], 'unknown-function', `${unknown} {{foo(1)}}`],
    ['a source that does not go on unchanged', '{{x}}', [['b', 10]], 'unknown-function', `${unknown} {{x}}`],
    ['an empty destination, at which nats-server crashes', 'a', [['', 100]], 'bad-subject', 'invalid subject'],
  ] as [string, string, [string, number, string?][], string, string][])('%s', (_, source, rows, code, message) => {
    const destinations = rows.map(([subject, weight, cluster = '']) => ({ subject, weight, cluster }));
    expect(compileMapping(source, destinations)).toEqual({ value: null, error: { code, message } });
  });
});

describe('the set', () => {
  test('without mappings nothing is mapped', () => {
    const mappings = mappingsOf({});
    expect(mappings.size).toBe(0);
    expect(mappings.selectText('a')).toBeNull();
  });

  test('a mapping replaces the one with the same source, in its place', () => {
    const mappings = mappingsOf({ a: 'b', c: 'd' });
    const again = compileMapping('a', [{ subject: 'e', weight: 100 }]).value;
    mappings.set(again!);
    expect(mappings.selectText('a')).toBe('e');
    expect([...mappings.values()].map(({ source }) => source)).toEqual(['a', 'c']);
  });

  test('a removed mapping is gone, its neighbours stay', () => {
    const mappings = mappingsOf({ 'a.b': 'x', 'a.*': 'y', 'a.>': 'z.>', '>': 'all.>' });
    const results: (string | null)[] = [];
    for (const source of ['a.b', 'a.*', 'a.>', '>']) {
      results.push(mappings.selectText('a.b'));
      expect(mappings.delete(source)).toBe(true);
      expect(mappings.delete(source)).toBe(false);
    }
    expect(results).toEqual(['x', 'y', 'z.b', 'all.a.b']);
    expect(mappings.selectText('a.b')).toBeNull();
    expect(mappings.size).toBe(0);
  });

  test('a mapping tells its destinations with the upper ends of their shares, as /accountz shows them', () => {
    const { value } = compileMapping('a', [
      { subject: 'b', weight: 60 },
      { subject: 'c', weight: 10 },
      { subject: 'd', weight: 100, cluster: 'east' },
    ]);
    const shown = [...(value?.sets ?? [])].map(([cluster, set]) => [
      cluster,
      set.map(({ transform, end }) => [transform.destination, end]),
    ]);
    expect(shown).toEqual([
      [
        '',
        [
          ['c', 10],
          ['a', 40],
          ['b', 100],
        ],
      ],
      ['east', [['d', 100]]],
    ]);
  });
});
