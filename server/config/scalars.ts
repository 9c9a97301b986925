/**
 * The values of the config grammar that are not maps or arrays: quoted, bare and block strings, integers with size
 * suffixes, floats, datetimes, addresses, booleans and variable references.
 *
 * A bare value is told by how it goes on. One that begins with digits may turn out to be
 *
 *     digits ─┬─ k m g t p e [b i]*  end ──► integer with a suffix
 *             ├─ `-` after four digits  ──► datetime
 *             ├─ `.` digits  end        ──► float
 *             ├─ `.` digits `.` …       ──► string (an address, perhaps with a port)
 *             ├─ end                    ──► integer
 *             └─ anything else          ──► string (`5ADI_x`, `4e2abc`, `2m`)
 *
 * `inArray` says that a `]` right behind an integer ends it; elsewhere it is part of a string.
 */

import { shown } from './cursor.ts';
import type { Cursor, Token } from './cursor.ts';
import { END, isBlank, isDigit, isLineEnd, textOf } from './runes.ts';

const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const BACKSLASH = 0x5c;
const DOLLAR = 0x24;
const DOT = 0x2e;
const COLON = 0x3a;
const MINUS = 0x2d;
const LINE_FEED = 0x0a;
const COMMA = 0x2c;
const SEMICOLON = 0x3b;
const BRACE_CLOSE = 0x7d;
const BRACKET_CLOSE = 0x5d;
const PARENTHESIS_OPEN = 0x28;
const PARENTHESIS_CLOSE = 0x29;
const LETTER_X = 0x78;

const SIZE_SUFFIXES: ReadonlySet<number> = new Set(Buffer.from('kKmMgGtTpPeE'));
const SIZE_SUFFIX_TAIL: ReadonlySet<number> = new Set(Buffer.from('bBiI'));
const BOOLEANS = new Set(['true', 'false', 'on', 'off', 'yes', 'no']);

/** Scans the value whose first character, `rune`, has just been read. */
export function scanScalar(cursor: Cursor, rune: number, inArray: boolean): Token {
  switch (rune) {
    case APOSTROPHE:
      return literalString(cursor);
    case QUOTE:
      return quotedString(cursor);
    case PARENTHESIS_OPEN:
      return blockString(cursor);
    case MINUS:
      return negativeNumber(cursor, inArray);
    case DOT:
      return cursor.error('Floats must start with a digit');
  }
  if (isDigit(rune)) return numberOrString(cursor, inArray);
  if (isLineEnd(rune)) return cursor.error('Expected value but found new line');
  cursor.back();
  return bareString(cursor);
}

/** What ends an integer outside arrays. */
function endsNumber(rune: number, inArray: boolean): boolean {
  if (inArray && rune === BRACKET_CLOSE) return true;
  return (
    isLineEnd(rune) || isBlank(rune) || rune === END || rune === BRACE_CLOSE || rune === SEMICOLON || rune === COMMA
  );
}

function endsBareString(rune: number): boolean {
  return rune === BRACKET_CLOSE || endsNumber(rune, false);
}

/** `'…'`, taken as it is. */
function literalString(cursor: Cursor): Token {
  cursor.ignore();
  for (;;) {
    const rune = cursor.take();
    if (rune === APOSTROPHE) return cursor.closeQuote('string');
    if (rune === END) return cursor.unexpectedEnd();
  }
}

/** `"…"` with escapes. */
function quotedString(cursor: Cursor): Token {
  cursor.ignore();
  const string = new Unescaped(cursor);
  for (;;) {
    const rune = cursor.take();
    if (rune === QUOTE) {
      cursor.back();
      const bytes = string.bytes();
      cursor.take();
      return cursor.closeQuote('string', bytes);
    }
    if (rune === END) return string.unexpectedEnd();
    if (rune === BACKSLASH) {
      const error = string.escape();
      if (error !== null) return error;
    }
  }
}

/** A string without quotes, which may be a boolean or a variable instead. A `'` ends it and is dropped. */
function bareString(cursor: Cursor): Token {
  const string = new Unescaped(cursor);
  for (;;) {
    const rune = cursor.take();
    if (rune === BACKSLASH) {
      const error = string.escape();
      if (error !== null) return error;
    } else if (endsBareString(rune)) {
      cursor.back();
      return string.hasEscapes ? cursor.token('string', string.bytes()) : bareToken(cursor);
    } else if (rune === APOSTROPHE) {
      cursor.back();
      const bytes = string.bytes();
      cursor.take();
      return cursor.closeQuote('string', bytes);
    }
  }
}

function bareToken(cursor: Cursor): Token {
  const text = textOf(cursor.text.subarray(cursor.start, cursor.at));
  if (BOOLEANS.has(text.toLowerCase())) return cursor.token('boolean');
  if (cursor.text[cursor.start] !== DOLLAR) return cursor.token('string');
  cursor.start++;
  return cursor.token('variable');
}

/** The bytes of a string while its escapes are being resolved. */
class Unescaped {
  readonly #cursor: Cursor;
  readonly #parts: Uint8Array[] = [];
  /** Where the part not yet collected begins. */
  #from: number;

  constructor(cursor: Cursor) {
    this.#cursor = cursor;
    this.#from = cursor.start;
  }

  get hasEscapes(): boolean {
    return this.#parts.length > 0;
  }

