/**
 * Text in double quotes as Go prints it, for messages that must read as nats-server's do.
 */

import { Buffer } from 'node:buffer';

const NAMED_ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

/** `%q`: in double quotes, what is not printable escaped. */
export function goQuote(text: string): string {
  const escaped = text.replaceAll(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (character) => {
    const named = NAMED_ESCAPES[character];
    if (named !== undefined) return named;
    const codePoint = character.codePointAt(0)!;
    const hex = codePoint.toString(16);
    if (codePoint < 0x80) return `\\x${hex.padStart(2, '0')}`;
    if (codePoint >= 0xdc80 && codePoint <= 0xdcff) return `\\x${hex.slice(-2)}`;
    return codePoint < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
  });
  return `"${escaped}"`;
}

/** `%q` of a string whose char codes are bytes. */
export function goQuoteBytes(text: string): string {
  const bytes = Buffer.from(text, 'latin1');
  const decoded = bytes.toString('utf8');
  if (!decoded.includes('\ufffd')) return goQuote(decoded);
  // Bytes that are no UTF-8 are shown one by one.
  const shown = text.replaceAll(/[\u0080-\u00ff]/g, (byte) => String.fromCharCode(0xdc00 + byte.charCodeAt(0)));
  return goQuote(shown);
}
