/**
 * Whatever bytes come over a leaf link, the parser takes operations out of them or refuses them, takes nothing after a
 * refusal, and comes to the same however the bytes are cut. FUZZ_SEED replays a run, FUZZ_RUNS makes it longer.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readHubInfo } from '../../leafnode/hub-info.ts';
import { readLeafOperations } from '../helpers/leaf-operations.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 3_000);

const SEEDS: readonly string[] = [
  'LMSG a 2\r\nhi\r\nLMSG a r 2\r\nhi\r\nLMSG a + r q w 2\r\nhi\r\nLMSG a | q 2\r\nhi\r\nPING\r\n',
  'HMSG a 12 14\r\nNATS/1.0\r\n\r\nhi\r\nHMSG a + r q 12 14\r\nNATS/1.0\r\n\r\nhi\r\nPONG\r\n',
  'INFO {"client_id":1}\r\nLS+ a\r\nLS+ a.> q 5\r\nLS- a.> q\r\n-ERR \'Loop detected\'\r\n+OK\r\n',
];

const FRAGMENTS: readonly string[] = [
  ['LMSG ', 'HMSG ', 'LS+ ', 'LS- ', 'INFO ', 'PING', 'PONG', '+OK', '-ERR ', '\r\n', '\r', '\n', ' ', '\t', '+', '|'],
  ['0', '1', '12', '-1', '007', '999999999', '9999999999', 'a.b', '>', '\0', '\xff', 'x'.repeat(200), 'x'.repeat(2000)],
].flat();

const streams = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((each) => Buffer.from(each)),
  fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 30 }).map((each) => Buffer.from(each.join(''), 'latin1')),
  fc
    .record({
      seed: fc.constantFrom(...SEEDS),
      edits: fc.array(fc.record({ at: fc.nat(150), removed: fc.nat(4), inserted: fc.constantFrom('', ...FRAGMENTS) }), {
        maxLength: 5,
      }),
    })
    .map(({ seed, edits }) => {
      let text = seed;
      for (const { at, removed, inserted } of edits) text = text.slice(0, at) + inserted + text.slice(at + removed);
      return Buffer.from(text, 'latin1');
    }),
);

test('any bytes are taken or refused, alike in one piece and in many', () => {
  fc.assert(
    fc.property(streams, fc.array(fc.nat(200), { maxLength: 5 }), (stream, cuts) => {
      const whole = readLeafOperations([stream]);
      expect(whole).not.toContain('after the end');
      expect(whole).not.toContain('the tail is');
      const ends = [...cuts.filter((at) => at < stream.length), stream.length].toSorted((a, b) => a - b);
      expect(readLeafOperations(ends.map((end, i) => stream.subarray(ends[i - 1] ?? 0, end)))).toBe(whole);
    }),
    { numRuns: RUNS },
  );
});

test('any JSON of an INFO line is read or refused with a reason', () => {
  const json = fc.oneof(
    fc.json(),
    fc.string(),
    fc
      .dictionary(fc.constantFrom('headers', 'cluster', 'export', 'client_id', 'leafnode_urls'), fc.jsonValue())
      .map((value) => JSON.stringify(value)),
  );
  fc.assert(
    fc.property(json, (text) => {
      const info = readHubInfo(text);
      expect(typeof info === 'string' ? info : `INFO ${info.cluster}`).toMatch(/INFO/);
    }),
    { numRuns: RUNS },
  );
});
