/** The duplicate window against a list of everything it was told, also through checkpoints. */
import { array, assert, constant, integer, nat, oneof, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capturedBytes } from '../helpers/captured-bytes.ts';
import { DedupWindow } from '../../jetstream/stream/dedup-window.ts';

interface Entry {
  readonly id: string;
  readonly sequence: number;
  readonly timeMs: number;
}

/** Finds the newest entry with the id, if it is young enough. */
class Model {
  entries: Entry[] = [];

  find(id: string, sinceMs: number): number {
    const found = this.entries.findLast((entry) => entry.id === id);
    return found === undefined || found.timeMs < sinceMs ? 0 : found.sequence;
  }
}

type Step =
  | { readonly do: 'add'; readonly id: number; readonly times: number }
  | { readonly do: 'expire'; readonly limit: number }
  | { readonly do: 'find'; readonly id: number }
  | { readonly do: 'checkpoint'; readonly behind: number };

const step = oneof(
  { weight: 8, arbitrary: record({ do: constant('add' as const), id: nat(3000), times: nat(900) }) },
  { weight: 3, arbitrary: record({ do: constant('expire' as const), limit: integer({ min: 1, max: 4000 }) }) },
  { weight: 3, arbitrary: record({ do: constant('find' as const), id: nat(4000) }) },
  { weight: 1, arbitrary: record({ do: constant('checkpoint' as const), behind: nat(700) }) },
);

const WINDOW_MS = 2000;
const CHECKPOINT_MS = 7;

/** A window and the model of it, which take the same steps. */
class Play {
  private window = new DedupWindow();
  private readonly model = new Model();
  private sequence = 0;
  private now = 1000;

  /** Whether both find the same. */
  agreesOn(id: string): boolean {
    const since = this.now - WINDOW_MS;
    return this.window.find(id, since) === this.model.find(id, since);
  }

  take(each: Step): boolean {
    switch (each.do) {
      case 'add':
        return this.add(each.id, each.times);
      case 'find':
        return this.agreesOn(idOf(each.id));
      case 'expire':
        while (this.window.expire(this.now - WINDOW_MS, each.limit));
        this.model.entries = this.model.entries.filter(({ timeMs }) => timeMs >= this.now - WINDOW_MS);
        return true;
      case 'checkpoint':
        this.checkpoint(this.sequence - each.behind);
        return true;
    }
  }

  private add(first: number, times: number): boolean {
    for (let i = 0; i <= times; i++) {
      const id = idOf(first + i);
      this.now += i % 3;
      if (!this.agreesOn(id)) return false;
      if (this.model.find(id, this.now - WINDOW_MS) > 0) continue;
      // Most are added right after they were looked for, some after another was.
      if (i % 5 === 0 && !this.agreesOn(idOf(first + i - 5))) return false;
      this.sequence++;
      this.window.add(id, this.sequence, this.now);
      this.model.entries.push({ id, sequence: this.sequence, timeMs: this.now });
    }
    return true;
  }

  private checkpoint(last: number): void {
    const encoded = capturedBytes(this.window.capture(last, CHECKPOINT_MS));
    this.window = new DedupWindow();
    for (const _ of this.window.decode(encoded));
    this.model.entries = this.model.entries
      .filter((entry) => entry.sequence <= last)
      .map((entry) => ({ ...entry, timeMs: entry.timeMs + CHECKPOINT_MS }));
    this.now += CHECKPOINT_MS;
  }
}

describe('a duplicate window', () => {
  it('finds what a list of its ids has', () => {
    expect.hasAssertions();
    assert(
      property(array(step, { maxLength: 40 }), (steps) => {
        const play = new Play();
        expect(steps.findIndex((each) => !play.take(each))).toBe(-1);
        const ids = Array.from({ length: 600 }, (_, at) => idOf(at * 7));
        expect(ids.filter((id) => !play.agreesOn(id))).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('gives back its memory when the ids are forgotten, and takes new ones', () => {
    const window = new DedupWindow();
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 50_000; i++) window.add(`${round}-${i}`, i + 1, round * 10_000 + i / 100);
      expect(window.size).toBe(50_000);
      expect(window.find(`${round}-49999`, 0)).toBe(50_000);
      while (window.expire(round * 10_000 + 1000, 1000));
      expect(window.size).toBe(0);
      expect(window.find(`${round}-1`, 0)).toBe(0);
    }
  });

  it('knows ids of any length', () => {
    const window = new DedupWindow();
    const ids = ['', 'x', 'x'.repeat(700), 'y'.repeat(65_535)];
    for (const [at, id] of ids.entries()) window.add(id, at + 1, 1);
    window.add('z'.repeat(65_536), 9, 1);
    expect(ids.map((id) => window.find(id, 0))).toEqual([1, 2, 3, 4]);
    expect(window.find('z'.repeat(65_536), 0)).toBe(0);
  });
});

function idOf(number: number): string {
  return number % 50 === 0 ? `${'long '.repeat(number % 9)}${number}` : `id-${number}`;
}
