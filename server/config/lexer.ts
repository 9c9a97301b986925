/**
 * The first half of the config grammar: bytes in, tokens out, one at a time and on demand.
 *
 * The grammar is a relaxed JSON. Entries are `key value`, `key: value` or `key = value`; they end at a line end, a comma
 * or a semicolon; `#` and `//` start a comment. What may follow depends only on where we are, so the lexer is a stack of
 * frames and, for the innermost frame, what is expected next:
 *
 *     frame    opened by                        entry ──► separator ──► value ──► rest ──┐
 *     top      the file                           ▲                                      │
 *     block    `{` where a key could stand        └──────────────────────────────────────┘
 *     map      `{` as a value
 *     array    `[` as a value                   (has no keys: entry ──► value ──► rest)
 *
 * A block is JSON's outer brace: it opens no map, its keys are the file's. When it closes inside another block, that one
 * must close too (`closing`).
 *
 * Several oddities are kept because they decide which files are valid and where a value is said to stand: a zero byte
 * reads as the end of the file; a lone `/` counts as a blank after an entry; a key may be separated from its value by
 * line ends; the columns of a string with escapes count what is left after unescaping. Two faults of nats-server are
 * not kept: an integer directly before `]` is an integer (`[1]`), and nesting is bounded by NESTING_MAX.
 *
 * Columns count bytes from the line end before the token, so they begin at 1, but at 0 on the first line.
 */

import { Cursor, shown } from './cursor.ts';
import type { Token } from './cursor.ts';
import { END, isBlank, isDigit, isLineEnd, isSpace, textOf } from './runes.ts';
import { scanScalar } from './scalars.ts';

/** How deep maps, arrays and outer braces may be nested. */
export const NESTING_MAX = 1_000;

type Frame = 'top' | 'block' | 'map' | 'array';
type Expected = 'entry' | 'separator' | 'value' | 'rest' | 'closing';

const HASH = 0x23;
const SLASH = 0x2f;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const COMMA = 0x2c;
const SEMICOLON = 0x3b;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const PARENTHESIS_OPEN = 0x28;
const MINUS = 0x2d;
const BACKSLASH = 0x5c;

function isSeparator(rune: number): boolean {
  return rune === 0x3d || rune === 0x3a;
}

