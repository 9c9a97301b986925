/**
 * Whatever bytes come as an S2 stream, content comes out of them that its checksum vouches for, or they are refused with
 * a reason; they come to the same however they are cut. FUZZ_SEED replays a run, FUZZ_RUNS makes it longer.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeTags } from '../../leafnode/s2/block-decoder.ts';
import { chunk, contentChunk, IDENTIFIER, readS2, telemetry, writeS2 } from '../helpers/s2-stream.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 3_000);

const bytes = fc.uint8Array({ maxLength: 100 }).map((each) => Buffer.from(each));
const streams = fc.oneof(
  bytes,
  fc
    .array(
      fc.oneof(
        fc.constant(IDENTIFIER),
        fc.record({ type: fc.nat(255), body: bytes }).map(({ type, body }) => chunk(type, body)),
        fc
          .record({ content: bytes, block: fc.option(bytes) })
          .map(({ content, block }) => contentChunk(content, block)),
        fc.constantFrom(50, 300, 900).map((length) => writeS2([[telemetry(length)]], true)),
      ),
      { maxLength: 6 },
    )
    .map((chunks) => Buffer.concat([IDENTIFIER, ...chunks])),
  fc
    .record({ edits: fc.array(fc.record({ at: fc.nat(400), byte: fc.nat(255) }), { maxLength: 6 }) })
    .map(({ edits }) => {
      const stream = writeS2([[telemetry(600)]], true);
      for (const { at, byte } of edits) stream[at % stream.length] = byte;
      return stream;
    }),
);

test('any bytes are taken or refused, alike in one piece and in many', () => {
  fc.assert(
    fc.property(streams, fc.array(fc.nat(400), { maxLength: 5 }), (stream, cuts) => {
      const whole = readS2([stream]);
      const ends = [...cuts.filter((at) => at < stream.length), stream.length].toSorted((a, b) => a - b);
      expect(readS2(ends.map((end, i) => stream.subarray(ends[i - 1] ?? 0, end)))).toEqual(whole);
    }),
    { numRuns: RUNS },
  );
});

test('no block reads or writes outside its place', () => {
  const tags = fc.array(
    fc.oneof(
      fc.nat(255).map((byte) => [byte]),
      fc.record({ length: fc.nat(7), low: fc.nat(255) }).map(({ length, low }) => [(length << 2) | 1, low % 8]),
      fc
        .record({ length: fc.nat(59), fill: fc.nat(255) })
        .map(({ length, fill }) => [length << 2, ...Array.from({ length: length + 1 }, () => fill)]),
    ),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(tags, fc.nat(300), (parts, length) => {
      const source = Buffer.from([...parts.flat(), 0xaa, 0xaa]);
      const target = Buffer.alloc(length + 32, 0xdd);
      const isTaken = decodeTags(source, 0, source.length - 2, target, 16, 16 + length);
      expect(typeof isTaken).toBe('boolean');
      expect(target.subarray(0, 16).every((byte) => byte === 0xdd)).toBe(true);
      expect(target.subarray(16 + length).every((byte) => byte === 0xdd)).toBe(true);
    }),
    { numRuns: RUNS },
  );
});
