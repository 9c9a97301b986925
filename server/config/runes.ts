/**
 * The characters of a config file. The text is handled as bytes, because columns and the digest are defined on bytes;
 * this file turns them into code points and strings the way nats-server does: every byte that is not part of valid
 * UTF-8 counts as one U+FFFD of its own. (TextDecoder would replace a cut sequence of several bytes by one.)
 *
 * Strings keep such a byte as the lone surrogate U+DC00 + byte, so that two strings that differ stay different and the
 * digest can tell it from a U+FFFD in the file. Written out as UTF-8 it becomes U+FFFD by itself.
 */

import { isUtf8 } from 'node:buffer';

/** What reading past the end gives. A zero byte in the text looks the same, as it does to nats-server. */
export const END = 0;

const REPLACEMENT = 0xfffd;

export interface Rune {
  readonly codePoint: number;
  readonly bytes: number;
}

/** The character that starts at `at`, which must lie inside `text`. */
export function runeAt(text: Uint8Array, at: number): Rune {
  const first = text[at]!;
  if (first < 0x80) return { codePoint: first, bytes: 1 };
  const bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  const slice = text.subarray(at, at + bytes);
  if (first < 0xc2 || slice.length < bytes || !isUtf8(slice)) return { codePoint: REPLACEMENT, bytes: 1 };
  return { codePoint: decodeValid(slice).codePointAt(0)!, bytes };
}

/** The text of `bytes`; a byte that is not valid UTF-8 becomes a lone surrogate. */
export function textOf(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return decodeValid(bytes);
  let text = '';
  for (let at = 0; at < bytes.length;) {
    const rune = runeAt(bytes, at);
    const isBadByte = rune.bytes === 1 && rune.codePoint === REPLACEMENT;
    text += String.fromCodePoint(isBadByte ? 0xdc00 + bytes[at]! : rune.codePoint);
    at += rune.bytes;
  }
  return text;
}

/** The bytes that `textOf` made `text` of. */
export function bytesOf(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const parts = Array.from(text, (character) => {
    const codePoint = character.codePointAt(0)!;
    return codePoint >= 0xdc80 && codePoint <= 0xdcff ? Buffer.of(codePoint - 0xdc00) : Buffer.from(character);
  });
  return Buffer.concat(parts);
}

function decodeValid(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** White space in the sense of Unicode, line ends included. */
export function isSpace(codePoint: number): boolean {
  if (codePoint < 0x80) return codePoint === 0x20 || (codePoint >= 0x09 && codePoint <= 0x0d);
  return /^\p{White_Space}$/u.test(String.fromCodePoint(codePoint));
}

/** A space or tab: the white space that may stand inside an entry. */
export function isBlank(codePoint: number): boolean {
  return codePoint === 0x20 || codePoint === 0x09;
}

export function isLineEnd(codePoint: number): boolean {
  return codePoint === 0x0a || codePoint === 0x0d;
}

/** A decimal digit of any script; only ASCII ones survive the conversion to a number. */
export function isDigit(codePoint: number): boolean {
  if (codePoint < 0x80) return codePoint >= 0x30 && codePoint <= 0x39;
  return /^\p{Nd}$/u.test(String.fromCodePoint(codePoint));
}
