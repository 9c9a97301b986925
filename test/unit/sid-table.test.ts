/** The subscriptions of a connection, from none to many, found by the client's name for them. */
import { describe, expect, it } from 'vitest';
import type { Sink } from '../../server/ports.ts';
import { SidTable } from '../../server/connection/sid-table.ts';
import { Subscription } from '../../server/subject/subscription.ts';

const SINK: Sink = { sinkKind: 'internal', deliver: () => true };

function subscription(sid: string): Subscription {
  return new Subscription(SINK, 'a', '', sid);
}

function sidsOf(table: SidTable): string[] {
  return [...table.all()].map(({ sid }) => sid).sort();
}

describe('the table of sids', () => {
  // A few stand in an array, more in a map, and many in several maps.
  it.each([0, 1, 8, 9, 40, 16_384, 16_385, 40_000])('finds, lists and removes %i subscriptions', (count) => {
    const table = new SidTable();
    const all = Array.from({ length: count }, (_, i) => subscription(`sid-${i}`));
    for (const each of all) table.add(each);
    expect(table.size).toBe(count);
    expect(all.filter((each) => table.get(each.sid) !== each)).toEqual([]);
    expect(table.get('sid--1')).toBeUndefined();
    expect(sidsOf(table)).toEqual(all.map(({ sid }) => sid).sort());
    all.forEach((each, i) => i % 3 !== 0 && table.delete(each.sid));
    const kept = all.filter((_, i) => i % 3 === 0);
    expect(table.size).toBe(kept.length);
    expect(sidsOf(table)).toEqual(kept.map(({ sid }) => sid).sort());
  });

  it('is not confused by removing what is not there', () => {
    for (const count of [3, 30]) {
      const table = new SidTable();
      for (let i = 0; i < count; i++) table.add(subscription(String(i)));
      table.delete('x');
      table.delete('1');
      table.delete('1');
      expect(table.size).toBe(count - 1);
      expect(table.get('1')).toBeUndefined();
    }
  });

  it('can be emptied at once and used again', () => {
    for (const count of [3, 30, 20_000]) {
      const table = new SidTable();
      for (let i = 0; i < count; i++) table.add(subscription(String(i)));
      table.clear();
      expect([table.size, table.get('1'), sidsOf(table)]).toEqual([0, undefined, []]);
      table.add(subscription('1'));
      expect(sidsOf(table)).toEqual(['1']);
    }
  });

  it('goes on being listed while what was listed is removed', () => {
    for (const count of [5, 50, 20_000]) {
      const table = new SidTable();
      for (let i = 0; i < count; i++) table.add(subscription(String(i)));
      let seen = 0;
      for (const each of table.all()) {
        seen++;
        table.delete(each.sid);
      }
      expect([seen, table.size]).toEqual([count, 0]);
    }
  });

  it('shares nothing between connections that have none', () => {
    const [one, other] = [new SidTable(), new SidTable()];
    one.add(subscription('1'));
    expect(other.size).toBe(0);
    expect(sidsOf(other)).toEqual([]);
  });
});
