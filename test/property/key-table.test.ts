/** The hash table of subjects holds what a `Map` would, however badly the hashes are spread. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Keyed, KeyTable } from '../../server/subject/key-table.ts';

class Entry implements Keyed {
  readonly key: string;
  readonly hash: number;
  readonly version: number;

  constructor(key: string, hash: number, version: number) {
    this.key = key;
    this.hash = hash;
    this.version = version;
  }
}

/** Table and map, told the same; where they differ it is noted. */
class Pair {
  readonly differences: string[] = [];
  readonly table = new KeyTable<Entry>();
  readonly map = new Map<string, Entry>();
  private readonly hashOf: (key: string) => number;
  private version = 0;

  constructor(hashOf: (key: string) => number) {
    this.hashOf = hashOf;
  }

  /** Adds the entry, or puts another in its place. */
  put(key: string): void {
    const entry = new Entry(key, this.hashOf(key), this.version++);
    if (this.map.has(key)) this.table.replace(entry);
    else this.table.add(entry);
    this.map.set(key, entry);
  }

  remove(key: string): void {
    this.table.remove(key, this.hashOf(key));
    this.map.delete(key);
  }

  check(key: string): void {
    const expected = this.map.get(key) ?? null;
    const bytes = Buffer.from(`x${key}y`, 'latin1');
    this.compare(key, this.table.find(key, this.hashOf(key)), expected);
    this.compare(`bytes of ${key}`, this.table.findBytes(bytes, 1, bytes.length - 1, this.hashOf(key)), expected);
  }

  checkAll(): void {
    const entries = [...this.table.entries()];
    this.compare('size', this.table.size, this.map.size);
    this.compare('number of entries', entries.length, this.map.size);
    for (const entry of entries) this.compare(`entry ${entry.key}`, entry, this.map.get(entry.key) ?? null);
  }

  private compare<T>(what: string, told: T, wanted: T): void {
    if (told !== wanted) this.differences.push(`${what}: ${JSON.stringify([told, wanted])}`);
  }
}

/** From a good spread to none: few hashes, hashes that differ in their highest or lowest bits alone, one hash. */
const spreads: Record<string, (n: number) => number> = {
  good: (n) => Math.imul(n, 0x9e3779b1) | 0,
  'eight hashes': (n) => Math.imul(n % 8, 0x9e3779b1) | 0,
  'high bits alone': (n) => (n << 24) | 0,
  'low bits alone': (n) => n & 0xff,
  'one hash': () => -1,
};

test.each(Object.keys(spreads))('small tables, hashes: %s', (spread) => {
  const hashOf = (key: string): number => (spreads[spread] as (n: number) => number)(Number(key));
  const step = fc.record({ action: fc.constantFrom('put', 'put', 'remove', 'check'), n: fc.nat(60) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const pair = new Pair(hashOf);
      for (const { action, n } of steps) {
        if (action === 'put') pair.put(String(n));
        else if (action === 'remove') pair.remove(String(n));
        pair.check(String(n));
      }
      for (let n = 0; n <= 60; n++) pair.check(String(n));
      pair.checkAll();
      expect(pair.differences).toEqual([]);
    }),
  );
});

test.each([
  ['well spread', (n: number): number => Math.imul(n, 0x9e3779b1) | 0],
  ['all in one half', (n: number): number => Math.imul(n, 0x9e3779b1) >>> 1],
  ['sharing their 12 highest bits', (n: number): number => (0x5a5 << 20) | (Math.imul(n, 0x9e3779b1) >>> 12)],
])('tables that are split and shrink again, hashes %s', (_, spread) => {
  const pair = new Pair((key) => spread(Number(key)));
  const count = 20_000;
  for (let n = 0; n < count; n++) pair.put(String(n));
  pair.checkAll();
  for (let n = 0; n < count; n += 97) pair.check(String(n));
  for (let n = 0; n < count; n++) if (n % 10 !== 0) pair.remove(String(n));
  pair.checkAll();
  for (let n = 0; n < count; n++) pair.check(String(n));
  for (let n = 0; n < count; n++) pair.put(String(n));
  pair.checkAll();
  expect(pair.differences).toEqual([]);
});

test('more entries of one hash than a part takes', () => {
  const pair = new Pair((key) => (Number(key) < 5000 ? 7 : Math.imul(Number(key), 0x9e3779b1) | 0));
  for (let n = 0; n < 12_000; n++) pair.put(String(n));
  pair.checkAll();
  for (const n of [0, 1, 2500, 4999, 5000, 11_999, 12_000]) pair.check(String(n));
  for (let n = 0; n < 5000; n += 2) pair.remove(String(n));
  for (let n = 0; n < 20; n++) pair.check(String(n));
  pair.checkAll();
  expect(pair.differences).toEqual([]);
});
