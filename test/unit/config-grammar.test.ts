/**
 * The config grammar: what each notation means, where values are said to stand, and the words of each error. All
 * expectations are what nats-server 2.15.2's parser answers, but for those under "differs from nats-server".
 */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { INCLUDES_MAX, parseConfigFile, VALUES_MAX } from '../../server/config/parser.ts';
import { configDigest } from '../../server/config/digest.ts';
import { NESTING_MAX } from '../../server/config/lexer.ts';
import { ConfigError, isDatetime, placeText } from '../../server/config/tree.ts';
import type { ConfigMap, ConfigNode, ConfigValue } from '../../server/config/tree.ts';

type Files = Readonly<Record<string, string | Uint8Array>>;

function parse(text: string | Uint8Array, environment: Record<string, string> = {}, files: Files = {}): ConfigMap {
  const all: Files = { 'a.conf': text, ...files };
  const readFile = (path: string): Uint8Array | Error => {
    const content = all[path];
    return content === undefined ? Object.assign(new Error('gone'), { code: 'ENOENT' }) : Buffer.from(content);
  };
  return parseConfigFile('a.conf', { readFile, environment });
}

/** A value as plain JavaScript: integers as bigint, moments as their text. */
function plain(value: ConfigValue): unknown {
  if (Array.isArray(value)) return value.map((node) => plain(node.value));
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, node]) => [key, plain(node.value)]));
  return typeof value === 'object' && isDatetime(value) ? value.datetime : value;
}

function values(text: string | Uint8Array, environment?: Record<string, string>, files?: Files): unknown {
  return plain(parse(text, environment, files));
}

/** The value of the one key `v`. */
function valueOf(notation: string): unknown {
  const map = parse(`v: ${notation}`);
  expect([...map.keys()]).toEqual(['v']);
  return plain(map.get('v')!.value);
}

