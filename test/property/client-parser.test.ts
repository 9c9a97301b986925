/**
 * The client parser against what the protocol says of valid operations, and against itself: the same bytes give the
 * same operations, and the same error at the same place, in whatever pieces they arrive.
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { announceLine, publishLine, readClientOperations } from '../helpers/client-operations.ts';

const SEPARATORS: readonly number[] = Array.from(' \t\r\n', (each) => each.charCodeAt(0));

/** An operation as it is written on the wire, and what is to be made of it. */
interface Operation {
  readonly wire: string;
  readonly lines: readonly string[];
}

/** A word may hold any byte that is no blank and no part of a line's end. */
const word = fc
  .array(
    fc.integer({ min: 0, max: 255 }).filter((code) => !SEPARATORS.includes(code)),
    { minLength: 1, maxLength: 8 },
  )
  .map((codes) => String.fromCharCode(...codes));
const blank = fc.stringMatching(/^[ \t]{1,3}$/);
const optionalBlank = fc.oneof({ weight: 3, arbitrary: fc.constant('') }, { weight: 1, arbitrary: blank });
const lineEnd = fc.constantFrom('\r\n', '\r\n', '\r\n', '\n');
const bytes = fc.oneof(
  { weight: 8, arbitrary: fc.uint8Array({ maxLength: 40 }) },
  { weight: 1, arbitrary: fc.uint8Array({ minLength: 300, maxLength: 400 }) },
);
const text = fc.oneof(
  { weight: 4, arbitrary: bytes.map((each) => Buffer.from(each).toString('latin1')) },
  { weight: 1, arbitrary: fc.constantFrom('\r\n', 'PUB x 1\r\n', '\r\n\r\n') },
  // Too long to be kept in front of the next read.
  { weight: 1, arbitrary: fc.integer({ min: 8_100, max: 9_000 }).map((length) => 'x\r\n'.repeat(length / 3)) },
);

/** A verb in capitals, in small letters or in both. */
function verb(name: string): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(name) },
    {
      weight: 1,
      arbitrary: fc.array(fc.boolean(), { minLength: name.length, maxLength: name.length }).map((small) =>
        name
          .split('')
          .map((letter, i) => (small[i] === true ? letter.toLowerCase() : letter))
          .join(''),
      ),
    },
  );
}

/** Verb, blank, words with blanks between them, perhaps a blank, and the end of the line. */
function line(name: string, words: readonly string[]): fc.Arbitrary<string> {
  const blanks = fc.array(fc.oneof({ weight: 3, arbitrary: fc.constant(' ') }, blank), {
    minLength: words.length,
    maxLength: words.length,
  });
  return fc
    .tuple(verb(name), blanks, optionalBlank, lineEnd)
    .map(
      ([verb, blanks, trailing, end]) => verb + words.map((each, i) => `${blanks[i]}${each}`).join('') + trailing + end,
    );
}

function size(bytes: number): fc.Arbitrary<string> {
  const padded = fc.integer({ min: 0, max: 9 - String(bytes).length }).map((zeros) => '0'.repeat(zeros) + bytes);
  return fc.oneof({ weight: 4, arbitrary: fc.constant(String(bytes)) }, { weight: 1, arbitrary: padded });
}

const publication: fc.Arbitrary<Operation> = fc
  .record({ subject: word, reply: fc.option(word, { nil: '' }), payload: text })
  .chain(({ subject, reply, payload }) =>
    size(payload.length)
      .chain((size) => line('PUB', [subject, ...(reply === '' ? [] : [reply]), size]))
      .map((line) => ({
        wire: `${line}${payload}\r\n`,
        lines: [announceLine(subject, payload.length), publishLine(subject, reply, '', payload)],
      })),
  );

const publicationWithHeaders: fc.Arbitrary<Operation> = fc
  .record({ subject: word, reply: fc.option(word, { nil: '' }), headers: text, payload: text })
  .chain(({ subject, reply, headers, payload }) => {
    const total = headers.length + payload.length;
    return fc
      .tuple(size(headers.length), size(total))
      .chain((sizes) => line('HPUB', [subject, ...(reply === '' ? [] : [reply]), ...sizes]))
      .map((line) => ({
        wire: `${line}${headers}${payload}\r\n`,
        lines: [announceLine(subject, total), publishLine(subject, reply, headers, payload)],
      }));
  });

const subscription: fc.Arbitrary<Operation> = fc
  .tuple(word, fc.option(word, { nil: '' }), word)
  .chain(([subject, queueGroup, sid]) =>
    line('SUB', [subject, ...(queueGroup === '' ? [] : [queueGroup]), sid]).map((wire) => ({
      wire,
      lines: [`subscribe ${subject} ${queueGroup} ${sid}`],
    })),
  );

