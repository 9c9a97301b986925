import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { isSubsetMatch, isValidSubject, subjectsCollide } from '../../server/subject/subject.ts';
import { SubjectCollisions } from '../../server/subject/subject-collisions.ts';

const token = fc.constantFrom('a', 'b', 'c', '*');
const subject = fc
  .tuple(fc.array(token, { minLength: 1, maxLength: 4 }), fc.boolean())
  .map(([tokens, isOpen]) => (isOpen ? [...tokens.slice(1), '>'] : tokens).join('.'))
  .filter((text) => isValidSubject(text));

it('a subject collides with a set exactly when it does with one of its subjects', () => {
  fc.assert(
    fc.property(fc.array(subject, { maxLength: 6 }), subject, (subjects, asked) => {
      const set = new SubjectCollisions();
      for (const each of subjects) set.add(each);
      expect(set.collides(asked)).toBe(subjects.some((each) => subjectsCollide(each, asked)));
    }),
    { numRuns: 3000 },
  );
});

it('a set covers a subject exactly when one of its subjects does', () => {
  fc.assert(
    fc.property(fc.array(subject, { maxLength: 6 }), subject, (subjects, asked) => {
      const set = new SubjectCollisions();
      for (const each of subjects) set.add(each);
      expect(set.covers(asked)).toBe(subjects.some((each) => isSubsetMatch(asked, each)));
    }),
    { numRuns: 3000 },
  );
});

it('takes subjects of any length', () => {
  const long = 'a.'.repeat(200_000);
  const set = new SubjectCollisions();
  set.add(`${long}b`);
  expect(set.collides(`${long}c`)).toBe(false);
  expect(set.collides(`${long}*`)).toBe(true);
  expect(set.covers(`${long}b`)).toBe(true);
});