function errorOf(text: string | Uint8Array, environment?: Record<string, string>, files?: Files): string {
  try {
    parse(text, environment, files);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('it parsed');
}

/** The place of each value in the order of the text, depth first. */
function places(text: string): string[] {
  const found: string[] = [];
  const visit = (path: string, node: ConfigNode): void => {
    found.push(`${path} ${placeText(node.place).replace('a.conf:', '')}`);
    if (Array.isArray(node.value)) node.value.forEach((child, index) => visit(`${path}[${index}]`, child));
    if (node.value instanceof Map) for (const [key, child] of node.value) visit(`${path}.${key}`, child);
  };
  for (const [key, node] of parse(text)) visit(key, node);
  return found;
}

describe('entries', () => {
  test('key and value are separated by a colon, an equals sign, white space or an opening brace', () => {
    expect(values('a: 1\nb = 2\nc 3\nd {e:4}\nf\n5')).toEqual({ a: 1n, b: 2n, c: 3n, d: { e: 4n }, f: 5n });
  });

  test('entries end at a line end, a comma or a semicolon', () => {
    expect(values('a: 1, b: 2; c: 3\nd: {e: 1, f: 2; g: 3\nh: 4}')).toEqual({
      a: 1n,
      b: 2n,
      c: 3n,
      d: { e: 1n, f: 2n, g: 3n, h: 4n },
    });
  });

  test('comments start at a hash or two slashes', () => {
    expect(values('# x\na: 1 # y\n// z\nb: 2 // {\nc: [ # w\n 3 // v\n]')).toEqual({ a: 1n, b: 2n, c: [3n] });
  });

  test('the whole file may stand in braces, as JSON', () => {
    expect(values('{ "a": 1, "b": {"c": ["x", true]} }\n')).toEqual({ a: 1n, b: { c: ['x', true] } });
    expect(values('a: 1\n}')).toEqual({ a: 1n });
    expect(values('{ {a: 1} , b: 2 }')).toEqual({ a: 1n, b: 2n });
  });

  test('keys may be quoted either way and hold anything', () => {
    expect(values(`"a b": 1\n'c:d': 2\nx { "}": 3, '\\n': 4 }`)).toEqual({
      'a b': 1n,
      'c:d': 2n,
      x: { '}': 3n, '\\n': 4n },
    });
  });

  test('of two entries with one key the last wins', () => {
    expect(values('a: 1\na: 2')).toEqual({ a: 2n });
  });

  test('a file without entries is an empty map', () => {
    expect(values('')).toEqual({});
    expect(values(' # nothing\n')).toEqual({});
  });

  test('a key without a value in a map is given to the map around it', () => {
    expect(values('m { a: }\nc: 7')).toEqual({ a: {}, c: 7n });
  });
});

describe('values', () => {
  test.each([
    ['1', 1n],
    ['-12', -12n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['1k', 1000n],
    ['1K', 1000n],
    ['1kb', 1024n],
    ['1KiB', 1024n],
    ['2ki', 2048n],
    ['3m', 3_000_000n],
    ['3mb', 3n * 1024n ** 2n],
    ['1g', 10n ** 9n],
    ['1GB', 1024n ** 3n],
    ['1t', 10n ** 12n],
    ['1TiB', 1024n ** 4n],
    ['1p', 10n ** 15n],
    ['1pb', 1024n ** 5n],
    ['1e', 10n ** 18n],
    ['1EB', 1024n ** 6n],
    ['-1k', -1000n],
    ['8eb', -(2n ** 63n)],
  ])('integer %s', (notation, expected) => {
    expect(valueOf(notation)).toBe(expected);
  });

  test.each([
    ['1.5', 1.5],
    ['-0.25', -0.25],
    ['100.0', 100],
  ])('float %s', (notation, expected) => {
    expect(valueOf(notation)).toBe(expected);
  });

  test.each([
    ['true', true],
    ['Yes', true],
    ['ON', true],
    ['false', false],
    ['no', false],
    ['Off', false],
  ])('boolean %s', (notation, expected) => {
    expect(valueOf(notation)).toBe(expected);
  });

  test.each([
    ['foo', 'foo'],
    ['foo.bar', 'foo.bar'],
    ['"true"', 'true'],
    [`'a\\nb'`, 'a\\nb'],
    [String.raw`"a\tb\n\r\"\\\x41"`, 'a\tb\n\r"\\A'],
    [String.raw`a\tb`, 'a\tb'],
    [String.raw`"\xe2\x82\xac"`, '€'],
    ['"two\nlines"', 'two\nlines'],
    [`foo'`, 'foo'],
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.1:4222', '127.0.0.1:4222'],
    ['localhost:4222', 'localhost:4222'],
    ['2s', '2s'],
    ['1h30m', '1h30m'],
    ['2m', 2_000_000n],
    ['(\n a {\n  b\n )\n', '\n a {\n  b\n )\n'],
    ['$2a$11$abc./x', '$2a$11$abc./x'],
    ['"$x"', '$x'],
    ['é€😀', 'é€😀'],
  ])('string %s', (notation, expected) => {
    expect(notation.startsWith('(') ? values(`v: ${notation})\n`) : { v: valueOf(notation) }).toEqual({ v: expected });
  });

  test('a block string ends at a parenthesis alone on its line', () => {
    expect(values('v (\n x (1)\n ) y\n)\nw: 1')).toEqual({ v: '\n x (1)\n ) y\n', w: 1n });
  });

  test('a parenthesis that ends the file stays part of the block string', () => {
    expect(values('v (\n x\n)')).toEqual({ v: '\n x\n)' });
  });

  test('datetimes are checked', () => {
    expect(valueOf('2024-02-29T23:59:59Z')).toBe('2024-02-29T23:59:59Z');
    for (const bad of [
      '2023-02-29T00:00:00Z',
      '2024-13-01T00:00:00Z',
      '2024-01-01T24:00:00Z',
      '2024-01-00T00:00:00Z',
    ]) {
      expect(errorOf(`v: ${bad}`)).toBe(`expected Zulu formatted DateTime, but got '${bad}'`);
    }
  });

  test('arrays take commas and line ends and mix types', () => {
    expect(valueOf('[1, "a", true ,{b: 2.5}, [x\n y]\n -3\n]')).toEqual([1n, 'a', true, { b: 2.5 }, ['x', 'y'], -3n]);
  });

  // #147, #494, #6891: unquoted passwords that begin with digits.
  test.each(['5ADI_x', '4e2abc', '0x10', '1_000', '0K1abc', '5e7bcd', '3.14.15', '12:34'])(
    'what begins with digits and is no number is a string: %s',
    (notation) => {
      expect(valueOf(notation)).toBe(notation);
    },
  );
});

describe('variables', () => {
  test('are looked up from the innermost map outwards', () => {
    expect(values('a: 1\nm { a: 2, n { b: $a, c: $d } , d: 4}\nd: 3\ne: $d', { d: '5' })).toEqual({
      a: 1n,
      m: { a: 2n, n: { b: 2n, c: 5n }, d: 4n },
      d: 3n,
      e: 3n,
    });
  });

  test('may stand for maps and arrays, also in arrays', () => {
    expect(values('p { x: 1 }\nq: [$p, $p]')).toEqual({ p: { x: 1n }, q: [{ x: 1n }, { x: 1n }] });
  });

  test('mark what they refer to', () => {
    const map = parse('a: 1\nb: $a\nc: $b');
    expect([...map].filter(([, node]) => node.usedAsVariable).map(([key]) => key)).toEqual(['a', 'b']);
  });

  test('take values from the environment as config values', () => {
    const environment = { PORT: '8080', ON: 'true', LIST: '[a, $PORT]', EMPTY: '', SIZE: '1KB' };
    expect(values('a: $PORT, b: $ON, c: $LIST, d: $EMPTY, e: $SIZE', environment)).toEqual({
      a: 8080n,
      b: true,
      c: ['a', 8080n],
      d: '',
      e: 1024n,
    });
  });

  test('that lead nowhere are named with their line', () => {
    expect(errorOf('a: 1\nb: $nope')).toBe(`variable reference for 'nope' on line 2 can not be found`);
    expect(errorOf('a: $constructor')).toBe(`variable reference for 'constructor' on line 1 can not be found`);
  });

  test('must be defined before use', () => {
    expect(errorOf('b: $a\na: 1')).toBe(`variable reference for 'a' on line 1 can not be found`);
  });

  // #7737
  test('in the environment that refer to themselves or each other are refused', () => {
    expect(errorOf('port: $FOO', { FOO: '$FOO' })).toBe(
      `variable reference for 'FOO' on line 1 could not be parsed: ` +
        `variable reference for 'FOO' on line 1 could not be parsed: variable reference cycle for 'FOO'`,
    );
    expect(errorOf('port: $A', { A: '[$B]', B: '$A' })).toMatch(/variable reference cycle for 'A'$/);
  });

  test('whose text is not a value are refused', () => {
    expect(errorOf('a: $X', { X: '"x' })).toBe(
      `variable reference for 'X' on line 1 could not be parsed: Parse error on line 1: 'Unexpected EOF.'`,
    );
  });
});

describe('includes', () => {
  test('put the keys of a file in place, relative to the including file', () => {
    const files = { 'd/b.conf': 'x: 1\ninclude c.conf\n', 'd/c.conf': 'y: 2' };
    expect(values('include d/b.conf\nm { include "d/c.conf" }', {}, files)).toEqual({ x: 1n, y: 2n, m: { y: 2n } });
    expect(values(`include './d/c.conf'; z: 3`, {}, files)).toEqual({ y: 2n, z: 3n });
  });

  test('a path from the root is taken from the folder of the including file', () => {
    expect(values('include /d/c.conf', {}, { 'd/c.conf': 'y: 2' })).toEqual({ y: 2n });
  });

  test('values know the file they come from', () => {
    const place = parse('a: 1\ninclude b.conf', {}, { 'b.conf': '\n  y: 2' }).get('y')!.place;
    expect(placeText(place)).toBe('b.conf:2:3');
  });

  test('the included file sees no variables of the including one', () => {
    expect(errorOf('a: 1\ninclude b.conf', {}, { 'b.conf': 'b: $a' })).toBe(
      `error parsing include file 'b.conf', variable reference for 'a' on line 1 can not be found`,
    );
  });

  test('with a separator it is an ordinary key', () => {
    expect(values('include: x')).toEqual({ include: 'x' });
  });

  test('a file that cannot be read is named', () => {
    expect(errorOf('include no.conf')).toBe(
      `error parsing include file 'no.conf', open no.conf: no such file or directory`,
    );
    const none = (code: string) => (): Error => Object.assign(new Error('x'), { code });
    expect(() => parseConfigFile('f', { readFile: none('EISDIR'), environment: {} })).toThrow('read f: is a directory');
    expect(() => parseConfigFile('f', { readFile: none('EACCES'), environment: {} })).toThrow(
      'open f: permission denied',
    );
  });
});

describe('places', () => {
  test('columns count from 1, but from 0 on the first line', () => {
    expect(places('a: 1, b: 2\n  c: 3\n"d": 4')).toEqual(['a 1:0', 'b 1:6', 'c 2:3', 'd 3:2']);
  });

  test('a value in a map stands at its key, one in an array at itself, a map in an array at its end', () => {
    expect(places('u: [ x,\n  {a: 1} ]')).toEqual(['u 1:0', 'u[0] 1:5', 'u[1] 2:9', 'u[1].a 2:4']);
  });

  test('a string with escapes is measured by what is left of it', () => {
    expect(places(String.raw`v: [ "\x41b" ]`)).toEqual(['v 1:0', 'v[0] 1:9']);
  });
});

describe('errors', () => {
  test.each([
    ['a: 1 b', 1, `Expected a top-level value to end with a new line, comment or EOF, but got 'b' instead.`],
    ['\n:a', 2, `Unexpected key separator ':'`],
    ['m {=a}', 1, `Unexpected key separator '='.`],
    ['a:\nb', 2, 'Expected value but found new line'],
    ['a: .5', 1, 'Floats must start with a digit'],
    ['a: -.5', 1, `Floats must start with a digit, not '.'.`],
    ['a: -x', 1, `Expected a digit but got 'x'.`],
    ['a: 1.x', 1, `Floats must have a digit after the '.', but got 'x' instead.`],
    ['a: 123-4', 1, 'All ISO8601 dates must be in full Zulu form.'],
    ['a: 2016-x', 1, `Expected digit in ISO8601 datetime, but found 'x' instead.`],
    ['a: 2016-05x', 1, `Expected '-' in ISO8601 datetime, but found 'x' instead.`],
    ['a: "x', 1, 'Unexpected EOF.'],
    [`a: 'x`, 1, 'Unexpected EOF.'],
    ['/a', 1, 'Unexpected EOF.'],
    ['a (\nx', 2, 'Unexpected EOF processing block.'],
    ['a {', 1, 'Unexpected EOF processing map.'],
    ['a { b', 1, 'Unexpected EOF processing map key.'],
    ['a { "b', 1, 'Unexpected EOF processing double quoted map key.'],
    [`a { 'b`, 1, 'Unexpected EOF processing quoted map key.'],
    ['a { ]', 1, `Unexpected array end ']' processing map.`],
    ['a { b: , }', 1, 'Unexpected map value terminator ",".'],
    ['a { b: "c" d }', 1, `Expected a map value terminator "," or a map terminator "}", but got 'd' instead.`],
    ['a [ , ]', 1, `Unexpected array value terminator ','.`],
    ['a [ x y ]', 1, `Expected an array value terminator "," or an array terminator "]", but got 'y' instead.`],
    ['{ a: "b" c', 1, `Expected a block-level value to end with a new line, comment or EOF, but got 'c' instead.`],
    ['{ {a: 1} x', 1, `Expected a block-level to end with a '}', but got 'x' instead.`],
    [
      String.raw`a: "\y"`,
      1,
      String.raw`Invalid escape character 'y'. Only the following escape characters are allowed: \xXX, \t, \n, \r, \", \\.`,
    ],
    [String.raw`a: "\xZZ"`, 1, String.raw`Expected two hexadecimal digits after '\x', but got 'ZZ'`],
    ['a: "\\x4\n"', 2, String.raw`Expected two hexadecimal digits after '\x', but hit end of line`],
    ['include [', 1, 'Expected include value but found start of an array'],
    ['include {', 1, 'Expected include value but found start of a map'],
    ['include (', 1, 'Expected include value but found start of a block'],
    ['include 5', 1, 'Expected include value but found start of a number'],
    ['include \\', 1, 'Expected include value but found escape sequence'],
    ['include \n', 2, 'Expected include value but found new line'],
    ['include "x', 1, 'Unexpected EOF in double quoted include'],
    [`include 'x`, 1, 'Unexpected EOF in quoted include'],
  ])('%j', (text, line, message) => {
    expect(errorOf(text)).toBe(`Parse error on line ${line}: '${message}'`);
  });

  test('numbers out of range', () => {
    expect(errorOf('a: 9223372036854775808')).toBe(`integer '9223372036854775808' is out of the range`);
    expect(errorOf('a: ٣')).toBe(`expected integer, but got '٣'`);
    expect(errorOf(`a: ${'9'.repeat(400)}.0`)).toMatch(/^float '9+\.0' is out of the range$/);
    expect(errorOf('a: 1.٣')).toBe(`expected float, but got '1.٣'`);
  });

  test('a last key without a value', () => {
    expect(errorOf('a: 1\nfoo')).toBe('config is invalid (a.conf:2:4)');
  });
});

describe('the digest', () => {
  test('is the one that nats-server -t prints', () => {
    const text =
      'port: 4222\nmax_payload: 1mb\nx: [1, 1.50, -0.0, "<&>\\x01\\t\u2028é"]\nb { d: 2020-01-02T03:04:05Z }\n';
    expect(configDigest(parse(text))).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(configDigest(parse('foo\nbar'))).toBe(
      'sha256:226e49e13d16e5e8aa0d62e58cd63361bf097d3e2b2444aa3044334628a2e8de',
    );
    expect(configDigest(parse(' {"a": 1, "b": {"c": [1.5, true, 2020-01-02T03:04:05Z]}}'))).toBe(
      'sha256:4e91c8aa2e8b21238c81f8229594f2010035c9bfa05d4b793daea61ac37794b4',
    );
  });

  test('is the same in kind for a large file', () => {
    const value = 'x'.repeat(40_000);
    const json = createHash('sha256').update(`{"a":"${value}"}\n`).digest('hex');
    expect(configDigest(parse(`a: ${value}`))).toBe(`sha256:${json}`);
  });

  test('does not depend on notation or order', () => {
    expect(configDigest(parse('a: 1k, b: yes'))).toBe(configDigest(parse('{"b": true; "a" = 1000}')));
  });

  test('tells a byte that is not UTF-8 from the replacement character', () => {
    expect(configDigest(parse(Buffer.from([0x61, 0x3d, 0xff])))).not.toBe(configDigest(parse('a=\ufffd')));
  });
});

describe('differs from nats-server', () => {
  test('an integer directly before the end of an array is an integer', () => {
    expect(valueOf('[1]')).toEqual([1n]);
    expect(valueOf('[1k,2kb]')).toEqual([1000n, 2048n]);
  });

  test('an integer with an unknown suffix is an error and not nothing', () => {
    expect(errorOf('a: 1\npass: 5kbb')).toBe(
      `integer '5kbb' on line 2 has an unknown size suffix; quote it if it is a string`,
    );
  });

  test('a file that includes itself is refused', () => {
    const files = { 'b.conf': 'include a.conf' };
    expect(errorOf('include b.conf', {}, files)).toBe(
      `error parsing include file 'b.conf', error parsing include file 'a.conf', include cycle for 'a.conf'`,
    );
  });

  test('nesting, values and includes are bounded', () => {
    expect(errorOf('a: ' + '['.repeat(NESTING_MAX))).toBe(
      `Parse error on line 1: 'Nested deeper than ${NESTING_MAX} levels'`,
    );
    const doubling = Array.from({ length: 40 }, (_, i) => `k${i + 1}: [$k${i}, $k${i}]`).join('\n');
    expect(errorOf(`k0: [1, 2]\n${doubling}`)).toBe(`config has more than ${VALUES_MAX} values`);
    const deeper = Array.from({ length: 40 }, (_, i) => `k${i + 1}: ${'['.repeat(99)}$k${i}${']'.repeat(99)}`);
    expect(errorOf(`k0: [1, 2]\n${deeper.join('\n')}`)).toBe(`values nested deeper than ${NESTING_MAX} levels`);
    const everyOther = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`f${i}`, `include f${i + 1}\ninclude f${i + 1}`]),
    );
    expect(errorOf('include f0', {}, { ...everyOther, f20: '' })).toMatch(
      new RegExp(`more than ${INCLUDES_MAX} includes$`),
    );
  });
});
