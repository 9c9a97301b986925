/** Durations keep what a client could see, through text and milliseconds. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { durationMs, durationNs, formatDuration, parseDuration } from '../../server/config/duration.ts';

test('a duration below 49 days keeps its nanoseconds through text and milliseconds', () => {
  const bound = 2n ** 32n * 1_000_000n;
  fc.assert(
    fc.property(fc.bigInt({ min: -bound, max: bound }), (ns) => {
      const ms = durationMs(ns);
      expect(durationNs(ms)).toBe(ns);
      expect(durationNs(parseDuration(formatDuration(ms)))).toBe(ns);
    }),
  );
});

test('one of whole milliseconds does at any length', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -9_223_372_036_854n, max: 9_223_372_036_854n }), (wholeMs) => {
      const ms = Number(wholeMs);
      expect(durationNs(ms)).toBe(wholeMs * 1_000_000n);
      expect(parseDuration(formatDuration(ms))).toBe(ms);
    }),
  );
});
