/**
 * Walks over one valid JSON value and remembers what is wrong with it, in Go's words. The types of `go-json-schema.ts`
 * steer it: each reads the value that stands at the reader's place and leaves the place behind it.
 *
 *     {"name": "ORDERS", "max_msgs": "many", "retention": 7}
 *                                    ^ place; path = ["StreamConfig", "max_msgs"], struct = "StreamConfigRequest"
 *
 * Two kinds of errors, as in Go. A value of the wrong type or an unknown field is *saved*: the first one is the answer,
 * and reading goes on. A type that reads itself (an enumeration, a time) *aborts*: nothing is read any more, and its
 * error is the answer even if another was saved before.
 *
 * The text is a string of bytes (each char code one byte of UTF-8), and so are all strings read from it.
 */

import assert from 'node:assert';
import { Buffer, isUtf8 } from 'node:buffer';
import { scanValue, skipBlanks } from './go-json-scanner.ts';
import { goQuote, goQuoteBytes } from './go-quote.ts';

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'bool' | 'null';

export class GoJsonReader {
  private readonly text: string;
  private readonly isStrict: boolean;
  private at: number;
  private savedError: string | null = null;
  private abortError: string | null = null;
  /** Struct and field that a wrong type is reported with; '' before the first field. */
  private struct = '';
  private path: readonly string[] = [];

  /** `text[from, …)` begins with a valid value. `isStrict`: unknown fields are errors. */
  constructor(text: string, from: number, isStrict: boolean) {
    this.text = text;
    this.at = skipBlanks(text, from);
    this.isStrict = isStrict;
  }

  /** What is wrong with what has been read; `null` if nothing is. */
  get error(): string | null {
    return this.abortError ?? this.savedError;
  }

  /** What stands at the reader's place. */
  kind(): JsonKind {
    switch (this.text[this.at]) {
      case '{':
        return 'object';
      case '[':
        return 'array';
      case '"':
        return 'string';
      case 't':
      case 'f':
        return 'bool';
      case 'n':
        return 'null';
      default:
        return 'number';
    }
  }

  /** Skips the value and returns its text. */
  raw(): string {
    const start = this.at;
    const end = scanValue(this.text, start);
    assert(typeof end === 'number', 'a reader is given only what has been scanned');
    this.at = end;
    return this.text.slice(start, end);
  }

  /** Reads a string. */
  string(): string {
    return unquote(this.raw());
  }

  /** Reads an array; `element` reads the one at the reader's place. */
  elements(element: (index: number) => void): void {
    for (let index = 0; this.enters(index === 0, ']'); index++) element(index);
  }

  /** Reads an object; `member` reads the value at the reader's place. */
  members(member: (key: string) => void): void {
    for (let isFirst = true; this.enters(isFirst, '}'); isFirst = false) {
      const key = this.string();
      // Over the colon.
      this.at = skipBlanks(this.text, skipBlanks(this.text, this.at) + 1);
      member(key);
    }
  }

  /** Goes to the next item of a container; false when that has ended, or nothing more is to be read. */
  private enters(isFirst: boolean, end: string): boolean {
    if (this.abortError !== null) return false;
    if (isFirst) this.at++;
    this.at = skipBlanks(this.text, this.at);
    const isItem = this.text[this.at] !== end;
    // Over the bracket, or over the comma before the next item.
    if (!isItem || !isFirst) this.at = skipBlanks(this.text, this.at + 1);
    return isItem;
  }

  /** Runs `read` with the place in Go's structs by which errors name it: `struct` and the path through its fields. */
  within(struct: string, fields: readonly string[], read: () => void): void {
    const { struct: outerStruct, path: outerPath } = this;
    this.struct = struct;
    this.path = [...outerPath, ...fields];
    read();
    this.struct = outerStruct;
    this.path = outerPath;
  }

  /** Skips the value, which is no `type`. */
  mismatch(type: string): void {
    this.outOfRange(type, this.kind());
    this.raw();
  }

  /** `value`, which has been read, does not fit into a `type`. */
  outOfRange(type: string, value: string): void {
    this.savedError ??= this.mismatchText(type, value);
  }

  /** As `mismatch`, where a type that reads itself says so: what follows is not read. */
  abortWithMismatch(type: string): void {
    this.abort(this.mismatchText(type, this.kind()));
  }

  private mismatchText(type: string, value: string): string {
    const field = this.path.length === 0 ? 'value' : `struct field ${this.struct}.${this.path.join('.')}`;
    return `json: cannot unmarshal ${value} into Go ${field} of type ${type}`;
  }

  /** Skips the value of a field that the struct doesn't have. */
  unknownField(key: string): void {
    if (this.isStrict) this.savedError ??= `json: unknown field ${quotedBytes(key)}`;
    this.raw();
  }

  abort(error: string): void {
    this.abortError ??= error;
  }
}

/** The bytes of a text. */
export function bytesOfText(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function textOfBytes(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString();
}

/** `%q` of a string of bytes, as such. */
export function quotedBytes(bytes: string): string {
  const isText = isUtf8(Buffer.from(bytes, 'latin1'));
  return bytesOfText(isText ? goQuote(textOfBytes(bytes)) : goQuoteBytes(bytes));
}

/** The string that a JSON literal stands for. What is no UTF-8 or half a surrogate pair becomes U+FFFD. */
function unquote(literal: string): string {
  const isAscii = !/[\u0080-\u00ff]/.test(literal);
  if (!literal.includes('\\') && (isAscii || isUtf8(Buffer.from(literal, 'latin1')))) return literal.slice(1, -1);
  const text = JSON.parse(textOfBytes(literal)) as string;
  return bytesOfText(text.toWellFormed());
}
