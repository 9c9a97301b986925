/**
 * Sorts a list in pieces: a stable merge sort over the runs that are there already, so that what is sorted costs one
 * look. Yields every STEP comparisons, and takes n log n of them at most.
 *
 *     3 5 9 | 1 2 | 4 8 | 7      runs
 *     1 2 3 5 9 | 4 7 8          each pass merges neighbours
 */

const STEP = 512;

/** The items in order. `compare` is negative when `a` comes first. */
export function* sortSliced<T>(items: readonly T[], compare: (a: T, b: T) => number): Generator<void, readonly T[]> {
  let runs = yield* runsOf(items, compare);
  while (runs.length > 1) {
    const merged: (readonly T[])[] = [];
    for (let i = 0; i < runs.length; i += 2) {
      const [left, right] = [runs[i] as readonly T[], runs[i + 1]];
      merged.push(right === undefined ? left : yield* merge(left, right, compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* runsOf<T>(items: readonly T[], compare: (a: T, b: T) => number): Generator<void, (readonly T[])[]> {
  const runs: (readonly T[])[] = [];
  let start = 0;
  for (let i = 1; i <= items.length; i++) {
    if (i % STEP === 0) yield;
    if (i < items.length && compare(items[i - 1] as T, items[i] as T) <= 0) continue;
    runs.push(items.slice(start, i));
    start = i;
  }
  return runs;
}

function* merge<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
): Generator<void, readonly T[]> {
  const merged: T[] = [];
  let at = 0;
  for (const item of right) {
    for (; at < left.length && compare(left[at] as T, item) <= 0; at++) {
      merged.push(left[at] as T);
      if (merged.length % STEP === 0) yield;
    }
    merged.push(item);
    if (merged.length % STEP === 0) yield;
  }
  for (; at < left.length; at++) merged.push(left[at] as T);
  return merged;
}
