/** The sort that lets others run in between. */
import { expect, it } from 'vitest';
import { sortSliced } from '../../server/io/sliced-sort.ts';

interface Item {
  readonly key: number;
  readonly place: number;
}

const byKey = (a: Item, b: Item): number => a.key - b.key;

function run(keys: readonly number[]): { sorted: readonly Item[]; comparisons: number; yields: number } {
  const items = keys.map((key, place) => ({ key, place }));
  let comparisons = 0;
  let yields = 0;
  const work = sortSliced(items, (a, b) => {
    comparisons++;
    return byKey(a, b);
  });
  let step = work.next();
  for (; step.done !== true; step = work.next()) yields++;
  return { sorted: step.value, comparisons, yields };
}

it.each([
  ['nothing', []],
  ['one', [5]],
  ['equals', [1, 1, 1, 1]],
  ['mixed', [3, 5, 9, 1, 2, 4, 8, 7]],
  ['downward', [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, -1]],
  ['many', Array.from({ length: 5000 }, (_, i) => (i * 7919) % 1009)],
])('sorts %s as a stable sort does', (_, keys) => {
  const expected = keys.map((key, place) => ({ key, place })).toSorted(byKey);
  expect(run(keys).sorted).toEqual(expected);
});

it('looks once at what is sorted already', () => {
  const { comparisons } = run(Array.from({ length: 10_000 }, (_, i) => i));
  expect(comparisons).toBe(9999);
});

it('lets others run at least every thousand comparisons', () => {
  const length = 20_000;
  const { comparisons, yields } = run(Array.from({ length }, (_, i) => (i * 7919) % length));
  expect(comparisons).toBeLessThan(length * Math.ceil(Math.log2(length)));
  expect(yields).toBeGreaterThan(comparisons / 1024);
});
