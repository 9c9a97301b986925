import { describe, expect, test } from 'vitest';
import {
  compileTransform,
  placeholdersToWildcards,
  validateTransform,
  wildcardsToPlaceholders,
} from '../../server/subject/transform.ts';
import type { Transform } from '../../server/subject/transform.ts';

const noRandom = {
  fraction: (): number => {
    throw new Error('nothing here is random');
  },
};

function compiled(source: string, destination: string, strict = false): Transform {
  const { value, error } = compileTransform(source, destination, { strict });
  if (value === null) throw new Error(error.message);
  return value;
}

/** A subject as it is at rest: one char code a byte. */
function atRest(subject: string): string {
  return Buffer.from(subject).toString('latin1');
}

/** Published through nats-server 2.15.2 with these as `mappings`. */
const observed: [source: string, destination: string, subject: string, result: string][] = [
  ['p10.*', 'o.{{partition(10,1)}}', 'p10.foo', 'o.3'],
  ['p10.*', 'o.{{partition(10,1)}}', 'p10.bar', 'o.2'],
  ['p10.*', 'o.{{partition(10,1)}}', 'p10.orders-17', 'o.1'],
  ['p10.*', 'o.{{partition(10,1)}}', 'p10.été', 'o.5'],
  ['p7.*.*', 'o.{{partition(7,2,1)}}.$2.$1', 'p7.foo.bar', 'o.6.bar.foo'],
  ['p7.*.*', 'o.{{partition(7,2,1)}}.$2.$1', 'p7.bar.foo', 'o.0.foo.bar'],
  ['p7.*.*', 'o.{{partition(7,2,1)}}.$2.$1', 'p7.a.b', 'o.6.b.a'],
  ['p9.*.*', 'o.{{ Partition(9, 1, 2 ) }}', 'p9.foo.bar', 'o.7'],
  ['p9.*.*', 'o.{{ Partition(9, 1, 2 ) }}', 'p9.fo.obar', 'o.7'],
  ['pw.>', 'o.{{partition(1000)}}.>', 'pw.a', 'o.49.a'],
  ['pw.>', 'o.{{partition(1000)}}.>', 'pw.a.b.c', 'o.966.a.b.c'],
  ['p0.*', 'o.{{partition(0,1)}}', 'p0.x', 'o.0'],
  ['pn.*', 'o.{{partition(-5,1)}}', 'pn.foo', 'o.2851307223'],
  ['sl.*', 'o.{{SplitFromLeft(1,3)}}', 'sl.12345', 'o.123.45'],
  ['sl.*', 'o.{{SplitFromLeft(1,3)}}', 'sl.123', 'o.123'],
  ['sl.*', 'o.{{SplitFromLeft(1,3)}}', 'sl.1', 'o.1'],
  ['sr.*', 'o.{{splitfromright(1,3)}}', 'sr.12345', 'o.12.345'],
  ['sr.*', 'o.{{splitfromright(1,3)}}', 'sr.123', 'o.123'],
  ['cl.*', 'o.{{slicefromleft(1,3)}}', 'cl.1234567890', 'o.123.456.789.0'],
  ['cl.*', 'o.{{slicefromleft(1,3)}}', 'cl.123456', 'o.123.456'],
  ['cl.*', 'o.{{slicefromleft(1,3)}}', 'cl.12', 'o.12'],
  ['cr.*', 'o.{{SliceFromRight(1,3)}}', 'cr.1234567890', 'o.1.234.567.890'],
  ['cr.*', 'o.{{SliceFromRight(1,3)}}', 'cr.123456', 'o.123.456'],
  ['cr.*', 'o.{{SliceFromRight(1,3)}}', 'cr.12', 'o.12'],
  ['s.*', 'o.{{split(1,-)}}', 's.a-b-c', 'o.a.b.c'],
  ['s.*', 'o.{{split(1,-)}}', 's.-a-b-', 'o.a.b'],
  ['s.*', 'o.{{split(1,-)}}', 's.a--b', 'o.a.b'],
  ['s.*', 'o.{{split(1,-)}}', 's.a', 'o.a'],
  ['ss.*', 'o.{{split(1,ab)}}', 'ss.1ab2ab3', 'o.1.2.3'],
  ['l.*', 'o.{{left(1,2)}}', 'l.abcd', 'o.ab'],
  ['l.*', 'o.{{left(1,2)}}', 'l.ab', 'o.ab'],
  ['r.*', 'o.{{Right(1,2)}}', 'r.abcd', 'o.cd'],
  ['r.*', 'o.{{Right(1,2)}}', 'r.ab', 'o.ab'],
  ['w.*.*', 'o.{{wildcard(2)}}.$1.{{ Wildcard( 2 ) }}', 'w.a.b', 'o.b.a.b'],
  ['z.*', 'o.$0.$1', 'z.a', 'o.z.a'],
  ['d.*', 'o.$JS.$.$1x.$1', 'd.a', 'o.$JS.$.$1x.a'],
  ['rest.*.>', 'o.>', 'rest.a.b.c', 'o.b.c'],
  ['rest2.*.>', 'o.$1.x.>', 'rest2.a.b.c', 'o.a.x.b.c'],
];

