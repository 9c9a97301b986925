/**
 * Tokens of the config grammar and the cursor that cuts them out of the text.
 *
 * The cursor owns the arithmetic of lines and columns. A line is counted when its end is read, and a column is the
 * distance in bytes from the line end before the token (so 1 is the first, but 0 on the first line, which has no line
 * end before it). For a string with escapes the distance is measured backwards from its end by the length of the
 * unescaped text, as nats-server does.
 */

import { END, runeAt, textOf } from './runes.ts';

export type TokenKind =
  | 'error'
  | 'end'
  | 'key'
  | 'string'
  | 'boolean'
  | 'integer'
  | 'float'
  | 'datetime'
  | 'variable'
  | 'include'
  | 'map-start'
  | 'map-end'
  | 'array-start'
  | 'array-end';

export interface Token {
  readonly kind: TokenKind;
  /** The text without quotes and with escapes resolved; for `error` the message. */
  readonly text: string;
  readonly line: number;
  readonly column: number;
}

/** A position in the text, with the arithmetic of lines and columns. Tokens cover `[start, at)`. */
export class Cursor {
  readonly text: Uint8Array;
  at = 0;
  start = 0;
  line = 1;
  /** Offset of the latest line end read or peeked at, and what it was when the current token began. */
  #lineEnd = 0;
  #startLineEnd = 0;
  #width = 0;

  constructor(text: Uint8Array) {
    this.text = text;
  }

  /** Reads one character; END at the end. */
  take(): number {
    if (this.at >= this.text.length) {
      this.#width = 0;
      return END;
    }
    if (this.text[this.at] === 0x0a) {
      this.line++;
      this.#lineEnd = this.at;
    }
    const rune = runeAt(this.text, this.at);
    this.#width = rune.bytes;
    this.at += rune.bytes;
    return rune.codePoint;
  }

  /** Steps back over what `take` read last. */
  back(): void {
    this.at -= this.#width;
    if (this.#width > 0 && this.text[this.at] === 0x0a) this.line--;
  }

  peek(): number {
    const rune = this.take();
    this.back();
    return rune;
  }

  /** The next token begins here. */
  ignore(): void {
    this.start = this.at;
    this.#startLineEnd = this.#lineEnd;
  }

  /** A token of the bytes since `start`, or of `bytes` where escapes made them differ from the text. */
  token(kind: TokenKind, bytes: Uint8Array = this.text.subarray(this.start, this.at)): Token {
    const column = this.at - this.#startLineEnd - bytes.length;
    const token = { kind, text: textOf(bytes), line: this.line, column };
    this.ignore();
    return token;
  }

  /** A token up to the closing quote that has just been read. */
  closeQuote(kind: TokenKind, bytes?: Uint8Array): Token {
    this.back();
    const token = this.token(kind, bytes);
    this.take();
    this.ignore();
    return token;
  }

  /** The end where more was due: an error inside a token, else the end all the same. */
  unexpectedEnd(): Token {
    return this.at > this.start ? this.error('Unexpected EOF.') : this.token('end');
  }

  error(message: string): Token {
    return { kind: 'error', text: message, line: this.line, column: this.at - this.#lineEnd };
  }
}

/** A character as error messages show it. */
export function shown(codePoint: number): string {
  return codePoint === 0x0a ? '\\n' : String.fromCodePoint(codePoint);
}
