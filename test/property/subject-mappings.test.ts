import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileMapping } from '../../server/account/mapping.ts';
import { DROPPED, Mappings } from '../../server/account/mappings.ts';
import { PatternTrie } from '../../server/subject/pattern-trie.ts';
import { isSubsetMatch } from '../../server/subject/subject.ts';

const pattern = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', '*'), { maxLength: 3 }), fc.boolean())
  .filter(([tokens, open]) => tokens.length > 0 || open)
  .map(([tokens, open]) => [...tokens, ...(open ? ['>'] : [])].join('.'));
const subject = fc.array(fc.constantFrom('a', 'b', 'c', '', '*', '>'), { maxLength: 4 }).map((t) => t.join('.'));

/** Sorts patterns that match one subject: at the first token in which they differ literal, then `*`, then `>`. */
function bySpecificity(one: string, other: string): number {
  const rank = (token: string | undefined): number => ['*', '>'].indexOf(token ?? '') + 1;
  const [a, b] = [one.split('.'), other.split('.')];
  const at = a.findIndex((token, i) => token !== b[i]);
  return rank(a[at]) - rank(b[at]);
}

test('the trie finds the most specific of the patterns that match, after any sets and deletes', () => {
  const step = fc.record({ pattern, isDelete: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.array(subject, { minLength: 1 }), (steps, subjects) => {
      const trie = new PatternTrie<{ pattern: string }>();
      const model = new Map<string, { pattern: string }>();
      for (const { pattern, isDelete } of steps) {
        const value = { pattern };
        if (isDelete) trie.delete(pattern);
        else trie.set(pattern, value);
        if (isDelete) model.delete(pattern);
        else model.set(pattern, value);
      }
      for (const subject of subjects) {
        const matching = [...model.keys()].filter((pattern) => isSubsetMatch(subject, pattern)).sort(bySpecificity);
        const expected = matching[0] === undefined ? null : model.get(matching[0]);
        const buffer = Buffer.from(`x.${subject}.y`, 'latin1');
        expect(trie.find(buffer, 2, 2 + subject.length)).toBe(expected);
      }
    }),
    { numRuns: 1000 },
  );
});

test('destinations come out in proportion to their weights, and the rest unchanged or dropped', () => {
  const weights = fc
    .array(fc.nat(60), { minLength: 1, maxLength: 6 })
    .filter((all) => all.reduce((a, b) => a + b) <= 100);
  fc.assert(
    fc.property(weights, fc.boolean(), (weights, sourceListed) => {
      const destinations = weights.map((weight, i) => ({
        subject: sourceListed && i === 0 ? 'src' : `to.${i}`,
        weight,
      }));
      const { value } = compileMapping('src', destinations);
      let drawn = 0;
      const mappings = new Mappings({ fraction: () => ((drawn++ % 1000) + 0.5) / 1000 }, () => '');
      mappings.set(value!);
      const counts = new Map<string, number>();
      for (let message = 0; message < 1000; message++) {
        const result = mappings.selectText('src') ?? 'unmapped';
        counts.set(result, (counts.get(result) ?? 0) + 1);
      }
      const expected = new Map(destinations.map(({ subject, weight }) => [subject, weight * 10]));
      const left = 1000 - [...expected.values()].reduce((a, b) => a + b);
      expected.set(sourceListed ? DROPPED : 'src', left);
      for (const [result, count] of expected) expect([result, counts.get(result) ?? 0]).toEqual([result, count]);
      expect([...counts.values()].reduce((a, b) => a + b)).toBe(1000);
    }),
  );
});
