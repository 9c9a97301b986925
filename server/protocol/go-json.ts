/**
 * JSON as nats-server reads and writes it: with the conventions, and the words for what is wrong, of Go's
 * encoding/json. The types that it is read into are in `go-json-schema.ts` and `go-json-struct.ts`.
 *
 * Everything is strings of bytes, as subjects are: each char code is one byte of UTF-8. A body is taken with
 * `buffer.latin1Slice(…)`, an answer becomes bytes with `Buffer.from(text, 'latin1')`.
 *
 * Reading goes over the text itself, twice: once to see that it is JSON, once to take the values. That costs about what
 * `JSON.parse` with a reviver does, and nothing is lost on the way: not the digits beyond 2^53, nor the second of two
 * equal keys, nor the text that an error quotes. Bounds: `DEPTH_MAX` containers within one another, and the size of a
 * message.
 */

import { Buffer, isUtf8 } from 'node:buffer';
import { GoJsonReader, bytesOfText } from './go-json-reader.ts';
import { scanValue, skipBlanks, type ScanProblem } from './go-json-scanner.ts';
import type { GoType } from './go-json-schema.ts';
import { goQuote } from './go-quote.ts';

export interface Decoded<T> {
  /** What has been read; as far as it went if there is an error. */
  readonly value: T;
  /** Go's words for what is wrong. */
  readonly error: string | null;
}

/** Reads the one JSON value that `text` is, as json.Unmarshal does: unknown fields are ignored. */
export function decode<T>(text: string, type: GoType<T>): Decoded<T> {
  return unmarshal(text, type, type.zero());
}

/**
 * Reads the body of an API request, as nats-server's handlers do. An empty body is the zero value, and several values
 * behind one another are read one over the other. `isStrict`: unknown fields are errors, and syntax errors tell where;
 * otherwise a body that these rules refuse is read again by `decode`'s.
 */
export function decodeRequest<T>(text: string, type: GoType<T>, isStrict: boolean): Decoded<T> {
  let value = type.zero();
  const refused = (error: string): Decoded<T> => (isStrict ? { value, error } : unmarshal(text, type, value));
  for (let at = skipBlanks(text, 0); at < text.length; at = skipBlanks(text, at)) {
    const end = scanValue(text, at);
    if (typeof end !== 'number') return refused(streamProblem(text, end));
    const reader = new GoJsonReader(text, at, true);
    value = type.read(reader, value);
    if (reader.error !== null) return refused(reader.error);
    at = end;
  }
  return { value, error: null };
}

function unmarshal<T>(text: string, type: GoType<T>, current: T): Decoded<T> {
  const end = scanValue(text, 0);
  if (typeof end !== 'number') return { value: current, error: wholeProblem(text, end) };
  const behind = skipBlanks(text, end);
  if (behind < text.length) {
    return { value: current, error: wholeProblem(text, { at: behind, context: 'after top-level value' }) };
  }
  const reader = new GoJsonReader(text, 0, false);
  return { value: type.read(reader, current), error: reader.error };
}

/** A problem as the decoder of a stream of values tells it. */
function streamProblem(text: string, problem: ScanProblem): string {
  if (problem.at === text.length) return 'unexpected EOF';
  return `${invalidCharacter(text, problem)} at offset ${problem.at + 1}`;
}

/** A problem as it is told when the whole text was to be one value. Go tries a blank behind a text that ends early. */
function wholeProblem(text: string, problem: ScanProblem): string {
  if (problem.at < text.length) return invalidCharacter(text, problem);
  return problem.context === '' ? 'unexpected end of JSON input' : invalidCharacter(' ', { ...problem, at: 0 });
}

function invalidCharacter(text: string, { at, context }: ScanProblem): string {
  // Go takes the byte for a character.
  const byte = text[at] as string;
  const quoted = { "'": "\\'", '"': '"' }[byte] ?? goQuote(byte).slice(1, -1);
  return bytesOfText(`invalid character '${quoted}' ${context}`);
}

/** A part of a value that is too long to be encoded at once: its JSON text, put together from what `encode` gave. */
export class EncodedJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Stands for an `EncodedJson` in the text: no string of bytes has this character. */
const PLACE = '\ue000';

/** The JSON text of a value, with a bigint as the number it is, and escaped as Go escapes it for HTML. */
export function encode(value: object): string {
  const parts: EncodedJson[] = [];
  const text = JSON.stringify(value, (_key, each: unknown) => {
    if (typeof each === 'bigint') return V8Json.rawJSON(each.toString());
    if (!(each instanceof EncodedJson)) return each;
    parts.push(each);
    return PLACE;
  });
  if (parts.length === 0) return escapedText(text);
  const between = text.split(`"${PLACE}"`).map(escapedText);
  return between.map((each, at) => each + (parts[at]?.text ?? '')).join('');
}

function escapedText(text: string): string {
  const escaped = text.replaceAll(/[<>&]|\u00e2\u0080[\u00a8\u00a9]/g, (found) => HTML_ESCAPES[found] as string);
  const isFine = !/[\u0080-\u00ff]/.test(escaped) || isUtf8(Buffer.from(escaped, 'latin1'));
  return isFine ? escaped : replaceMalformed(escaped);
}

/** V8 has `rawJSON`; its types come with a later edition of the standard library. */
const V8Json = JSON as typeof JSON & { rawJSON(text: string): object };

const HTML_ESCAPES: Readonly<Record<string, string>> = {
  '<': String.raw`\u003c`,
  '>': String.raw`\u003e`,
  '&': String.raw`\u0026`,
  '\u00e2\u0080\u00a8': String.raw`\u2028`,
  '\u00e2\u0080\u00a9': String.raw`\u2029`,
};

/** Bytes that are no UTF-8, as subjects may have them, become the replacement character. */
function replaceMalformed(bytes: string): string {
  return bytesOfText(
    Buffer.from(bytes, 'latin1')
      .toString()
      .replaceAll('\ufffd', String.raw`\ufffd`),
  );
}