/** Answers of nats-server 2.15.2's transform engine to what cannot be, or need not be, published. */
const engine: typeof observed = [
  ['', 'bar.>', 'foo.abc', 'bar.foo.abc'],
  ['>', '>', 'a..b', 'a..b'],
  ['foo.>', '>', 'foo.a.b', 'a.b'],
  ['foo', 'bar', 'foo', 'bar'],
  ['foo', 'bar.{{partition(10)}}', 'foo', 'bar.3'],
  ['foo', 'bar.{{partition(10,1)}}', 'foo', 'bar.3'],
  ['foo.*', '{{left(1,2)}}-{{right(1,2)}}', 'foo.abc', 'bc'],
  ['foo.*', 'bar.{{split(1,.)}}', 'foo.abc', 'bar.{{split(1,.)}}'],
  ['*', '$0.{{split(1,)}}', 'aéb', 'aéb.a.é.b'],
  ['*', '{{split(1,-)}}', '--a', '.a'],
  ['*', 'x.{{split(1,-)}}', '-', 'x.'],
  ['*', '{{left(1,0)}}.{{right(1,-3)}}', 'abc', 'abc.abc'],
];

describe('results', () => {
  test.each(observed)('%s as %s: %s becomes %s', (source, destination, subject, result) => {
    expect(validateTransform(source, destination)).toBeNull();
    expect(compiled(source, destination).apply(atRest(subject), noRandom)).toBe(atRest(result));
  });

  test.each(engine)('%j as %j: %j becomes %j', (source, destination, subject, result) => {
    expect(compiled(source, destination).apply(atRest(subject), noRandom)).toBe(atRest(result));
  });

  test('cutting counts bytes, also within a character', () => {
    expect(compiled('*', '{{splitFromLeft(1,1)}}').apply('\xc3\xa9', noRandom)).toBe('\xc3.\xa9');
  });

  test('an empty delimiter parts characters, and bytes that form none', () => {
    expect(compiled('*', '{{split(1,)}}').apply('\xf0\x9f\x98\x80\xe9a', noRandom)).toBe('\xf0\x9f\x98\x80.\xe9.a');
  });

  test.each([
    ['foo.*', 'bar', 'foo'],
    ['foo.*', 'bar', 'foo.a.b'],
    ['foo.*', 'bar', 'foo.*'],
    ['foo.*', 'bar', 'foo.>'],
    ['foo.*', 'bar', 'foo.'],
    ['foo.>', 'bar.>', 'foo'],
    ['foo.>', 'bar.>', 'foo.a..b'],
    ['foo.>', 'bar.>', 'foo.>'],
    ['foo', 'bar', 'Foo'],
    ['>', 'bar.>', ''],
  ])('%j as %j does not apply to %j', (source, destination, subject) => {
    expect(compiled(source, destination).apply(subject, noRandom)).toBeNull();
  });

  test('tokens of a subject known to match give the same result', () => {
    const transform = compiled('a.*.>', 'b.{{right(1,2)}}.>');
    expect(transform.applyTokens(['a', 'xyz', 'c', 'd'], noRandom)).toBe('b.yz.c.d');
    expect(transform.apply('a.xyz.c.d', noRandom)).toBe('b.yz.c.d');
  });

  test('tokens that are missing read as empty', () => {
    expect(compiled('a.*.*', 'b.$1.{{left(2,1)}}').applyTokens(['a'], noRandom)).toBe('b..');
  });

  test('a destination without references is one constant', () => {
    expect(compiled('a.*', 'b.c').constant).toBe('b.c');
    expect(compiled('a.*', 'b.$1').constant).toBeNull();
    expect(compiled('a.>', 'b.>').constant).toBeNull();
    expect(compiled('a', 'b.{{random(2)}}').constant).toBeNull();
  });
});

