/**
 * The texts of a transcript: bytes with escapes and captures (FORMAT.txt, "Text"). A text is kept as pieces; literal
 * bytes are latin1 strings, one character a byte, so that a regular expression can look at any bytes.
 */
import assert from 'node:assert';
import { exactly } from '../helpers/wire-client.ts';
import type { Matcher } from '../helpers/wire-client.ts';

type Piece = { readonly literal: string } | { readonly capture: string; readonly regex: string };

export type WireText = readonly Piece[];

/** What captures have caught so far in one play of a transcript, as latin1. */
export type Captured = Map<string, string>;

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = { r: '\r', n: '\n', t: '\t', s: ' ', '\\': '\\' };
const DEFAULT_CAPTURE = '[^ \\t\\r\\n]+';
const CRLF = '\r\n';

/** Parses a text as it stands in the file (latin1). Throws on an unknown escape. */
export function parseText(source: string): WireText {
  const barred = source.length > 1 && source.startsWith('|') && source.endsWith('|');
  return parsePieces(barred ? source.slice(1, -1) : source);
}

/** The bytes to send. Every capture must be known. */
export function render(text: WireText, captured: Captured): Buffer {
  const parts = text.map((piece) => {
    if ('literal' in piece) return piece.literal;
    const value = captured.get(piece.capture);
    assert(value !== undefined, `\${${piece.capture}} is sent before it was captured`);
    return value;
  });
  return Buffer.from(parts.join(''), 'latin1');
}

/** Matches the text and the CRLF behind it; on a match the captures are remembered. */
export function lineMatcher(text: WireText, captured: Captured): Matcher {
  const known = text.map((piece): Piece => {
    const value = 'capture' in piece ? captured.get(piece.capture) : undefined;
    return value === undefined ? piece : { literal: value };
  });
  if (known.every((piece) => 'literal' in piece)) {
    return exactly(Buffer.concat([render(known, captured), Buffer.from(CRLF)]));
  }
  return capturingMatcher(known, captured);
}

/**
 * A text with open captures is decided when as many lines have arrived as it has itself. A regular expression that
 * itself speaks of line ends (`\n`) may want more of them and is waited for.
 */
function capturingMatcher(text: WireText, captured: Captured): Matcher {
  const names = text.flatMap((piece) => ('capture' in piece ? [piece.capture] : []));
  const body = text.map((piece) => ('literal' in piece ? escaped(piece.literal) : `(${piece.regex})`));
  const regex = new RegExp(`^${body.join('')}\\r\\n`, 's');
  const lines = text.reduce((sum, piece) => sum + ('literal' in piece ? count(piece.literal, CRLF) : 0), 1);
  const spansLines = text.some((piece) => 'regex' in piece && piece.regex.includes('\\n'));
  return (received) => {
    const bytes = received.toString('latin1');
    const match = regex.exec(bytes);
    if (match === null) return !spansLines && count(bytes, CRLF) >= lines ? 'mismatch' : 'more';
    names.forEach((name, index) => captured.set(name, match[index + 1] ?? ''));
    return match[0].length;
  };
}

function parsePieces(source: string): Piece[] {
  const pieces: Piece[] = [];
  let literal = '';
  for (let at = 0; at < source.length;) {
    if (source[at] === '\\') {
      const [bytes, next] = parseEscape(source, at + 1);
      literal += bytes;
      at = next;
    } else if (source.startsWith('${', at)) {
      const end = captureEnd(source, at + 2);
      const [, capture = '', regex = DEFAULT_CAPTURE] = /^(\w+)(?::(.*))?$/s.exec(source.slice(at + 2, end)) ?? [];
      assert(capture !== '', `not a capture: ${source.slice(at, end + 1)}`);
      if (literal !== '') pieces.push({ literal });
      pieces.push({ capture, regex });
      literal = '';
      at = end + 1;
    } else {
      literal += source[at];
      at += 1;
    }
  }
  if (literal !== '' || pieces.length === 0) pieces.push({ literal });
  return pieces;
}

/** Parses the escape whose backslash stands before `at`; returns its bytes and where the text goes on. */
function parseEscape(source: string, at: number): [string, number] {
  const kind = source[at] ?? '';
  const simple = SIMPLE_ESCAPES[kind];
  if (simple !== undefined) return [simple, at + 1];
  if (kind === 'x') {
    const hex = source.slice(at + 1, at + 3);
    assert(/^[0-9a-fA-F]{2}$/.test(hex), `\\x needs two hex digits: ${source}`);
    return [String.fromCharCode(Number.parseInt(hex, 16)), at + 3];
  }
  assert(kind === '(', `unknown escape \\${kind} in: ${source}`);
  return parseRepeat(source, at + 1);
}

/** `\(TEXT*N)`: the repeated text ends at the last `*` before the bracket that closes this one. */
function parseRepeat(source: string, at: number): [string, number] {
  const end = repeatEnd(source, at);
  const [, inner = '', times = ''] = /^(.*)\*(\d+)$/s.exec(source.slice(at, end)) ?? [];
  assert(times !== '', `not a repetition: ${source.slice(at - 2, end + 1)}`);
  const [piece, ...more] = parsePieces(inner);
  assert(piece !== undefined && 'literal' in piece && more.length === 0, `a capture cannot be repeated: ${source}`);
  return [piece.literal.repeat(Number(times)), end + 1];
}

function repeatEnd(source: string, from: number): number {
  let depth = 1;
  for (let at = from; at < source.length; at += 1) {
    if (source[at] === '\\' && source[at + 1] === '(') depth += 1;
    else if (source[at] === ')' && (depth -= 1) === 0) return at;
  }
  throw new Error(`\\( without ): ${source}`);
}

function captureEnd(source: string, from: number): number {
  let depth = 1;
  for (let at = from; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === '{') depth += 1;
    else if (source[at] === '}' && (depth -= 1) === 0) return at;
  }
  throw new Error(`\${ without }: ${source}`);
}

/** The text as a regular expression that matches just itself. */
function escaped(literal: string): string {
  return literal.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}
