/**
 * Whatever bytes stand in a config file, the parser answers with a tree or with an error that names a line, a place or
 * the offending text, in time linear in the input. FUZZ_SEED replays a run, FUZZ_RUNS makes it longer.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { configDigest } from '../../server/config/digest.ts';
import { parseConfigFile } from '../../server/config/parser.ts';
import { ConfigError } from '../../server/config/tree.ts';
import type { ConfigMap, ConfigNode } from '../../server/config/tree.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 3_000);

/** What every error has: a line, a column, or the text that is at fault. */
const TELLS_WHERE =
  /(?: on line \d+|config is invalid \(|(?:integer|float|DateTime), but got '|is out of the range$|include file '|has more than)/;

const SEEDS: readonly string[] = [
  `listen: 127.0.0.1:4222\nserver_name: "a b"\n# c\nauthorization {\n users = [ {user: a, password: $2a$11$x.y/z} ]\n}\n`,
  `{ "port": 4222, "max_payload": 1MB, "jetstream": {"store_dir": '/x', "max_file": 10g}, "a": [1.5, yes, -3 ] }`,
  `t: 2020-01-02T03:04:05Z\nx: (\n block\n)\ny: "\\x41\\t"\nv: $t\ninclude ./inc.conf\nm { include 'inc.conf'; n: $ENV }\n`,
];

const FRAGMENTS: readonly string[] = [
  ['{', '}', '[', ']', '(', ')', '"', "'", ':', '=', ',', ';', '#', '//', '/', '\\', '\\x', '\n', '\r\n', ' ', '\t'],
  ['$a', '$ENV', '$LOOP', 'include ', 'include inc.conf', '1', '-', '.', '1k', '1.5', '1.2.3.4', '2020-01-02T', 'yes'],
  ['\0', '\u00a0', '\u0663', 'é', '\ufffd', ')\n', '\n)\n', '9'.repeat(30)],
].flat();

const mutations = fc.record({
  seed: fc.constantFrom(...SEEDS),
  edits: fc.array(
    fc.record({ at: fc.nat(200), removed: fc.nat(5), inserted: fc.oneof(fc.constantFrom(...FRAGMENTS), fc.string()) }),
    { minLength: 1, maxLength: 8 },
  ),
});

const texts = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 40 }).map((parts) => Buffer.from(parts.join(''))),
  mutations.map(({ seed, edits }) => {
    let text = seed;
    for (const { at, removed, inserted } of edits) text = text.slice(0, at) + inserted + text.slice(at + removed);
    return Buffer.from(text);
  }),
);

function parse(text: Uint8Array): ConfigMap {
  const readFile = (path: string): Uint8Array => (path === 'x.conf' ? text : Buffer.from('i: 1\nj { k: $i }\n'));
  return parseConfigFile('x.conf', { readFile, environment: { ENV: '[1, $OTHER]', OTHER: 'x', LOOP: '$LOOP' } });
}

function haveLines(nodes: Iterable<ConfigNode>): boolean {
  for (const { place, value } of nodes) {
    if (place.line < 1) return false;
    if ((value instanceof Map || Array.isArray(value)) && !haveLines(value.values())) return false;
  }
  return true;
}

/** What became of the text, in a word; anything else than a tree or a located error is a fault. */
function outcome(text: Uint8Array): string {
  try {
    const map = parse(text);
    configDigest(map);
    return haveLines(map.values()) ? 'tree' : 'a value without a line';
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return TELLS_WHERE.test(error.message) ? 'located error' : error.message;
  }
}

const FINE: readonly string[] = ['tree', 'located error'];

test('any bytes give a tree or an error that tells where', () => {
  const property = fc.property(texts, (text) => {
    expect(FINE).toContain(outcome(text));
  });
  fc.assert(property, { numRuns: RUNS });
});

test('long runs of any one fragment take no longer than their length', () => {
  for (const fragment of FRAGMENTS) expect(FINE).toContain(outcome(Buffer.from(fragment.repeat(20_000))));
});