test('random draws from the given source, below the bound', () => {
  const transform = compiled('foo.*', '{{random(10)}}.{{Random(3)}}.{{random(0)}}.{{random(-4)}}.$1');
  const results = new Set<string>();
  for (let step = 0; step < 1000; step++) {
    const result = transform.apply('foo.x', { fraction: () => step / 1000 });
    expect(result).toMatch(/^[0-9]\.[0-2]\.0\.[0-3]\.x$/);
    results.add((result ?? '').slice(0, 1));
  }
  expect(results.size).toBe(10);
});

const DESTINATION = 'invalid mapping destination';
const RANGE = `${DESTINATION}: wildcard index out of range in`;
const FEW = `${DESTINATION}: not enough arguments passed to the function in`;
const MANY = `${DESTINATION}: too many arguments passed to the function in`;
const ARGUMENT = `${DESTINATION}: function argument is invalid or in the wrong format in`;
const UNKNOWN = `${DESTINATION}: unknown function in`;

function notForImports(token: string): string {
  return `${DESTINATION}: the only mapping function allowed for import transforms is {{Wildcard()}} in ${token}`;
}

/** The texts of nats-server 2.15.2. */
const refused: [source: string, destination: string, message: string][] = [
  ['foo.*', 'bar.$2', `${RANGE} $2: [2]`],
  ['foo.*.*', 'bar.$2.$3', `${RANGE} $3: [3]`],
  ['foo.*', 'bar.{{wildcard(2)}}', `${RANGE} {{wildcard(2)}}: [2]`],
  ['foo.*', 'bar.{{partition(10,1,2)}}', `${RANGE} {{partition(10,1,2)}}: [2]`],
  ['foo.>', 'bar.$1.>', `${RANGE} $1: [1]`],
  ['foo', 'bar.$1', `${RANGE} $1`],
  ['foo', 'bar.{{left(1,2)}}', `${RANGE} {{left(1,2)}}`],
  ['foo.*', 'bar.{{wildcard()}}', `${FEW} {{wildcard()}}`],
  ['foo.*', 'bar.{{splitFromLeft(1)}}', `${FEW} {{splitFromLeft(1)}}`],
  ['foo.*', 'bar.{{split(1)}}', `${FEW} {{split(1)}}`],
  ['foo.*', 'bar.{{random(1,2)}}', `${FEW} {{random(1,2)}}`],
  ['foo.*', 'bar.{{wildcard(1,2)}}', `${MANY} {{wildcard(1,2)}}`],
  ['foo.*', 'bar.{{splitFromLeft(1,2,3)}}', `${MANY} {{splitFromLeft(1,2,3)}}`],
  ['foo.*', 'bar.{{split(1,-,-)}}', `${MANY} {{split(1,-,-)}}`],
  ['foo.*', 'bar.{{wildcard( )}}', `${ARGUMENT} {{wildcard( )}}`],
  ['foo.*', 'bar.{{wildcard(x)}}', `${ARGUMENT} {{wildcard(x)}}`],
  ['foo.*', 'bar.{{partition()}}', `${ARGUMENT} {{partition()}}`],
  ['foo.*', 'bar.{{partition(10,x)}}', `${ARGUMENT} {{partition(10,x)}}`],
  ['foo.*', 'bar.{{partition(2147483648,1)}}', `${ARGUMENT} {{partition(2147483648,1)}}`],
  ['foo.*', 'bar.{{SplitFromRight(x,2)}}', `${ARGUMENT} {{SplitFromRight(x,2)}}`],
  ['foo.*', 'bar.{{SliceFromRight(1,2147483648)}}', `${ARGUMENT} {{SliceFromRight(1,2147483648)}}`],
  ['foo.*', 'bar.{{split(x,-)}}', `${ARGUMENT} {{split(x,-)}}`],
  ['foo.*', 'bar.{{split(1,a b)}}', `${ARGUMENT} {{split(1,a b)}}`],
  ['foo.*', 'bar.{{random(x)}}', `${ARGUMENT} {{random(x)}}`],
  ['foo.*', 'bar.{{random(4294967296)}}', `${ARGUMENT} {{random(4294967296)}}`],
  ['foo.*', '{{wildcard(1)}}-{{wildcard(1)}}', `${ARGUMENT} {{wildcard(1)}}-{{wildcard(1)}}`],
  ['foo.*', 'bar.{{unknown(1)}}', `${UNKNOWN} {{unknown(1)}}`],
  ['foo.*', 'bar.{{LEFT(1,1)}}', `${UNKNOWN} {{LEFT(1,1)}}`],
  ['foo', '{{x}}', `${UNKNOWN} {{x}}`],
  ['foo.*', 'bar.*', 'invalid subject'],
  ['foo.*', 'bar.>', 'invalid subject'],
  ['foo.>', 'bar', 'invalid subject'],
  ['foo..x', 'bar', 'invalid subject'],
  ['', 'bar', 'invalid subject'],
];

