import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSubsetMatch, isValidLiteralSubject } from '../../server/subject/subject.ts';
import { compileTransform, validateTransform, wildcardsToPlaceholders } from '../../server/subject/transform.ts';
import type { Transform } from '../../server/subject/transform.ts';

const random = { fraction: () => 0.5 };
const word = fc.constantFrom('a', 'b', 'abc', 'x-y--z', '\xc3\xa9t\xc3\xa9', '$JS', 'a*', '0');
const rest = fc.array(word, { minLength: 1, maxLength: 3 });

/** A source with its subject and, for a destination of words and references, the result by the definition. */
const numbered = fc
  .record({
    source: fc.array(fc.oneof(word, fc.constant('*')), { minLength: 1, maxLength: 5 }),
    under: fc.array(word, { minLength: 5, maxLength: 5 }),
    tail: fc.option(rest, { nil: null }),
    destination: fc.array(fc.oneof(word, fc.nat(4)), { minLength: 1, maxLength: 6 }),
    mustache: fc.boolean(),
  })
  .map(({ source, under, tail, destination, mustache }) => {
    const stars = source.filter((token) => token === '*').length;
    const taken = destination.map((token) => (typeof token === 'number' && token >= stars ? 'word' : token));
    const reference = (n: number): string => (mustache ? `{{wildcard(${n + 1})}}` : `$${n + 1}`);
    let next = 0;
    return {
      source: [...source, ...(tail === null ? [] : ['>'])].join('.'),
      destination: [
        ...taken.map((token) => (typeof token === 'number' ? reference(token) : token)),
        ...(tail === null ? [] : ['>']),
      ].join('.'),
      subject: [...source.map((token) => (token === '*' ? under[next++] : token)), ...(tail ?? [])].join('.'),
      result: [...taken.map((token) => (typeof token === 'number' ? under[token] : token)), ...(tail ?? [])].join('.'),
    };
  });

function compiled(source: string, destination: string): Transform {
  const { value, error } = compileTransform(source, destination);
  if (value === null) throw new Error(error.message);
  return value;
}

test('a transform of references alone does what its definition says', () => {
  fc.assert(
    fc.property(numbered, ({ source, destination, subject, result }) => {
      expect(compiled(source, destination).apply(subject, random)).toBe(result);
    }),
    { numRuns: 2000 },
  );
});

test('a pattern with its wildcards numbered leaves every subject in place', () => {
  fc.assert(
    fc.property(numbered, ({ source, subject }) => {
      expect(compiled(source, wildcardsToPlaceholders(source)).apply(subject, random)).toBe(subject);
    }),
  );
});

test('a transform applies to exactly the literals that its source matches', () => {
  const subject = fc.array(fc.constantFrom('a', 'b', 'abc', '', '*', '>'), { maxLength: 4 }).map((t) => t.join('.'));
  fc.assert(
    fc.property(numbered, subject, ({ source, destination }, subject) => {
      const expected = isValidLiteralSubject(subject) && isSubsetMatch(subject, source);
      expect(compiled(source, destination).apply(subject, random) !== null).toBe(expected);
    }),
  );
});

test('cutting and slicing lose nothing: without the dots the token is there again', () => {
  const cut = fc.constantFrom('splitFromLeft', 'SplitFromRight', 'sliceFromLeft', 'SliceFromRight');
  fc.assert(
    fc.property(cut, fc.integer({ min: -1, max: 12 }), fc.stringMatching(/^[a-z]{1,12}$/), (name, size, token) => {
      const pieces = compiled('*', `{{${name}(1,${size})}}`).apply(token, random)?.split('.') ?? [];
      expect(pieces.join('')).toBe(token);
      expect(pieces).not.toContain('');
      const isWhole = size <= 0 || size >= token.length;
      expect(pieces.length === 1).toBe(isWhole);
    }),
  );
});

test('partitions stay below their number and depend on the named tokens only', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1000 }), word, word, word, (buckets, one, two, other) => {
      const transform = compiled('*.*', `{{partition(${buckets},2)}}`);
      const partition = transform.apply(`${one}.${two}`, random);
      expect(Number(partition)).toBeGreaterThanOrEqual(0);
      expect(Number(partition)).toBeLessThan(buckets);
      expect(transform.apply(`${other}.${two}`, random)).toBe(partition);
    }),
  );
});

test('any text for a destination is compiled or refused with a text, and validation takes nothing that is refused', () => {
  const token = fc.oneof(
    fc.string({ unit: fc.constantFrom(...'{}()$,.*> 0123-aleftspiwdcrn'.split('')), maxLength: 24 }),
    fc.constantFrom('{{left(1,1)}}', '{{split(1,-)}}', '$1', '{{partition(3)}}', '{{random(2)}}', '>', '*'),
  );
  const destination = fc.array(token, { minLength: 1, maxLength: 4 }).map((tokens) => tokens.join('.'));
  fc.assert(
    fc.property(fc.constantFrom('*.*.*', 'a.*.>', '', '>', 'a'), destination, fc.boolean(), (source, text, strict) => {
      const { value, error } = compileTransform(source, text, { strict });
      const outcome = error === null ? value.applyTokens(['a', 'b', 'c'], random) : error.message;
      expect(outcome).not.toBe('');
      fc.pre(text !== '' && compileTransform(source, text).error !== null);
      expect(validateTransform(source, text)).not.toBeNull();
    }),
    { numRuns: 5000 },
  );
});
