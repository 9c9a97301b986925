/** When patterns of schedules come due, across the ends of months and the changes of clocks. */
import { describe, expect, it } from 'vitest';
import { dueAfter, dueAgain, parsePattern, type Pattern } from '../../jetstream/stream/schedule-pattern.ts';

/** Pattern, time zone, after which moment, and the moments that follow. */
const FOLLOW: readonly (readonly [pattern: string, zone: string | null, after: string, ...follow: string[]])[] = [
  ['* * * * * *', null, '2026-01-31T23:59:59Z', '2026-02-01T00:00:00.000Z', '2026-02-01T00:00:01.000Z'],
  ['@hourly', null, '2026-01-31T23:00:00Z', '2026-02-01T00:00:00.000Z', '2026-02-01T01:00:00.000Z'],
  ['@weekly', null, '2026-02-25T00:00:00Z', '2026-03-01T00:00:00.000Z', '2026-03-08T00:00:00.000Z'],
  ['@monthly', null, '2026-01-01T00:00:00Z', '2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
  ['@yearly', null, '2026-01-01T00:00:00Z', '2027-01-01T00:00:00.000Z'],
  ['0 0 0 29 2 *', null, '2026-01-01T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['0 0 0 31 * *', null, '2026-01-31T00:00:00Z', '2026-03-31T00:00:00.000Z', '2026-05-31T00:00:00.000Z'],
  // Either day is enough where both are named.
  ['0 0 0 13 * fri', null, '2026-02-01T00:00:00Z', '2026-02-06T00:00:00.000Z', '2026-02-13T00:00:00.000Z'],
  ['0 0 0 ? * mon-tue', null, '2026-02-01T00:00:00Z', '2026-02-02T00:00:00.000Z', '2026-02-03T00:00:00.000Z'],
  ['0 */20 8/6 * * *', null, '2026-02-01T20:30:00Z', '2026-02-01T20:40:00.000Z', '2026-02-02T08:00:00.000Z'],
  // Clocks jump from 2 to 3 on 29 March, and back on 25 October.
  ['0 30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-30T00:30:00.000Z'],
  ['0 30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', '2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'],
  ['@daily', 'America/New_York', '2026-03-07T12:00:00Z', '2026-03-08T05:00:00.000Z', '2026-03-09T04:00:00.000Z'],
  ['@daily', 'Asia/Kathmandu', '2026-03-07T12:00:00Z', '2026-03-07T18:15:00.000Z'],
  ['@every 90s', null, '2026-01-01T00:00:00.4Z', '2026-01-01T00:01:30.000Z', '2026-01-01T00:03:00.000Z'],
  ['@every 1.5s', null, '2026-01-01T00:00:00.5Z', '2026-01-01T00:00:02.500Z', '2026-01-01T00:00:04.500Z'],
  ['@at 2026-01-01T00:00:00.0001Z', null, '2025-01-01T00:00:00Z', '2026-01-01T00:00:00.001Z'],
];

describe('a pattern', () => {
  it.each(FOLLOW)('%s in zone %s after %s', (text, zone, after, ...expected) => {
    const pattern = parsePattern(text, zone) as Pattern;
    let ms: number | null = Date.parse(after ?? '');
    const found = expected.map(() => {
      ms = ms === null ? null : dueAfter(pattern, ms);
      return ms === null ? null : new Date(ms).toISOString();
    });
    expect(found).toEqual(expected);
  });

  it('does not make up for what was missed', () => {
    const due = Date.parse('2026-01-01T00:00:00Z');
    const now = Date.parse('2026-01-01T10:00:00.2Z');
    expect(dueAgain(parsePattern('@every 1h', null) as Pattern, due, now)).toBe(Date.parse('2026-01-01T11:00:00Z'));
    expect(dueAgain(parsePattern('0 30 * * * *', null) as Pattern, due, now)).toBe(Date.parse('2026-01-01T10:30:00Z'));
    expect(dueAgain(parsePattern('@hourly', null) as Pattern, due, due + 5)).toBe(Date.parse('2026-01-01T01:00:00Z'));
  });

  it('allows something in every field', () => {
    for (const text of [', * * * * *', '* * * * *', '*/0 * * * * *', '5-1 * * * * *']) {
      expect(parsePattern(text, null)).toBe('pattern');
    }
  });

  it('that no day fits has no moment', () => {
    expect(dueAfter(parsePattern('0 0 0 31 2 *', null) as Pattern, 0)).toBeNull();
  });
});
