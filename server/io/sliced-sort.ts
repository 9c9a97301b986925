/**
 * Sorts a list in pieces: a stable merge sort over the runs that are there already, so that what is sorted costs one
 * look. Yields every STEP items that it has looked at or moved, n log n of them at most.
 *
 *     3 5 9 | 1 2 | 4 8 | 7      runs
 *     1 2 3 5 9 | 4 7 8          each pass merges neighbours
 */

const STEP = 512;

type Compare<T> = (a: T, b: T) => number;
type List<T> = readonly T[];

/** The items in order. `compare` is negative when `a` comes first. */
export function* sortSliced<T>(items: List<T>, compare: Compare<T>): Generator<void, List<T>> {
  const pace = new Pace();
  let runs = yield* runsOf(items, compare, pace);
  while (runs.length > 1) {
    const merged: List<T>[] = [];
    for (let i = 0; i < runs.length; i += 2) {
      const [left, right] = [runs[i] as List<T>, runs[i + 1]];
      merged.push(right === undefined ? left : yield* merge(left, right, compare, pace));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

/** When to yield, whatever is being done. */
class Pace {
  private count = 0;

  /** One more item: whether it is time. */
  step(): boolean {
    return ++this.count % STEP === 0;
  }
}

function* runsOf<T>(items: List<T>, compare: Compare<T>, pace: Pace): Generator<void, List<T>[]> {
  const runs: List<T>[] = [];
  let start = 0;
  for (let i = 1; i <= items.length; i++) {
    if (pace.step()) yield;
    if (i < items.length && compare(items[i - 1] as T, items[i] as T) <= 0) continue;
    runs.push(items.slice(start, i));
    start = i;
  }
  return runs;
}

function* merge<T>(left: List<T>, right: List<T>, compare: Compare<T>, pace: Pace): Generator<void, List<T>> {
  const merged: T[] = [];
  let at = 0;
  for (const item of right) {
    for (; at < left.length && compare(left[at] as T, item) <= 0; at++) {
      merged.push(left[at] as T);
      if (pace.step()) yield;
    }
    merged.push(item);
    if (pace.step()) yield;
  }
  for (; at < left.length; at++) {
    merged.push(left[at] as T);
    if (pace.step()) yield;
  }
  return merged;
}