describe('refusals', () => {
  test.each(refused)('%j as %j: %s', (source, destination, message) => {
    expect(validateTransform(source, destination)?.message).toBe(message);
    expect(compileTransform(source, destination).error?.message).toBe(message);
  });

  test.each([
    ['foo.>', 'bar.>.x', `${DESTINATION}: invalid transform in x`, 'invalid subject'],
    ['foo.*', '>.$1', `${DESTINATION}: invalid transform in $1`, 'invalid subject'],
    ['foo', 'bar..x', `${DESTINATION}: invalid transform`, 'invalid subject'],
    ['foo.*', 'bar.', `${DESTINATION}: invalid transform`, 'invalid subject'],
    ['foo', 'bar x', `${DESTINATION}: invalid transform`, undefined],
    ['foo', 'bar\tx.y', `${DESTINATION}: invalid transform`, undefined],
    ['foo', '', undefined, 'invalid subject'],
  ])('%j as %j: %s when validated, %s when compiled', (source, destination, validated, compileMessage) => {
    expect(validateTransform(source, destination)?.message).toBe(validated);
    expect(compileTransform(source, destination).error?.message).toBe(compileMessage);
  });

  test.each([
    ['foo.*', 'bar', `${DESTINATION}: not using all of the token wildcard(s) in bar`],
    ['foo.*.*', 'bar.$2', `${DESTINATION}: not using all of the token wildcard(s) in bar.$2`],
    ['foo.*', 'bar.{{partition(10,1,2)}}', notForImports('{{partition(10,1,2)}}')],
    ['foo.*', '$1.{{random(2)}}', notForImports('{{random(2)}}')],
    ['foo.*', 'bar.$2', `${RANGE} $2: [2]`],
  ])('%j as %j is not strict: %s', (source, destination, message) => {
    expect(compileTransform(source, destination, { strict: true }).error?.message).toBe(message);
  });

  test('a megabyte of half-written calls is refused without delay', () => {
    const token = `{{${'{{left('.repeat(150_000)}}}`;
    expect(compileTransform('foo.*', token).error?.code).toBe('unknown-function');
    expect(compileTransform('foo.*', `{{left(${' '.repeat(1_000_000)}x,1)}}`).error?.code).toBe('invalid-argument');
  });
});

describe('reading backwards', () => {
  test.each([
    ['foo.*.*', 'bar.$2.$1', 'foo.a.b'],
    ['foo.*', 'x.{{wildcard(1)}}.y', 'foo.a'],
    ['foo.*.>', 'bar.$1.>', 'foo.a.b.c'],
    ['foo', 'bar', 'foo'],
  ])('%s as %s takes %s there and back', (source, destination, subject) => {
    const transform = compiled(source, destination, true);
    const there = transform.apply(subject, noRandom);
    expect(transform.reverse()?.apply(there ?? '', noRandom)).toBe(subject);
  });

  test('three rotated wildcards come back in the order nats-server gives them', () => {
    const back = compiled('a.*.*.*', 'b.$2.$3.$1', true).reverse();
    expect(back?.apply('b.x.y.z', noRandom)).toBe('a.y.z.x');
  });

  test('a destination that lacks a wildcard cannot be read backwards', () => {
    expect(compiled('foo.*', 'bar').reverse()).toBeNull();
    expect(compiled('foo.*', 'bar.$0').reverse()).toBeNull();
  });

  test('wildcards and placeholders turn into each other', () => {
    expect(wildcardsToPlaceholders('foo.*.a*.*.>')).toBe('foo.$1.a*.$2.>');
    expect(placeholdersToWildcards('foo.$2.{{wildcard(1)}}.$JS.$0.>')).toEqual({
      pattern: 'foo.*.*.$JS.$0.>',
      placeholders: ['$2', '{{wildcard(1)}}'],
    });
  });
});
