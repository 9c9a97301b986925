/**
 * Whatever tree of values is written down in whatever notation the grammar offers, the same tree is read back.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { configDigest } from '../../server/config/digest.ts';
import { parseConfigFile } from '../../server/config/parser.ts';
import { isDatetime } from '../../server/config/tree.ts';
import type { ConfigMap, ConfigValue } from '../../server/config/tree.ts';

type Tree = string | bigint | number | boolean | Tree[] | Map<string, Tree>;

const scalars = fc.oneof(
  fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed() && !text.includes('\0')),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }).filter((n) => !/e/.test(String(n))),
  fc.boolean(),
);
// A key with both kinds of quotes in it can't be written.
const keys = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
  .filter((key) => !key.includes('\0') && !(key.includes('"') && key.includes("'")));
const { tree } = fc.letrec<{ tree: Tree; map: Map<string, Tree> }>((tie) => ({
  tree: fc.oneof({ depthSize: 'small' }, scalars, fc.array(tie('tree'), { maxLength: 4 }), tie('map')),
  map: fc
    .uniqueArray(fc.tuple(keys, tie('tree')), { selector: ([key]) => key, maxLength: 4 })
    .map((entries) => new Map(entries)),
}));
const roots = fc
  .uniqueArray(fc.tuple(keys, tree), { selector: ([key]) => key, minLength: 1, maxLength: 5 })
  .map((entries) => new Map(entries));

/** Writes trees, choosing among equal notations by a stream of numbers. */
class Writer {
  readonly #choices: readonly number[];
  #next = 0;

  constructor(choices: readonly number[]) {
    this.#choices = choices;
  }

  #choose<T>(options: readonly T[]): T {
    const choice = this.#choices[this.#next++ % this.#choices.length]!;
    return options[choice % options.length]!;
  }

  /** The entries of a map, one a line or not. `endings` are what may stand behind each. */
  entries(map: ReadonlyMap<string, Tree>, endings: readonly string[]): string {
    return [...map].map(([key, value]) => `${this.#entry(key, value)}${this.#choose(endings)}`).join('');
  }

  #entry(key: string, value: Tree): string {
    const separator = this.#choose([': ', ':', ' = ', '=', ' ', '  :\t', ' \n ']);
    return `${this.#key(key)}${separator}${this.value(value)}`;
  }

  #key(key: string): string {
    if (/^[A-Za-z_]\w*$/.test(key) && key.toLowerCase() !== 'include')
      return this.#choose([key, `"${key}"`, `'${key}'`]);
    return key.includes('"') ? `'${key}'` : `"${key}"`;
  }

  value(value: Tree): string {
    if (Array.isArray(value)) {
      const items = value.map((item) => `${this.value(item)}${this.#choose([', ', ' ,', '\n', ' # x\n', ',\n'])}`);
      return `[${this.#choose(['', ' ', '\n'])}${items.join('')}]`;
    }
    if (value instanceof Map) {
      return `{${this.#choose(['', ' ', '\n', '// c\n'])}${this.entries(value, [', ', '\n', ' ; ', ' # c\n'])}}`;
    }
    if (typeof value === 'string') return this.#string(value);
    if (typeof value === 'bigint') return this.#integer(value);
    if (typeof value === 'number') return this.#float(value);
    return this.#choose(value ? ['true', 'yes', 'on', 'TRUE'] : ['false', 'no', 'off', 'False']);
  }

  #string(text: string): string {
    const escaped = text.replaceAll(/["\\\n\r\t]/g, (character) => ESCAPES[character]!);
    const hex = [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
    const forms = [`"${escaped}"`, `"${hex}"`];
    if (!text.includes("'")) forms.push(`'${text}'`);
    if (!/["\\]/.test(text)) forms.push(`"${text}"`);
    if (/^[A-Za-z_./]+$/.test(text) && !/^(?:true|false|yes|no|on|off)$/i.test(text)) forms.push(text);
    return this.#choose(forms);
  }

  #integer(value: bigint): string {
    const forms = [String(value)];
    if (value % 1000n === 0n) forms.push(`${value / 1000n}k`, `${value / 1000n}K`);
    if (value % 1024n === 0n) forms.push(`${value / 1024n}kb`, `${value / 1024n}KiB`, `${value / 1024n}ki`);
    return this.#choose(forms);
  }

  #float(value: number): string {
    const text = Object.is(value, -0) ? '-0' : String(value);
    return text.includes('.') ? text : `${text}.0`;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function parse(text: string): ConfigMap {
  return parseConfigFile('x.conf', { readFile: () => Buffer.from(text), environment: {} });
}

function treeOf(value: ConfigValue): Tree {
  if (Array.isArray(value)) return value.map((node) => treeOf(node.value));
  if (value instanceof Map) return new Map([...value].map(([key, node]) => [key, treeOf(node.value)]));
  if (typeof value === 'object' && isDatetime(value)) throw new Error('no datetime was written');
  return value;
}

const writers = fc.array(fc.nat(), { minLength: 1, maxLength: 50 }).map((choices) => new Writer(choices));

test('a tree written in any notation is read back', () => {
  fc.assert(
    fc.property(roots, writers, (root, writer) => {
      const map = parse(writer.entries(root, ['\n', '; ', ', ', ' # c\n', ' // c\n']));
      expect(treeOf(map)).toEqual(root);
    }),
    { numRuns: 2_000 },
  );
});

test('the outer braces of JSON change nothing, nor does any notation change the digest', () => {
  fc.assert(
    fc.property(roots, writers, writers, (root, one, other) => {
      const bare = configDigest(parse(one.entries(root, ['\n'])));
      expect(configDigest(parse(`{\n${other.entries(root, [',\n', '\n'])}}`))).toBe(bare);
    }),
    { numRuns: 500 },
  );
});
