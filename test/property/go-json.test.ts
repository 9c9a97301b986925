/** JSON by Go's rules, on any text: nothing throws, what is read is written the same ever after, nothing is lost. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { consumerRequestType } from '../../jetstream/consumer/consumer-config-fields.ts';
import { streamRequestType } from '../../jetstream/stream/stream-config-fields.ts';
import { decode, decodeRequest, encode } from '../../server/protocol/go-json.ts';
import { goDuration, goString, type GoType } from '../../server/protocol/go-json-schema.ts';
import { scanValue } from '../../server/protocol/go-json-scanner.ts';
import { formatTime, parseTime } from '../../server/protocol/rfc3339.ts';

const TYPES = [streamRequestType, consumerRequestType] as readonly GoType<unknown>[];
const type = fc.constantFrom(...TYPES);

/** Keys that the requests have, so that values get behind the unknown ones. */
const KEYS = ['name', 'config', 'subjects', 'retention', 'max_msgs', 'max_age', 'sources', 'mirror', 'metadata'];
const MORE_KEYS = [
  'opt_start_time',
  'ack_policy',
  'backoff',
  'ack_wait',
  'consumer_limits',
  'placement',
  'action',
  'x',
];
const key = fc.constantFrom(...KEYS, ...MORE_KEYS);

const scalar = fc.oneof(
  fc.constantFrom('null', 'true', 'limits', 'explicit', 'file', '2024-05-06T07:08:09Z', ''),
  fc.maxSafeInteger().map(String),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n }).map(String),
  fc.double().map((number) => JSON.stringify(number)),
);
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar.map((text) => (/^[-\d]|^null$|^true$/.test(text) ? text : JSON.stringify(text))),
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(fc.tuple(key, tie('value')), { maxLength: 6 })
      .map((members) => `{${members.map(([name, text]) => `"${name}": ${text}`).join(',')}}`),
  ),
}));
const json = value.map(bytes);

/** JSON with one byte changed, cut out or put in. */
const damaged = fc
  .tuple(
    json,
    fc.nat(),
    fc.constantFrom('', '"', '{', '}', '[', ']', ',', ':', '\\', 'e', '.', '-', '0', '\u00e9', '\n'),
  )
  .map(
    ([text, at, byte]) => `${text.slice(0, at % (text.length + 1))}${byte}${text.slice((at % (text.length + 1)) + 1)}`,
  );

const anything = fc.oneof(json, damaged, fc.string({ unit: 'binary' }).map(bytes), fc.json().map(bytes));

function bytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}

test('reading never throws, and says what is wrong or gives a value', () => {
  fc.assert(
    fc.property(anything, type, fc.boolean(), (text, into, isStrict) => {
      for (const { error } of [decode(text, into), decodeRequest(text, into, isStrict)]) {
        expect(error === null || error.length > 0).toBe(true);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('a text that JavaScript reads is JSON, and no other', () => {
  fc.assert(
    fc.property(anything, (text) => {
      const end = scanValue(text, 0);
      const isWhole = typeof end === 'number' && /^[ \t\r\n]*$/.test(text.slice(end));
      expect(isWhole).toBe(isReadByJavaScript(text));
    }),
    { numRuns: 2_000 },
  );
});

function isReadByJavaScript(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test('what has been read and written is read and written the same', () => {
  fc.assert(
    fc.property(json, type, (text, into) => {
      const read = decode(text, into);
      fc.pre(read.error === null);
      const written = encode(into.toJson(read.value) as object);
      const again = decode(written, into);
      expect(again.error).toBeNull();
      expect(encode(into.toJson(again.value) as object)).toBe(written);
    }),
    { numRuns: 2_000 },
  );
});

test('texts and durations come through whole', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (text, ns) => {
      expect(decode(bytes(JSON.stringify(text)), goString).value).toBe(bytes(text));
      const duration = decode(`${ns}`, goDuration).value;
      expect(BigInt(duration)).toBe(ns);
      expect(typeof duration).toBe(Number.isSafeInteger(Number(ns)) ? 'number' : 'bigint');
    }),
  );
});

test('a moment comes through whole', () => {
  const seconds = fc.integer({ min: -62_000_000_000, max: 253_000_000_000 });
  const nanoseconds = fc.nat({ max: 999_999_999 });
  const offsetMinutes = fc.integer({ min: -1439, max: 1439 });
  fc.assert(
    fc.property(fc.record({ seconds, nanoseconds, offsetMinutes }), (moment) => {
      expect(parseTime(formatTime(moment))).toEqual(moment);
    }),
  );
});