const unsubscription: fc.Arbitrary<Operation> = fc.tuple(word, fc.option(fc.nat(), { nil: 0 })).chain(([sid, max]) =>
  line('UNSUB', [sid, ...(max === 0 ? [] : [String(max % 1_000_000_000)])]).map((wire) => ({
    wire,
    lines: [`unsubscribe ${sid} ${max % 1_000_000_000}`],
  })),
);

/** What stands behind these verbs is of no interest. */
const keepalive: fc.Arbitrary<Operation> = fc
  .record({ name: fc.constantFrom('PING', 'PONG', '+OK'), rest: fc.constantFrom('', '', ' ', 'x', ' x\t') })
  .chain(({ name, rest }) =>
    fc.tuple(verb(name), lineEnd).map(([verb, end]) => ({
      wire: `${verb}${rest}${end}`,
      lines: name === '+OK' ? [] : [name.toLowerCase()],
    })),
  );

const connection: fc.Arbitrary<Operation> = fc
  .tuple(fc.constantFrom('{}', '{"verbose":false}', '{"name":"a b"}'), verb('CONNECT'), optionalBlank, lineEnd)
  .map(([json, verb, blank, end]) => ({ wire: `${verb}${blank}${json}${end}`, lines: [`connect ${json}`] }));

const operations = fc.array(
  fc.oneof(publication, publicationWithHeaders, subscription, unsubscription, keepalive, connection),
  { minLength: 1, maxLength: 6 },
);

const stream = operations.map((each) => ({
  bytes: Buffer.from(each.map(({ wire }) => wire).join(''), 'latin1'),
  expected: each.flatMap(({ lines }) => lines).join('\n'),
}));

function cut(whole: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set([...places.filter((at) => at < whole.length), whole.length])].toSorted((a, b) => a - b);
  return ends.map((end, i) => whole.subarray(ends[i - 1] ?? 0, end));
}

function difference(inPieces: string, whole: string): object {
  let at = 0;
  while (at < whole.length && inPieces[at] === whole[at]) at++;
  return { inPieces: brief(inPieces.slice(Math.max(0, at - 40))), whole: brief(whole.slice(Math.max(0, at - 40))) };
}

function brief(text: string): string {
  return text.length < 300 ? text : `${text.slice(0, 200)} … ${text.slice(-100)}`;
}

/** The first way of cutting these bytes in two, or into single bytes, that gives something else than they give whole. */
function differingCut(bytes: Buffer): object | null {
  const whole = readClientOperations([bytes]);
  const step = Math.max(1, Math.floor(bytes.length / 200));
  const cuts = Array.from({ length: Math.max(0, bytes.length - 1) }, (_, i) => [i + 1]).filter(
    ([at = 0]) => at % step === 0 || at < 150 || at > bytes.length - 150,
  );
  if (bytes.length < 1000) cuts.push(Array.from(bytes, (_, i) => i));
  for (const places of cuts) {
    const inPieces = readClientOperations(cut(bytes, places));
    if (inPieces !== whole) return { bytes: brief(bytes.toString('latin1')), places, ...difference(inPieces, whole) };
  }
  return null;
}

describe('valid operations', () => {
  test('are read as they were written', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(30_000), { maxLength: 8 }), ({ bytes, expected }, places) => {
        expect(readClientOperations([bytes])).toBe(expected);
        expect(readClientOperations(cut(bytes, places))).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });

  test('are read alike when they are cut at any byte', () => {
    fc.assert(
      fc.property(stream, ({ bytes }) => {
        expect(differingCut(bytes)).toBeNull();
      }),
      { numRuns: 60 },
    );
  });
});

const FRAGMENTS: readonly string[] = [
  ['PUB ', 'HPUB ', 'SUB ', 'UNSUB ', 'CONNECT ', 'INFO ', 'PING', 'PONG', '+OK', '-ERR ', 'pub ', 'MSG ', 'LS+ '],
  ['\r\n', '\r', '\n', ' ', '\t', '0', '1', '12', '-1', '007', '99999', '999999999', '9999999999', '1e1', '{}', '{'],
  ['a.b', '>', '*', '\0', '\xff', 'x'.repeat(95), 'x'.repeat(101), 'x'.repeat(9000), ' '.repeat(120)],
].flat();

const edit = fc.record({ at: fc.nat(600), removed: fc.nat(3), inserted: fc.constantFrom('', ...FRAGMENTS) });

function edited(bytes: Buffer, edits: readonly { at: number; removed: number; inserted: string }[]): Buffer {
  let text = bytes.toString('latin1');
  for (const { at, removed, inserted } of edits) {
    const from = at % (text.length + 1);
    text = text.slice(0, from) + inserted + text.slice(from + removed);
  }
  return Buffer.from(text, 'latin1');
}

const anything = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((each) => Buffer.from(each)),
  fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 20 }).map((each) => Buffer.from(each.join(''), 'latin1')),
  fc.tuple(stream, fc.array(edit, { minLength: 1, maxLength: 4 })).map(([{ bytes }, edits]) => edited(bytes, edits)),
);

