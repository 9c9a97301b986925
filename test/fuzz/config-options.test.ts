/**
 * Whatever is written for whichever key, petiole starts with whole options, or ends with an error that names a place or
 * the options that do not go together. FUZZ_SEED replays a run, FUZZ_RUNS makes it longer.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultOptions } from '../../server/config/draft.ts';
import { interpretCommandLine } from '../../server/config/load.ts';
import { changedOptions } from '../../server/config/reload.ts';
import { TABLES } from '../../server/config/schema.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 3_000);

const spellings = [
  'foo',
  'constructor',
  '__proto__',
  ...Object.values(TABLES).flatMap((keys) => keys.flatMap(({ name, aliases }) => [name, ...aliases])),
];

const WORDS: readonly string[] = [
  ['0', '1', '-1', '5k', '1g', '9223372036854775807', '1.5', 'true', 'no', '""', '"a b"', 'foo', 'a.*', '"a.>"'],
  ['"b.$1"', '"x..y"', '"1s"', '"-1h"', '5s', '127.0.0.1:4222', 'localhost:-1', '"[::1]:5"', '"nats://u:p@h:1"'],
  ['"ws://h"', 'always', 'enabled', '"$G"', '50%', '"1G"', '$2a$11$abc', '2020-01-01T00:00:00Z', '"é"', '"\\xff"'],
].flat();
const words = fc.constantFrom(...WORDS);

const { value } = fc.letrec<{ value: string; map: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    { arbitrary: words, weight: 3 },
    { arbitrary: tie('map'), weight: 2 },
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[ ${items.join(', ')} ]`),
  ),
  map: fc
    .array(fc.tuple(fc.constantFrom(...spellings), tie('value')), { maxLength: 4 })
    .map((entries) => `{ ${entries.map(([key, text]) => `${key}: ${text}`).join(', ')} }`),
}));

const configs = fc
  .array(fc.tuple(fc.constantFrom(...spellings), value), { maxLength: 5 })
  .map((entries) => entries.map(([key, text]) => `${key}: ${text}\n`).join(''));

const HAS_PLACE = /^(?:a\.conf:\d+:\d+: |a\.conf: config has no values|$)/;
const DO_NOT_MATCH =
  /lame duck grace period|cannot be higher|no_auth_user: |invalid domain name|cannot find local account|TLS cert and key required|invalid network type|error connecting to syslog/;

/** What became of the config, in a word; anything else than a start or a located error is a fault. */
function outcomeOf(config: string): string {
  const readFile = (): Uint8Array => Buffer.from(config);
  const outcome = interpretCommandLine(['-c', 'a.conf'], { readFile, environment: {} });
  if (outcome.kind === 'start') {
    changedOptions(defaultOptions(), outcome.options);
    const holes = JSON.stringify(outcome.options, (_, option: unknown) => (Number.isNaN(option) ? 'hole' : option));
    return holes.includes('"hole"') ? 'not a number' : 'start';
  }
  if (outcome.kind === 'signal') return 'signal';
  const lines = outcome.stderr
    .replace(/^nats-server: /, '')
    .trimEnd()
    .split('\n');
  const isLocated = lines.every((line) => HAS_PLACE.test(line) || DO_NOT_MATCH.test(line));
  return outcome.code === 1 && isLocated ? 'located error' : outcome.stderr;
}

test('any values for any keys give options or an error that tells where', () => {
  const property = fc.property(configs, (config) => {
    expect(['start', 'located error']).toContain(outcomeOf(config));
  });
  fc.assert(property, { numRuns: RUNS });
});
