/** What is written as an S2 stream is read as the same, in whatever pieces it was written and arrives. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readS2, telemetry, writeS2 } from '../helpers/s2-stream.ts';

const sample = telemetry(200_000);

const piece = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each)),
  // Long matches, near and far.
  fc.record({ at: fc.nat(100_000), length: fc.nat(90_000) }).map(({ at, length }) => sample.subarray(at, at + length)),
  fc.record({ at: fc.nat(1000), length: fc.nat(3000) }).map(({ at, length }) => sample.subarray(at, at + length)),
  fc.record({ byte: fc.nat(255), length: fc.nat(70_000) }).map(({ byte, length }) => Buffer.alloc(length, byte)),
  fc
    .record({ unit: fc.uint8Array({ minLength: 1, maxLength: 20 }), times: fc.nat(500) })
    .map(({ unit, times }) => Buffer.concat(Array.from({ length: times }, () => unit))),
);
const writes = fc.array(fc.array(piece, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 });

/** `null`: only framed. */
const efforts = fc.constantFrom(null, 'fast' as const, 'thorough' as const);

test('content comes back, cut anywhere', () => {
  fc.assert(
    fc.property(writes, efforts, fc.array(fc.nat(), { maxLength: 8 }), (all, effort, cuts) => {
      const content = Buffer.concat(all.flat());
      const stream = effort === null ? writeS2(all, false) : writeS2(all, true, effort);
      const ends = [...cuts.map((at) => at % (stream.length + 1)), stream.length].toSorted((a, b) => a - b);
      const read = readS2(ends.map((end, i) => stream.subarray(ends[i - 1] ?? 0, end)));
      expect(read.failure).toBe('');
      expect(read.content.equals(content)).toBe(true);
    }),
    { numRuns: 200 },
  );
});

test('no byte of a stream can change without being seen', () => {
  const stream = writeS2([[telemetry(2000)]], true);
  const content = telemetry(2000);
  fc.assert(
    fc.property(fc.nat(stream.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const changed = Buffer.from(stream);
      changed[at] = (changed[at] as number) ^ change;
      const { content: read, failure } = readS2([changed]);
      // A longer length waits for more, and some types are skipped.
      expect(failure !== '' || read.length === 0 || read.equals(content)).toBe(true);
    }),
    { numRuns: 500 },
  );
});