describe('any bytes', () => {
  test('give the same operations and the same error when they are cut at any byte', () => {
    fc.assert(
      fc.property(anything, (bytes) => {
        expect(differingCut(bytes)).toBeNull();
      }),
      { numRuns: 200 },
    );
  });

  test('give nothing after an error', () => {
    fc.assert(
      fc.property(anything, (bytes) => {
        expect(readClientOperations([bytes])).not.toContain('after the end');
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a line as long as it may be', () => {
  const longest = 'x'.repeat(96);

  test.each([
    ['PUB in its usual form', `PUB ${longest}xx 2\r\nhi\r\n`, /^announce .*\npublish /],
    ['and with one byte more', `PUB ${longest}xxx 2\r\nhi\r\n`, /^violation maximum control line exceeded$/],
    ['PUB', `PUB ${longest}x 2 \r\nhi\r\n`, /^announce .*\npublish /],
    ['PUB with one byte more', `PUB ${longest}xx 2 \r\nhi\r\n`, /^violation maximum control line exceeded$/],
    ['SUB', `SUB ${longest}. 12\r\n`, /^subscribe /],
    ['SUB with one byte more', `SUB ${longest}. 123\r\n`, /^violation maximum control line exceeded$/],
    ['CONNECT', `CONNECT ${longest}1234\r\n`, /^connect /],
    ['CONNECT with one byte more', `CONNECT ${longest}12345\r\n`, /^violation maximum control line exceeded$/],
    ['blanks in front', `SUB ${' '.repeat(200)}a 1\r\n`, /^subscribe a {2}1$/],
    ['blanks behind', `SUB a 1${' '.repeat(97)}\r\n`, /^subscribe a {2}1$/],
    ['one blank more behind', `SUB a 1${' '.repeat(98)}\r\n`, /^violation maximum control line exceeded$/],
    ['no end', `PING ${longest}123456`, /^violation maximum control line exceeded$/],
  ])('%s', (_, wire, expected) => {
    const bytes = Buffer.from(wire, 'latin1');
    expect(readClientOperations([bytes])).toMatch(expected);
    expect(differingCut(bytes)).toBeNull();
  });
});

describe('refused', () => {
  const announced = 'announce a 2\nviolation Unknown Protocol Operation';

  test.each([
    ['a payload followed by another byte', 'PUB a 2\r\nhiX', announced],
    ['a payload followed by CR and another byte', 'PUB a 2\r\nhi\rX', announced],
    ['a payload followed by LF alone', 'PUB a 2\r\nhi\n', announced],
    ['a longer payload than announced', 'PUB a 2\r\nhi!\r\n', announced],
    ['a payload above the limit, before it comes', 'PUB a 20001\r\n', 'violation Maximum Payload Violation'],
    ['headers and payload above the limit', 'HPUB a 20000 20001\r\n', 'violation Maximum Payload Violation'],
    ['more headers than there are bytes', 'HPUB a 3 2\r\n', 'violation malformed'],
    ['a size of ten digits', 'PUB a 0000000002\r\nhi\r\n', 'violation malformed'],
    ['a negative size', 'PUB a -2\r\n', 'violation malformed'],
    ['a size that is no number', 'PUB a 2x\r\n', 'violation malformed'],
    ['too few words', 'PUB a\r\n', 'violation malformed'],
    ['too many words', 'PUB a b 2 3\r\n', 'violation malformed'],
    ['far too many', 'PUB a b 2 3 4 5\r\n', 'violation malformed'],
    ['PUB without a word', 'PUB \r\n', 'violation malformed'],
    ['SUB without sid', 'SUB a\r\n', 'violation malformed'],
    ['SUB with too many words', 'SUB a q 1 2\r\n', 'violation malformed'],
    ['UNSUB without a word', 'UNSUB \r\n', 'violation malformed'],
    ['INFO that is no JSON', 'INFO {\r\n', 'violation malformed'],
    ['PUB without blank', 'PUB\r\n', 'violation Unknown Protocol Operation'],
    ['an unknown verb, at its first wrong byte', 'PUX', 'violation Unknown Protocol Operation'],
    ['an empty line', '\r', 'violation Unknown Protocol Operation'],
    ['a verb of another kind of link', 'RMSG', 'violation Unknown Protocol Operation'],
    ['an error that the client tells', "-ERR 'x'\r\nPING\r\n", "error 'x'"],
  ])('%s', (_, wire, expected) => {
    const bytes = Buffer.from(wire);
    expect(readClientOperations([bytes])).toBe(expected);
    expect(differingCut(bytes)).toBeNull();
  });

  test('headers that were not agreed on', () => {
    const bytes = Buffer.from('PING\r\nHPUB a 12 14\r\nNATS/1.0\r\n\r\nhi\r\n');
    expect(readClientOperations([bytes], { acceptsHeaders: false })).toBe('ping\nviolation malformed');
  });
});