/** Tokens of one text. After an `error` or `end` token nothing more is to be asked. */
export class Lexer {
  readonly #cursor: Cursor;
  readonly #frames: Frame[] = ['top'];
  #expected: Expected = 'entry';
  /** What each state does with the text at the cursor; null if that gave no token. */
  readonly #steps: Readonly<Record<Expected, () => Token | null>> = {
    entry: () => this.#entry(),
    separator: () => this.#separator(),
    value: () => this.#value(),
    rest: () => this.#rests[this.#frame](),
    closing: () => this.#closing(),
  };
  readonly #rests: Readonly<Record<Frame, () => Token | null>> = {
    top: () => this.#topRest(),
    block: () => this.#blockRest(),
    map: () => this.#mapRest(),
    array: () => this.#arrayRest(),
  };

  constructor(text: Uint8Array) {
    this.#cursor = new Cursor(text);
  }

  next(): Token {
    for (;;) {
      const token = this.#steps[this.#expected]();
      if (token !== null) return token;
    }
  }

  get #frame(): Frame {
    return this.#frames[this.#frames.length - 1]!;
  }

  /** Goes on with `expected`, and lets the next token begin here. */
  #expect(expected: Expected): null {
    this.#cursor.ignore();
    this.#expected = expected;
    return null;
  }

  #open(frame: Frame, token: Token | null): Token | null {
    if (this.#frames.length >= NESTING_MAX) return this.#cursor.error(`Nested deeper than ${NESTING_MAX} levels`);
    this.#frames.push(frame);
    this.#expect('entry');
    return token;
  }

  /** Ends a map or array whose closing mark has just been read. */
  #close(kind: 'map-end' | 'array-end'): Token {
    this.#cursor.ignore();
    this.#frames.pop();
    this.#expected = 'rest';
    return this.#cursor.token(kind);
  }

  /** Ends a block whose brace has just been read. */
  #closeBlock(): null {
    this.#frames.pop();
    return this.#expect(this.#frame === 'top' ? 'entry' : 'closing');
  }

  /** If `rune`, already read, starts a comment: skips it and says so. A lone `/` is told from it. */
  #comment(rune: number): 'comment' | 'slash' | null {
    const cursor = this.#cursor;
    if (rune === SLASH) {
      if (cursor.take() !== SLASH) {
        cursor.back();
        return 'slash';
      }
    } else if (rune !== HASH) {
      return null;
    }
    for (let next = cursor.peek(); !isLineEnd(next) && next !== END; next = cursor.peek()) cursor.take();
    return 'comment';
  }

  // What may begin an entry.

  #entry(): Token | null {
    if (this.#frame === 'map') return this.#mapEntry();
    if (this.#frame === 'array') return this.#arrayEntry();
    const cursor = this.#cursor;
    const rune = cursor.take();
    if (isSpace(rune)) return this.#expect('entry');
    if (rune === BRACE_OPEN) return this.#open('block', null);
    if (rune === BRACE_CLOSE && this.#frame === 'block') return this.#closeBlock();
    const comment = this.#comment(rune);
    if (comment === 'comment') return this.#expect('entry');
    if (comment === 'slash' || rune === END) return this.#cursor.unexpectedEnd();
    cursor.back();
    return this.#key('Unexpected key separator ', '');
  }

  #mapEntry(): Token | null {
    const cursor = this.#cursor;
    const rune = cursor.take();
    if (isSpace(rune)) return this.#expect('entry');
    if (rune === BRACKET_CLOSE) return cursor.error(`Unexpected array end ']' processing map.`);
    if (rune === BRACE_CLOSE) return this.#close('map-end');
    const comment = this.#comment(rune);
    if (comment === 'comment') return this.#expect('entry');
    if (comment === 'slash') return this.#bareKey();
    if (rune === END) return cursor.error('Unexpected EOF processing map.');
    cursor.back();
    return this.#key('Unexpected key separator ', '.');
  }

  #arrayEntry(): Token | null {
    const cursor = this.#cursor;
    const rune = cursor.take();
    if (isSpace(rune)) return this.#expect('entry');
    const comment = this.#comment(rune);
    if (comment === 'comment') return this.#expect('entry');
    if (comment === 'slash' || rune === COMMA) return cursor.error(`Unexpected array value terminator ','.`);
    if (rune === BRACKET_CLOSE) return this.#close('array-end');
    cursor.back();
    this.#expected = 'value';
    return null;
  }

  // Keys.

  #key(separatorError: string, dot: string): Token {
    const cursor = this.#cursor;
    const rune = cursor.peek();
    if (isSeparator(rune)) return cursor.error(`${separatorError}'${shown(rune)}'${dot}`);
    if (rune === QUOTE || rune === APOSTROPHE) return this.#quotedKey(rune);
    return this.#bareKey();
  }

  #quotedKey(quote: number): Token {
    const cursor = this.#cursor;
    cursor.take();
    cursor.ignore();
    for (let rune = cursor.peek(); rune !== quote; rune = cursor.peek()) {
      if (rune === END) {
        if (this.#frame !== 'map') return this.#cursor.unexpectedEnd();
        return cursor.error(`Unexpected EOF processing ${quote === QUOTE ? 'double ' : ''}quoted map key.`);
      }
      cursor.take();
    }
    const key = cursor.token('key');
    cursor.take();
    this.#expect('separator');
    return key;
  }

  /** A key without quotes: its first character is taken whatever it is. `include` before white space is no key. */
  #bareKey(): Token {
    const cursor = this.#cursor;
    cursor.ignore();
    cursor.take();
    for (;;) {
      const rune = cursor.peek();
      if (isSpace(rune)) {
        if (textOf(cursor.text.subarray(cursor.start, cursor.at)).toLowerCase() === 'include') return this.#include();
        break;
      }
      if (rune === END && this.#frame === 'map') return cursor.error('Unexpected EOF processing map key.');
      if (isSeparator(rune) || rune === END) break;
      cursor.take();
    }
    this.#expected = 'separator';
    return cursor.token('key');
  }

  /** The path behind `include`: quoted, or up to a blank, line end, `;` or `}`. */
  #include(): Token {
    const cursor = this.#cursor;
    cursor.ignore();
    while (isBlank(cursor.peek())) cursor.take();
    cursor.ignore();
    this.#expected = 'rest';
    const rune = cursor.take();
    if (rune === QUOTE || rune === APOSTROPHE) return this.#quotedInclude(rune);
    const mistaken = mistakenInclude(rune);
    if (mistaken !== null) return cursor.error(`Expected include value but found ${mistaken}`);
    cursor.back();
    for (;;) {
      const next = cursor.take();
      if (isLineEnd(next) || next === END || next === SEMICOLON || next === BRACE_CLOSE || isBlank(next)) {
        cursor.back();
        return cursor.token('include');
      }
      if (next === APOSTROPHE) return cursor.closeQuote('include');
    }
  }

  #quotedInclude(quote: number): Token {
    const cursor = this.#cursor;
    cursor.ignore();
    for (;;) {
      const rune = cursor.take();
      if (rune === quote) return cursor.closeQuote('include');
      if (rune === END) return cursor.error(`Unexpected EOF in ${quote === QUOTE ? 'double ' : ''}quoted include`);
    }
  }

  // Between key and value, and values.

  #separator(): Token | null {
    const cursor = this.#cursor;
    const rune = cursor.take();
    if (isSpace(rune)) return this.#expect('separator');
    if (isSeparator(rune)) return this.#expect('value');
    if (rune === END && this.#frame !== 'map') return cursor.token('end');
    cursor.back();
    this.#expected = 'value';
    return null;
  }

  #value(): Token | null {
    const cursor = this.#cursor;
    const rune = cursor.take();
    if (this.#frame === 'map') {
      if (isSpace(rune)) return this.#expect('value');
      if (rune === COMMA) return cursor.error(`Unexpected map value terminator ",".`);
      if (rune === BRACE_CLOSE) return this.#close('map-end');
    }
    if (isBlank(rune)) return this.#expect('value');
    if (rune === BRACE_OPEN || rune === BRACKET_OPEN) {
      cursor.ignore();
      const [frame, kind] = rune === BRACE_OPEN ? (['map', 'map-start'] as const) : (['array', 'array-start'] as const);
      return this.#open(frame, cursor.token(kind));
    }
    this.#expected = 'rest';
    return scanScalar(cursor, rune, this.#frame === 'array');
  }

  // What may follow a value.

  #topRest(): Token | null {
    const rune = this.#cursor.take();
    const comment = this.#comment(rune);
    if (comment === 'comment') return this.#expect('entry');
    if (comment === 'slash' || isBlank(rune)) return null;
    if (isLineEnd(rune) || rune === END || rune === SEMICOLON || rune === COMMA || rune === BRACE_CLOSE) {
      return this.#expect('entry');
    }
    return this.#cursor.error(
      `Expected a top-level value to end with a new line, comment or EOF, but got '${shown(rune)}' instead.`,
    );
  }

  #blockRest(): Token | null {
    const cursor = this.#cursor;
    const rune = cursor.take();
    if (this.#comment(rune) !== null || isBlank(rune)) return null;
    if (isLineEnd(rune) || rune === SEMICOLON || rune === COMMA) return this.#expect('entry');
    if (rune === BRACE_CLOSE) return this.#closeBlock();
    return cursor.error(
      `Expected a block-level value to end with a new line, comment or EOF, but got '${shown(rune)}' instead.`,
    );
  }

  #mapRest(): Token | null {
    const rune = this.#cursor.take();
    if (isBlank(rune)) return this.#expect('rest');
    const comment = this.#comment(rune);
    if (comment === 'comment') return this.#expect('rest');
    if (comment === 'slash' || rune === SEMICOLON || rune === COMMA || isLineEnd(rune)) return this.#expect('entry');
    if (rune === BRACE_CLOSE) return this.#close('map-end');
    return this.#cursor.error(
      `Expected a map value terminator "," or a map terminator "}", but got '${shown(rune)}' instead.`,
    );
  }

  #arrayRest(): Token | null {
    const rune = this.#cursor.take();
    if (isBlank(rune)) return this.#expect('rest');
    const comment = this.#comment(rune);
    if (comment === 'comment') return this.#expect('rest');
    if (comment === 'slash' || rune === COMMA || isLineEnd(rune)) return this.#expect('entry');
    if (rune === BRACKET_CLOSE) return this.#close('array-end');
    return this.#cursor.error(
      `Expected an array value terminator "," or an array terminator "]", but got '${shown(rune)}' instead.`,
    );
  }

  /** Behind an inner block: its outer block has to end, or go on after a comma, semicolon or comment. */
  #closing(): Token | null {
    const rune = this.#cursor.take();
    const comment = this.#comment(rune);
    if (comment === 'comment') return this.#expect('entry');
    if (comment === 'slash' || isBlank(rune) || isLineEnd(rune)) return null;
    if (rune === SEMICOLON || rune === COMMA) return this.#expect('entry');
    if (rune === BRACE_CLOSE) return this.#closeBlock();
    return this.#cursor.error(`Expected a block-level to end with a '}', but got '${shown(rune)}' instead.`);
  }
}

/** What somebody wrote where the path of an include should begin, if it cannot be one. */
function mistakenInclude(rune: number): string | null {
  if (rune === BRACKET_OPEN) return 'start of an array';
  if (rune === BRACE_OPEN) return 'start of a map';
  if (rune === PARENTHESIS_OPEN) return 'start of a block';
  if (rune === MINUS || isDigit(rune)) return 'start of a number';
  if (rune === BACKSLASH) return 'escape sequence';
  if (isLineEnd(rune)) return 'new line';
  return null;
}
