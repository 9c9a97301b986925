/** Durations read and written as Go does, which is what config files and messages hold. */
import { describe, expect, test } from 'vitest';
import { durationNs, formatDuration, parseDuration } from '../../server/config/duration.ts';

describe('reading', () => {
  test.each([
    ['0', 0],
    ['1s', 1_000],
    ['1.5s', 1_500],
    ['.5s', 500],
    ['1.s', 1_000],
    ['2m', 120_000],
    ['1h30m', 5_400_000],
    ['1h1m1s1ms1us1ns', 3_661_001.001001],
    ['-3s', -3_000],
    ['+3s', 3_000],
    ['1\u00b5s', 0.001],
    ['1\u03bcs', 0.001],
    ['100ms', 100],
    ['2562047h47m16.854s', 9_223_372_036_854],
  ])('%s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each([
    ['', 'time: invalid duration ""'],
    ['x', 'time: invalid duration "x"'],
    ['.s', 'time: invalid duration ".s"'],
    ['-', 'time: invalid duration "-"'],
    ['5', 'time: missing unit in duration "5"'],
    ['1h5', 'time: missing unit in duration "1h5"'],
    ['5d', 'time: unknown unit "d" in duration "5d"'],
    ['5 s', 'time: unknown unit " s" in duration "5 s"'],
    ['5"', String.raw`time: unknown unit "\"" in duration "5\""`],
    ['5é', String.raw`time: unknown unit "\xc3\xa9" in duration "5\xc3\xa9"`],
    ['5constructor', 'time: unknown unit "constructor" in duration "5constructor"'],
    ['2562047h47m16.855s', 'time: invalid duration "2562047h47m16.855s"'],
  ])('%j is refused', (text, reason) => {
    expect(() => parseDuration(text)).toThrow(reason);
  });
});

test.each([
  [0, '0s'],
  [0.000001, '1ns'],
  [0.0015, '1.5\u00b5s'],
  [1.5, '1.5ms'],
  [100, '100ms'],
  [1_000, '1s'],
  [90_000, '1m30s'],
  [120_000, '2m0s'],
  [3_600_000, '1h0m0s'],
  [5_400_500, '1h30m0.5s'],
  [-1_500, '-1.5s'],
])('%d ms is written %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test('whole milliseconds are exact at any length', () => {
  expect(durationNs(9_223_372_036_854)).toBe(9_223_372_036_854_000_000n);
  expect(durationNs(parseDuration('2000h0.000000001s'))).toBe(7_200_000_000_000_001n);
});
