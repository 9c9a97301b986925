/**
 * The JSON text of a value as Go's encoder writes it: `<`, `>` and `&` are escaped for HTML, and a bigint is the
 * integer it is. Strings are text; where they are strings of bytes, as subjects and the configurations of streams are,
 * `bytesJsonText` is for them.
 */

import { bytesAsText } from './byte-text.ts';

const HTML_ESCAPES: Readonly<Record<string, string>> = {
  '<': String.raw`\u003c`,
  '>': String.raw`\u003e`,
  '&': String.raw`\u0026`,
  '\u2028': String.raw`\u2028`,
  '\u2029': String.raw`\u2029`,
};

/** V8 has `rawJSON`; its types come with a later edition of the standard library. */
const V8Json = JSON as typeof JSON & { rawJSON(text: string): object };

/** With `indentation` blanks for each level, or on one line. The value holds no bigint. */
export function jsonText(value: unknown, indentation: number = 0): string {
  return escaped(JSON.stringify(value, null, indentation));
}

/** The same of a value that may hold bigints, in twice the time. */
export function exactJsonText(value: unknown, indentation: number = 0): string {
  return escaped(JSON.stringify(value, wholeNumbers, indentation));
}

/** The same of a value whose strings are strings of bytes; it may hold bigints. */
export function bytesJsonText(value: unknown, indentation: number = 0): string {
  return escaped(bytesAsText(JSON.stringify(value, wholeNumbers, indentation)));
}

function escaped(text: string): string {
  if (!/[<>&\u2028\u2029]/.test(text)) return text;
  return text.replaceAll(/[<>&\u2028\u2029]/g, (found) => HTML_ESCAPES[found] as string);
}

function wholeNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? V8Json.rawJSON(value.toString()) : value;
}
