import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isSubsetMatch,
  isValidLiteralSubject,
  isValidLiteralSubjectBytes,
  isValidPublishSubject,
  isValidSubject,
  subjectMatches,
  subjectsCollide,
} from '../../server/subject/subject.ts';

const LITERALS = ['a', 'b', '*a'];
const DEPTH = 3;

/** Every literal of up to DEPTH + 1 tokens over the small alphabet: enough to tell any two patterns below apart. */
const universe: string[] = [];
for (let depth = 1, level = ['']; depth <= DEPTH + 1; depth++) {
  level = level.flatMap((prefix) => [...LITERALS, 'c'].map((token) => (prefix === '' ? token : `${prefix}.${token}`)));
  universe.push(...level);
}

const token = fc.constantFrom(...LITERALS, '*');
const pattern = fc
  .tuple(fc.array(token, { maxLength: DEPTH }), fc.boolean())
  .filter(([tokens, open]) => tokens.length > 0 || open)
  .map(([tokens, open]) => (open ? [...tokens.slice(0, DEPTH - 1), '>'] : tokens).join('.'));
const anything = fc
  .array(fc.constantFrom('a', 'b', '*a', '*', '>', '', ' ', 'x\t'), { maxLength: 5 })
  .map((tokens) => tokens.join('.'));

function matchesNaively(pattern: string[], literal: string[]): boolean {
  const [first, ...patternRest] = pattern;
  const [token, ...literalRest] = literal;
  if (first === undefined || token === undefined) return first === token;
  if (first === '>') return patternRest.length === 0;
  return (first === '*' || first === token) && matchesNaively(patternRest, literalRest);
}

test('matching agrees with a naive matcher, token by token', () => {
  fc.assert(
    fc.property(pattern, fc.array(fc.constantFrom('a', 'b', '*a', '*', '>'), { minLength: 1 }), (pattern, literal) => {
      expect(subjectMatches(pattern, literal.join('.'))).toBe(matchesNaively(pattern.split('.'), literal));
    }),
    { numRuns: 2000 },
  );
});

test('a literal with an empty token is matched by nothing', () => {
  fc.assert(
    fc.property(pattern, anything, (pattern, literal) => {
      fc.pre(literal.split('.').includes(''));
      expect(subjectMatches(pattern, literal)).toBe(false);
    }),
  );
});

test('one pattern is a subset of another exactly if every literal says so', () => {
  fc.assert(
    fc.property(pattern, pattern, (subset, pattern) => {
      const expected = universe.every(
        (literal) => !subjectMatches(subset, literal) || subjectMatches(pattern, literal),
      );
      expect(isSubsetMatch(subset, pattern)).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});

test('two patterns collide exactly if some literal is matched by both', () => {
  fc.assert(
    fc.property(pattern, pattern, (a, b) => {
      const expected = universe.some((literal) => subjectMatches(a, literal) && subjectMatches(b, literal));
      expect(subjectsCollide(a, b)).toBe(expected);
      expect(subjectsCollide(b, a)).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});

test('validity agrees with its definition', () => {
  fc.assert(
    fc.property(anything, (subject) => {
      const tokens = subject.split('.');
      const wellFormed = tokens.every((token, i) => token !== '' && (token !== '>' || i === tokens.length - 1));
      const blank = /[\t\n\f\r ]/.test(subject);
      const wild = tokens.some((token) => token === '*' || token === '>');
      expect(isValidSubject(subject)).toBe(wellFormed && !blank);
      expect(isValidLiteralSubject(subject)).toBe(wellFormed && !wild);
      expect(isValidPublishSubject(subject)).toBe(wellFormed && !blank && !wild);
      const buffer = Buffer.from(`a${subject}b`, 'latin1');
      expect(isValidLiteralSubjectBytes(buffer, 1, buffer.length - 1)).toBe(wellFormed && !wild);
    }),
    { numRuns: 2000 },
  );
});
