/** Which subjects pass a consumer's filters: as matching each filter by itself says, whatever the order of asking. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SubjectFilter } from '../../jetstream/consumer/subject-filter.ts';
import { SubjectIndex } from '../../jetstream/store/subject-index.ts';
import { subjectMatches } from '../../server/subject/subject.ts';

const token = fc.constantFrom('a', 'b', 'c', 'aa');
const subject = fc.array(token, { minLength: 1, maxLength: 3 }).map((tokens) => tokens.join('.'));
const pattern = fc
  .tuple(fc.array(fc.oneof(token, fc.constant('*')), { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([tokens, isOpen]) => (isOpen ? [...tokens, '>'] : tokens).join('.'));

function indexOf(subjects: readonly string[]): SubjectIndex {
  const index = new SubjectIndex();
  for (const each of subjects) {
    const bytes = Buffer.from(each);
    index.intern(bytes, 0, bytes.length);
  }
  return index;
}

describe('filters', () => {
  it('let pass what one of them matches', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(subject, { maxLength: 20 }),
        fc.array(pattern, { minLength: 1, maxLength: 6 }),
        (all, filters) => {
          const filter = new SubjectFilter(filters, indexOf(all));
          const passed = all.filter((_, number) => filter.matches(number));
          expect(passed).toEqual(all.filter((each) => filters.some((wanted) => subjectMatches(wanted, each))));
          expect(all.filter((_, number) => filter.matches(number))).toEqual(passed);
        },
      ),
    );
  });

  it.each([[[]], [['>']], [['a.b', '>']]])('%j let everything pass', (filters) => {
    const filter = new SubjectFilter(filters, indexOf(['x', 'y.z']));
    expect(filter.accepts).toBeNull();
    expect(filter.matches(1)).toBe(true);
    expect(filter.matchesText('anything')).toBe(true);
  });

  it('count the messages that pass', () => {
    const index = indexOf(['a.x', 'b', 'a.y']);
    for (const [sequence, number] of [0, 0, 1, 2].entries()) index.added(number, sequence + 1);
    expect(new SubjectFilter(['a.*'], index).count()).toBe(3);
  });
});
