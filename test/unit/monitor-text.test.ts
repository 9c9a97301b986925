/** How monitoring writes moments, spans, texts and whole documents. Expectations are what Go prints. */
import { describe, expect, it } from 'vitest';
import { bytesAsText, textAsBytes } from '../../server/monitor/byte-text.ts';
import { JsonDocument } from '../../server/monitor/json-document.ts';
import { ageText, momentText, roundTripText } from '../../server/monitor/time-text.ts';

const SECOND = 1000;
const DAY = 86_400 * SECOND;

describe('spans and moments', () => {
  it.each([
    [0, '0s'],
    [999, '0s'],
    [-5 * SECOND, '0s'],
    [59.9 * SECOND, '59s'],
    [60 * SECOND, '1m0s'],
    [3600 * SECOND, '1h0m0s'],
    [DAY + 61 * SECOND, '1d0h1m1s'],
    [365 * DAY, '1y0d0h0m0s'],
    [800 * DAY + 3661 * SECOND, '2y70d1h1m1s'],
  ])('an age of %d ms is %s', (ms, text) => {
    expect(ageText(ms)).toBe(text);
  });

  it.each([
    [0, '0s'],
    [0.0005, '500ns'],
    [0.001, '1µs'],
    [0.828_9, '828µs'],
    [1, '1ms'],
    [1.632_351, '1.632351ms'],
    [2500, '2.5s'],
    [61_000, '1m1s'],
  ])('a round trip of %d ms is %s', (ms, text) => {
    expect(roundTripText(ms)).toBe(text);
  });

  it.each([
    [1_767_225_600_000, '2026-01-01T00:00:00Z'],
    [1_767_225_600_000.25, '2026-01-01T00:00:00.00025Z'],
    [1_767_225_600_123.456, '2026-01-01T00:00:00.123456Z'],
    [0, '1970-01-01T00:00:00Z'],
    [-1, '1969-12-31T23:59:59.999Z'],
  ])('a moment %d ms after 1970 is %s', (wallMs, text) => {
    expect(momentText(wallMs)).toBe(text);
  });

  it('bytes and texts are each other', () => {
    expect(bytesAsText('a\u00c3\u00bc.>')).toBe('aü.>');
    expect(textAsBytes('aü.>')).toBe('a\u00c3\u00bc.>');
    expect(bytesAsText('\u00ff')).toBe('\ufffd');
  });
});

describe('a document', () => {
  const rows = [{ a: 1, b: { c: [] } }, {}, { d: [1, [2]], e: 'x\n"' }];

  it('has the indentation of JSON.stringify', () => {
    const json = new JsonDocument();
    json.beginObject();
    json.members({ first: 'x', nested: { a: [] } });
    json.members({});
    json.member('none', null);
    json.beginArray('rows');
    for (const row of rows) json.element(row);
    json.beginObject();
    json.members({ last: true });
    json.end();
    json.end();
    json.beginArray('empty');
    json.end();
    json.beginObject('hollow');
    json.end();
    json.member('end', {});
    json.end();
    const value = { first: 'x', nested: { a: [] }, none: null, rows: [...rows, { last: true }], empty: [], hollow: {} };
    expect(json.wholeText()).toBe(JSON.stringify({ ...value, end: {} }, null, 2));
  });

  it('leaves out what is undefined, escapes for HTML, and keeps integers whole', () => {
    const json = new JsonDocument();
    json.beginObject();
    json.exactMembers({ a: undefined, b: '<&>\u2028\u2029ü', c: 2n ** 64n - 1n, d: { e: -1n } });
    json.end();
    const c = '18446744073709551615';
    const b = String.raw`"\u003c\u0026\u003e\u2028\u2029ü"`;
    expect(json.wholeText()).toBe(`{\n  "b": ${b},\n  "c": ${c},\n  "d": {\n    "e": -1\n  }\n}`);
  });

  it.each([0, 2, 3])(
    'takes strings of bytes, and stands on one line or has %i blanks for each level',
    (indentation) => {
      const json = new JsonDocument(Number.POSITIVE_INFINITY, indentation);
      const asBytes = (text: string): string => Buffer.from(text).toString('latin1');
      json.beginObject();
      json.bytesMembers({ [asBytes('é')]: asBytes('a<é>\u2028'), broken: '\xff', whole: 2n ** 63n });
      json.bytesMembers({});
      json.beginArray('rows');
      json.bytesElement({ deep: [asBytes('ü'), {}], none: [] });
      json.bytesElement(asBytes('x'));
      json.end();
      json.beginObject('empty');
      json.end();
      json.end();
      const plain = {
        é: 'a<é>\u2028',
        broken: '\ufffd',
        whole: 1,
        rows: [{ deep: ['ü', {}], none: [] }, 'x'],
        empty: {},
      };
      const expected = JSON.stringify(plain, null, indentation)
        .replace('<é>\u2028', String.raw`\u003cé\u003e\u2028`)
        .replace(/("whole": ?)1/, '$19223372036854775808');
      expect(json.wholeText()).toBe(expected);
    },
  );

  it('is made of pieces when it is long, and knows when it is too long', () => {
    const json = new JsonDocument(200_000);
    const values = Array.from({ length: 30_000 }, (_, i) => `ü${i}`);
    json.beginArray();
    let overfullAt = -1;
    for (const [i, value] of values.entries()) {
      json.element(value);
      if (overfullAt < 0 && json.isOverfull) overfullAt = i;
    }
    json.end();
    let yields = 0;
    const work = json.bytes();
    let step = work.next();
    for (; step.done !== true; step = work.next()) yields++;
    expect(yields).toBeGreaterThan(3);
    expect(Buffer.from(step.value).toString()).toBe(JSON.stringify(values, null, 2));
    expect(overfullAt).toBeGreaterThan(10_000);
    expect(overfullAt).toBeLessThan(25_000);
  });
});
