/** JSON by Go's rules: what is read, what is refused and in which words, and what is written. */
import { describe, expect, it } from 'vitest';
import { type Decoded, decode, decodeRequest, encode } from '../../server/protocol/go-json.ts';
import { DEPTH_MAX } from '../../server/protocol/go-json-scanner.ts';
import {
  goBool,
  goDuration,
  goEnumeration,
  goInt,
  goInt32,
  goInt64,
  goList,
  goPointer,
  goString,
  goStringMap,
  goTime,
  goUint64,
} from '../../server/protocol/go-json-schema.ts';
import { embedded, field, GoStruct } from '../../server/protocol/go-json-struct.ts';
import { millisecondsOf, type Nanoseconds, nanoseconds } from '../../server/protocol/nanoseconds.ts';
import type { Timestamp } from '../../server/protocol/rfc3339.ts';

interface Inner {
  readonly word: string;
  readonly limit: number;
}

interface Sample {
  readonly name: string;
  readonly flag: boolean;
  readonly small: number;
  readonly whole: number;
  readonly sequence: number;
  readonly wait: Nanoseconds;
  readonly list: readonly string[] | null;
  readonly map: ReadonlyMap<string, string> | null;
  readonly inner: Inner;
  readonly pointer: Inner | null;
  readonly pointers: readonly (Inner | null)[] | null;
  readonly time: Timestamp | null;
  readonly color: 'red' | 'green';
}

interface Outer {
  readonly sample: Sample;
  readonly extra: number;
}

const inner = new GoStruct<Inner>('test.Inner', [
  field('word', 'word', goString, 'omitempty'),
  field('limit', 'limit', goInt, 'omitempty'),
]);

const sample = new GoStruct<Sample>('test.Sample', [
  field('name', 'name', goString),
  field('flag', 'flag', goBool, 'omitempty'),
  field('small', 'small', goInt32, 'omitempty'),
  field('whole', 'whole', goInt64, 'omitempty'),
  field('sequence', 'sequence', goUint64, 'omitempty'),
  field('wait', 'wait', goDuration, 'omitempty'),
  field('list', 'list', goList(goString), 'omitempty'),
  field('map', 'map', goStringMap, 'omitempty'),
  field('inner', 'inner', inner),
  field('pointer', 'pointer', goPointer(inner), 'omitempty'),
  field('pointers', 'pointers', goList(goPointer(inner)), 'omitempty'),
  field('time', 'time', goTime, 'omitempty'),
  field('color', 'color', goEnumeration({ name: 'test.Color', values: ['red', 'green'] }), 'omitempty'),
]);

const outer = new GoStruct<Outer>('test.Outer', [
  ...embedded<Outer, 'sample'>('sample', sample),
  field<Outer, 'extra'>('extra', 'extra', goInt),
]);

function bytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** The text that comes of reading and writing. */
function again({ value, error }: Decoded<Sample>): string {
  expect(error).toBeNull();
  return Buffer.from(encode(sample.toJson(value)), 'latin1').toString();
}