  /** The string so far, up to the cursor. */
  bytes(): Uint8Array {
    return Buffer.concat([...this.#parts, this.#cursor.text.subarray(this.#from, this.#cursor.at)]);
  }

  unexpectedEnd(): Token {
    return this.#cursor.at > this.#from
      ? this.#cursor.error('Unexpected EOF.')
      : this.#cursor.token('end', this.bytes());
  }

  /** Resolves the escape whose backslash has just been read; the error if it is none. */
  escape(): Token | null {
    const cursor = this.#cursor;
    this.#parts.push(cursor.text.subarray(this.#from, cursor.at - 1));
    const letter = cursor.take();
    const byte = letter === LETTER_X ? this.#hexByte() : SIMPLE_ESCAPES.get(letter);
    if (byte === undefined) {
      return cursor.error(
        `Invalid escape character '${shown(letter)}'. Only the following escape characters are allowed: ` +
          String.raw`\xXX, \t, \n, \r, \", \\.`,
      );
    }
    if (typeof byte !== 'number') return byte;
    this.#parts.push(Uint8Array.of(byte));
    this.#from = cursor.at;
    return null;
  }

  #hexByte(): number | Token {
    const cursor = this.#cursor;
    for (let digit = 0; digit < 2; digit++) {
      if (isLineEnd(cursor.take())) {
        return cursor.error(String.raw`Expected two hexadecimal digits after '\x', but hit end of line`);
      }
    }
    const digits = textOf(cursor.text.subarray(cursor.at - 2, cursor.at));
    if (/^[0-9a-fA-F]{2}$/.test(digits)) return Number.parseInt(digits, 16);
    return cursor.error(String.raw`Expected two hexadecimal digits after '\x', but got '${digits}'`);
  }
}

const SIMPLE_ESCAPES: ReadonlyMap<number, number> = new Map([
  [0x74, 0x09],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [QUOTE, QUOTE],
  [BACKSLASH, BACKSLASH],
]);

/**
 * `( … )`, taken as it is, line ends included. Only a `)` alone on its line closes it; one that ends the file closes
 * it too, but stays part of the string.
 */
function blockString(cursor: Cursor): Token {
  cursor.ignore();
  for (;;) {
    const rune = cursor.take();
    if (rune === END) return cursor.error('Unexpected EOF processing block.');
    if (rune !== PARENTHESIS_CLOSE || cursor.text[cursor.at - 2] !== LINE_FEED) continue;
    if (cursor.at === cursor.text.length) return cursor.token('string');
    const next = cursor.peek();
    if (next === LINE_FEED || next === END) {
      cursor.at--;
      const token = cursor.token('string');
      cursor.take();
      cursor.ignore();
      return token;
    }
  }
}

function negativeNumber(cursor: Cursor, inArray: boolean): Token {
  const first = cursor.take();
  if (first === DOT) return cursor.error("Floats must start with a digit, not '.'.");
  if (!isDigit(first)) return cursor.error(`Expected a digit but got '${shown(first)}'.`);
  for (;;) {
    const rune = cursor.take();
    if (isDigit(rune)) continue;
    if (rune === DOT) return floatOrAddress(cursor);
    if (SIZE_SUFFIXES.has(rune)) return suffixedInteger(cursor, inArray);
    cursor.back();
    return cursor.token('integer');
  }
}

function numberOrString(cursor: Cursor, inArray: boolean): Token {
  for (;;) {
    const rune = cursor.take();
    if (isDigit(rune)) continue;
    if (rune === MINUS) {
      if (cursor.at - cursor.start === 5) return datetime(cursor);
      return cursor.error('All ISO8601 dates must be in full Zulu form.');
    }
    if (rune === DOT) return floatOrAddress(cursor);
    if (SIZE_SUFFIXES.has(rune)) return suffixedInteger(cursor, inArray);
    if (!endsNumber(rune, inArray)) return bareString(cursor);
    cursor.back();
    return cursor.token('integer');
  }
}

/** Behind digits and a size letter: `b` and `i` may follow, then the value ends; otherwise it is a string. */
function suffixedInteger(cursor: Cursor, inArray: boolean): Token {
  let rune = cursor.take();
  while (SIZE_SUFFIX_TAIL.has(rune)) rune = cursor.take();
  cursor.back();
  return endsNumber(rune, inArray) ? cursor.token('integer') : bareString(cursor);
}

/** Behind `digits.`: a float, or an address if a second dot follows. */
function floatOrAddress(cursor: Cursor): Token {
  let rune = cursor.take();
  if (!isDigit(rune)) return cursor.error(`Floats must have a digit after the '.', but got '${shown(rune)}' instead.`);
  while (isDigit(rune)) rune = cursor.take();
  if (rune !== DOT) {
    cursor.back();
    return cursor.token('float');
  }
  while (isDigit(rune) || rune === DOT || rune === COLON || rune === MINUS) rune = cursor.take();
  cursor.back();
  return cursor.token('string');
}

/** Behind `YYYY-`. A `0` in the pattern stands for any digit. */
function datetime(cursor: Cursor): Token {
  for (const expected of '00-00T00:00:00Z') {
    const rune = cursor.take();
    if (expected === '0') {
      if (!isDigit(rune)) {
        return cursor.error(`Expected digit in ISO8601 datetime, but found '${shown(rune)}' instead.`);
      }
    } else if (rune !== expected.codePointAt(0)) {
      return cursor.error(`Expected '${expected}' in ISO8601 datetime, but found '${shown(rune)}' instead.`);
    }
  }
  return cursor.token('datetime');
}