describe('decode', () => {
  it.each([
    ['{}', '{"name":"","inner":{}}'],
    ['null', '{"name":"","inner":{}}'],
    [' {"name" : "a" , "flag":true}\n', '{"name":"a","flag":true,"inner":{}}'],
    ['{"NAME":"a","Flag":true,"\u017fmall":5,"\u212aap":1}', '{"name":"a","flag":true,"small":5,"inner":{}}'],
    ['{"name":"a","unknown":{"deep":[1,2,{"x":null}]}}', '{"name":"a","inner":{}}'],
    ['{"name":"a","name":"b"}', '{"name":"b","inner":{}}'],
    ['{"name":"a","name":null,"flag":true,"flag":null}', '{"name":"a","flag":true,"inner":{}}'],
    ['{"inner":{"word":"a"},"inner":{"limit":5}}', '{"name":"","inner":{"word":"a","limit":5}}'],
    ['{"pointer":{"word":"a"},"pointer":{"limit":5}}', '{"name":"","inner":{},"pointer":{"word":"a","limit":5}}'],
    ['{"pointer":{"word":"a"},"pointer":null}', '{"name":"","inner":{}}'],
    ['{"pointer":{}}', '{"name":"","inner":{},"pointer":{}}'],
    ['{"pointers":[null,{"limit":1}]}', '{"name":"","inner":{},"pointers":[null,{"limit":1}]}'],
    ['{"list":["a","b"],"list":[null]}', '{"name":"","list":["a"],"inner":{}}'],
    ['{"list":[]}', '{"name":"","inner":{}}'],
    ['{"map":{"b":"1"},"map":{"a":"2","b":null}}', '{"name":"","map":{"a":"2","b":""},"inner":{}}'],
    ['{"map":{"__proto__":"x"}}', '{"name":"","map":{"__proto__":"x"},"inner":{}}'],
    ['{"wait":9007199254740993}', '{"name":"","wait":9007199254740993,"inner":{}}'],
    ['{"wait":-9223372036854775808}', '{"name":"","wait":-9223372036854775808,"inner":{}}'],
    ['{"whole":9223372036854775807}', '{"name":"","whole":9223372036854775807,"inner":{}}'],
    ['{"whole":-9223372036854775808}', '{"name":"","whole":-9223372036854775808,"inner":{}}'],
    ['{"sequence":18446744073709551615}', '{"name":"","sequence":18446744073709551615,"inner":{}}'],
    ['{"whole":-0,"small":-2147483648}', '{"name":"","small":-2147483648,"inner":{}}'],
    ['{"time":"2024-05-06T07:08:09.120+02:00"}', '{"name":"","inner":{},"time":"2024-05-06T07:08:09.12+02:00"}'],
    ['{"time":"2024-05-06T07:08:09Z","time":null}', '{"name":"","inner":{}}'],
    ['{"color":"green"}', '{"name":"","inner":{},"color":"green"}'],
    ['{"name":"\\u00e9\\n\\"\\/\\ud83d\\ude00"}', '{"name":"é\\n\\"/😀","inner":{}}'],
    ['{"name":"é\\u00e9"}', '{"name":"éé","inner":{}}'],
    ['{"name":"\\ud800x\\udc00"}', '{"name":"\ufffdx\ufffd","inner":{}}'],
  ])('reads %s', (text, written) => {
    expect(again(decode(bytes(text), sample))).toBe(written);
  });

  it.each([
    ['', 'unexpected end of JSON input'],
    ['{"name":', 'unexpected end of JSON input'],
    ['{"name":"a', 'unexpected end of JSON input'],
    ['[1', 'unexpected end of JSON input'],
    ['tru', "invalid character ' ' in literal true (expecting 'e')"],
    ['-', "invalid character ' ' in numeric literal"],
    ['1.', "invalid character ' ' after decimal point in numeric literal"],
    ['"\\', "invalid character ' ' in string escape code"],
    ['"\\u1', "invalid character ' ' in \\u hexadecimal character escape"],
    ['{}}', "invalid character '}' after top-level value"],
    ['{} {}', "invalid character '{' after top-level value"],
    ['{"a":falsy}', "invalid character 'y' in literal false (expecting 'e')"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['{"a":1e+}', "invalid character '}' in exponent of numeric literal"],
    ['\u0007', "invalid character '\\a' looking for beginning of value"],
    ['\u007f', "invalid character '\\x7f' looking for beginning of value"],
    ['ü', "invalid character 'Ã' looking for beginning of value"],
    ["'", "invalid character '\\'' looking for beginning of value"],
    ['"a\tb"', "invalid character '\\t' in string literal"],
    ['5', 'json: cannot unmarshal number into Go value of type test.Sample'],
    ['{"name":{}}', 'json: cannot unmarshal object into Go struct field Sample.name of type string'],
    ['{"flag":"x"}', 'json: cannot unmarshal string into Go struct field Sample.flag of type bool'],
    [
      '{"small":2147483648}',
      'json: cannot unmarshal number 2147483648 into Go struct field Sample.small of type int32',
    ],
    ['{"whole":1.0}', 'json: cannot unmarshal number 1.0 into Go struct field Sample.whole of type int64'],
    ['{"sequence":-0}', 'json: cannot unmarshal number -0 into Go struct field Sample.sequence of type uint64'],
    ['{"wait":true}', 'json: cannot unmarshal bool into Go struct field Sample.wait of type time.Duration'],
    ['{"list":{}}', 'json: cannot unmarshal object into Go struct field Sample.list of type []string'],
    ['{"map":[]}', 'json: cannot unmarshal array into Go struct field Sample.map of type map[string]string'],
    ['{"inner":5}', 'json: cannot unmarshal number into Go struct field Sample.inner of type test.Inner'],
    ['{"pointer":"x"}', 'json: cannot unmarshal string into Go struct field Sample.pointer of type test.Inner'],
    ['{"pointers":{}}', 'json: cannot unmarshal object into Go struct field Sample.pointers of type []*test.Inner'],
    [
      '{"pointers":[{"word":5}]}',
      'json: cannot unmarshal number into Go struct field Inner.pointers.word of type string',
    ],
    ['{"small":"a","flag":"b"}', 'json: cannot unmarshal string into Go struct field Sample.small of type int32'],
    ['{"small":"a","color":"blue","flag":"b"}', 'can not unmarshal "\\"blue\\""'],
    ['{"color":"blue","time":5}', 'can not unmarshal "\\"blue\\""'],
    ['{"time":5}', 'Time.UnmarshalJSON: input is not a JSON string'],
    ['{"pointers":[{"word":"a"},5,{"word":5}],"color":"blue"', 'unexpected end of JSON input'],
  ])('refuses %s', (text, error) => {
    const decoded = decode(bytes(text), sample);
    expect(Buffer.from(decoded.error ?? '', 'latin1').toString()).toBe(error);
  });

  it('names the fields of an embedded struct with its name', () => {
    expect(decode('{"small":"x"}', outer).error).toBe(
      'json: cannot unmarshal string into Go struct field Outer.Sample.small of type int32',
    );
    expect(decode('{"extra":"x"}', outer).error).toBe(
      'json: cannot unmarshal string into Go struct field Outer.extra of type int',
    );
    expect(encode(outer.toJson(decode('{"extra":1,"name":"a"}', outer).value))).toBe(
      '{"name":"a","inner":{},"extra":1}',
    );
  });

  it('refuses numbers between 2^53 and the largest, which it could not keep', () => {
    expect(decode('{"whole":9007199254740991}', sample).value.whole).toBe(Number.MAX_SAFE_INTEGER);
    expect(decode('{"whole":9007199254740993}', sample).error).toMatch(/number 9007199254740993 into/);
    expect(decode('{"whole":9223372036854775807}', sample).value.whole).toBe(Infinity);
  });

  it('takes what is nested as deep as the limit, and refuses what is deeper before reading it', () => {
    const nested = (depth: number): string => `{"unknown":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    expect(decode(nested(DEPTH_MAX), sample).error).toBeNull();
    expect(decode(nested(DEPTH_MAX + 1), sample).error).toBe("invalid character '[' exceeded max depth");
    expect(decode('['.repeat(1_000_000), sample).error).toBe("invalid character '[' exceeded max depth");
  });

  it('replaces bytes that are no UTF-8', () => {
    expect(decode('{"name":"a\u00ffb"}', sample).value.name).toBe(bytes('a\ufffdb'));
    expect(decode('{"color":"\u00ff"}', sample).error).toBe(String.raw`can not unmarshal "\"\xff\""`);
  });
});

describe('decodeRequest', () => {
  it.each([
    ['', '{"name":"","inner":{}}'],
    [' \r\n\t ', '{"name":"","inner":{}}'],
    ['{"name":"a"} {"flag":true}', '{"name":"a","flag":true,"inner":{}}'],
  ])('takes %j', (text, written) => {
    expect(again(decodeRequest(text, sample, true))).toBe(written);
  });

  it.each([
    ['{"unknown":1}', 'json: unknown field "unknown"'],
    ['{"small":"x","unknown":1}', 'json: cannot unmarshal string into Go struct field Sample.small of type int32'],
    ['{"inner":{"what \\"?é":1}}', 'json: unknown field "what \\"?é"'],
    ['{"name":"a"', 'unexpected EOF'],
    ['{"name":"a"} x', "invalid character 'x' looking for beginning of value at offset 14"],
    ['{"name":"é",}', "invalid character '}' looking for beginning of object key string at offset 14"],
    ['{"name":"a"} {"unknown":1}', 'json: unknown field "unknown"'],
    ['{"unknown":1} {', 'json: unknown field "unknown"'],
  ])('refuses %j when it is strict', (text, error) => {
    const decoded = decodeRequest(bytes(text), sample, true);
    expect(Buffer.from(decoded.error ?? '', 'latin1').toString()).toBe(error);
  });

  it('reads by the rules of decode what it would refuse, when it is not strict', () => {
    expect(again(decodeRequest('{"unknown":1,"name":"a"}', sample, false))).toBe('{"name":"a","inner":{}}');
    expect(decodeRequest('{"name":"a"', sample, false).error).toBe('unexpected end of JSON input');
    expect(decodeRequest('{}x', sample, false).error).toBe("invalid character 'x' after top-level value");
    expect(decodeRequest('{"unknown":1,"small":"x"}', sample, false).error).toMatch(/^json: cannot unmarshal string/);
  });
});

describe('encode', () => {
  it.each([
    [{ a: '<b> & c' }, String.raw`{"a":"\u003cb\u003e \u0026 c"}`],
    [{ '<': 1 }, String.raw`{"\u003c":1}`],
    [{ a: bytes('\u2028\u2029') }, String.raw`{"a":"\u2028\u2029"}`],
    [{ a: '"\\\n\u0001' }, String.raw`{"a":"\"\\\n\u0001"}`],
    [{ a: bytes('é😀') }, bytes('{"a":"é😀"}')],
    [{ a: 'x\u00ff' }, String.raw`{"a":"x\ufffd"}`],
    [{ a: 18_446_744_073_709_551_615n, b: [1n, 2] }, '{"a":18446744073709551615,"b":[1,2]}'],
    [{ a: undefined, b: null, c: true }, '{"b":null,"c":true}'],
  ])('writes %o', (value, text) => {
    expect(encode(value)).toBe(text);
  });
});

describe('durations', () => {
  it('are numbers wherever these are exact', () => {
    expect(nanoseconds(2n ** 53n - 1n)).toBe(Number.MAX_SAFE_INTEGER);
    expect(nanoseconds(2n ** 53n)).toBe(2n ** 53n);
    expect(nanoseconds(-(2n ** 53n))).toBe(-(2n ** 53n));
  });

  it('become milliseconds', () => {
    expect(millisecondsOf(1_500_000)).toBe(1.5);
    expect(millisecondsOf(2n ** 60n)).toBeCloseTo(1_152_921_504_606.847, 3);
  });
});
