/**
 * One token of a transform's destination: what it says, and what it becomes for a given subject.
 *
 *     text                     itself
 *     $n, {{wildcard(n)}}      the token under the n-th `*` of the source, counted from 1
 *     {{partition(b[,n…])}}    FNV-1a (32 bits) of these tokens run together, or of the whole subject, modulo b
 *     {{random(b)}}            a random number below b
 *     {{splitFromLeft(n,p)}}   abcdef → ab.cdef (p = 2)       {{splitFromRight(n,p)}}   abcdef → abcd.ef
 *     {{sliceFromLeft(n,s)}}   abcde → ab.cd.e (s = 2)        {{sliceFromRight(n,s)}}   abcde → a.bc.de
 *     {{left(n,l)}}            abcdef → ab (l = 2)            {{right(n,l)}}            abcdef → ef
 *     {{split(n,d)}}           a-b--c → a.b.c (d = -)
 *
 * The grammar is nats-server's to the letter, since a configuration it takes must be taken: either case for the first
 * letter of each word, ASCII blanks around name, list and braces, a blank after a comma, spaces around numbers. A
 * function is looked for anywhere in a token that begins with `{{` and ends with `}}`, in the order of the table below.
 * What is too short for its function passes through whole.
 *
 * Index 0 and negative indexes are not refused: they name the subject's first token, wildcard or not.
 *
 * ADR-30. Pure; lengths and positions count bytes. A result is at most twice its token's length plus one.
 */

import { hashText } from './subject-hash.ts';
import { transformError } from './transform-error.ts';
import type { TransformError } from './transform-error.ts';

/** A number in [0, 1), as `Io`'s randomness gives it. */
export interface FractionSource {
  fraction(): number;
}

/** In `parseTransformToken`'s answer `index` counts the source's `*` from 1; in a compiled one, its tokens from 0. */
export type TransformToken =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'wildcard'; readonly index: number }
  | { readonly kind: 'partition'; readonly buckets: number; readonly indexes: readonly number[] }
  | { readonly kind: 'random'; readonly buckets: number }
  | { readonly kind: 'split'; readonly index: number; readonly delimiter: string }
  | { readonly kind: 'cut'; readonly cut: Cut; readonly index: number; readonly size: number };

/** Given a size of more than 0 and less than the text's length. */
type Cut = (text: string, size: number) => string;

export type ParsedTransformToken = TransformToken | { readonly kind: 'error'; readonly error: TransformError };

type ArgumentParser = (args: readonly string[], token: string) => ParsedTransformToken;

/** The head of a call. Head and end are sought apart: one expression for both would take quadratic time. */
function callOf(name: string): RegExp {
  return new RegExp(String.raw`\{\{[\t\n\f\r ]*${name}[\t\n\f\r ]*\(`);
}

const CALL_END = /\)[\t\n\f\r ]*\}\}/g;

const WILDCARD_CALL = callOf('[wW]ildcard');

const FUNCTIONS: readonly (readonly [RegExp, ArgumentParser])[] = [
  [WILDCARD_CALL, parseWildcard],
  [callOf('[pP]artition'), parsePartition],
  [callOf('[sS]plit[fF]rom[lL]eft'), cutParser((text, size) => `${text.slice(0, size)}.${text.slice(size)}`)],
  [callOf('[sS]plit[fF]rom[rR]ight'), cutParser((text, size) => `${text.slice(0, -size)}.${text.slice(-size)}`)],
  [callOf('[sS]lice[fF]rom[lL]eft'), cutParser((text, size) => slice(text, size, size))],
  [callOf('[sS]lice[fF]rom[rR]ight'), cutParser((text, size) => slice(text, text.length % size || size, size))],
  [callOf('[rR]ight'), cutParser((text, size) => text.slice(-size))],
  [callOf('[lL]eft'), cutParser((text, size) => text.slice(0, size))],
  [callOf('[sS]plit'), parseSplit],
  [callOf('[rR]andom'), parseRandom],
];

/** Whether the token is written as a function call, known or not. */
export function looksLikeFunction(token: string): boolean {
  return token.length > 4 && token.startsWith('{{') && token.endsWith('}}');
}

/** Whether the token is text that stands for a wildcard when a destination is read backwards. */
export function isPlaceholder(token: string): boolean {
  if (/^\$[1-9]/.test(token)) return true;
  const args = argumentsOf(WILDCARD_CALL, token);
  return args !== null && args.length === 1 && args[0] !== '';
}

/** Reads one destination token. A token that begins with `$` but has no number behind it is text (`$JS`). */
export function parseTransformToken(token: string): ParsedTransformToken {
  if (token.length > 1 && token.startsWith('$')) {
    const index = parseInteger(token.slice(1), 64);
    return index === null ? { kind: 'text', text: token } : { kind: 'wildcard', index: Number(index) };
  }
  if (!looksLikeFunction(token)) return { kind: 'text', text: token };
  for (const [call, parseArguments] of FUNCTIONS) {
    const args = argumentsOf(call, token);
    if (args !== null) return parseArguments(args, token);
  }
  return refused('unknown-function', token);
}

/** The list between the first head of this call and the last end of one; `null` if there is none. */
function argumentsOf(call: RegExp, token: string): string[] | null {
  const head = call.exec(token);
  if (head === null) return null;
  const rest = token.slice(head.index + head[0].length);
  let end = -1;
  for (const match of rest.matchAll(CALL_END)) end = match.index;
  return end === -1 ? null : rest.slice(0, end).split(/,[\t\n\f\r ]*/);
}

function parseWildcard(args: readonly string[], token: string): ParsedTransformToken {
  if (args.length > 1) return refused('too-many-arguments', token);
  if (args[0] === '') return refused('not-enough-arguments', token);
  const index = parseIndex(args[0]);
  return index === null ? refused('invalid-argument', token) : { kind: 'wildcard', index };
}

function parsePartition(args: readonly string[], token: string): ParsedTransformToken {
  const buckets = parseBuckets(args[0]);
  if (buckets === null) return refused('invalid-argument', token);
  const indexes: number[] = [];
  for (const arg of args.slice(1)) {
    const index = parseIndex(arg);
    if (index === null) return refused('invalid-argument', token);
    indexes.push(index);
  }
  return { kind: 'partition', buckets, indexes };
}

function parseRandom(args: readonly string[], token: string): ParsedTransformToken {
  if (args.length !== 1) return refused('not-enough-arguments', token);
  const buckets = parseBuckets(args[0]);
  return buckets === null ? refused('invalid-argument', token) : { kind: 'random', buckets };
}

function parseSplit(args: readonly string[], token: string): ParsedTransformToken {
  const wrongCount = wrongNumberOfTwo(args, token);
  if (wrongCount !== null) return wrongCount;
  const index = parseIndex(args[0]);
  const delimiter = args[1] as string;
  if (index === null || delimiter.includes(' ')) return refused('invalid-argument', token);
  return { kind: 'split', index, delimiter };
}

function cutParser(cut: Cut): ArgumentParser {
  return (args, token) => {
    const wrongCount = wrongNumberOfTwo(args, token);
    if (wrongCount !== null) return wrongCount;
    const index = parseIndex(args[0]);
    const size = parseInteger(trimSpaces(args[1]), 32);
    if (index === null || size === null) return refused('invalid-argument', token);
    return { kind: 'cut', cut, index, size: Number(size) };
  };
}

function wrongNumberOfTwo(args: readonly string[], token: string): ParsedTransformToken | null {
  if (args.length === 2) return null;
  return refused(args.length < 2 ? 'not-enough-arguments' : 'too-many-arguments', token);
}

function refused(code: TransformError['code'], token: string): ParsedTransformToken {
  return { kind: 'error', error: transformError(code, token) };
}

/** An index of any sign. Beyond 2^53 it is rounded; so large a one is out of every subject's range. */
function parseIndex(arg: string | undefined): number | null {
  const index = parseInteger(trimSpaces(arg), 64);
  return index === null ? null : Number(index);
}

/** At most 2^31 - 1; of a number below -2^31 only the low 32 bits count, as nats-server stores them. */
function parseBuckets(arg: string | undefined): number | null {
  const buckets = parseInteger(trimSpaces(arg), 64);
  return buckets === null || buckets > 0x7fff_ffffn ? null : Number(BigInt.asIntN(32, buckets));
}

function trimSpaces(text = ''): string {
  let start = 0;
  let end = text.length;
  while (text[start] === ' ') start++;
  while (end > start && text[end - 1] === ' ') end--;
  return text.slice(start, end);
}

/** A decimal integer, perhaps signed, that fits into so many bits. */
function parseInteger(text: string, bits: 32 | 64): bigint | null {
  const parts = /^([+-]?)0*([0-9]{1,19})$/.exec(text);
  if (parts === null) return null;
  const magnitude = BigInt(parts[2] as string);
  const value = parts[1] === '-' ? -magnitude : magnitude;
  return BigInt.asIntN(bits, value) === value ? value : null;
}

/** What a compiled token becomes for a subject's tokens. A token that the subject does not have reads as empty. */
export function expandTransformToken(
  token: TransformToken,
  subject: readonly string[],
  random: FractionSource,
): string {
  if (token.kind === 'text') return token.text;
  if (token.kind === 'partition') return partitionOf(subject, token.indexes, token.buckets);
  if (token.kind === 'random') return randomBelow(token.buckets, random);
  const text = subject[token.index] ?? '';
  if (token.kind === 'wildcard') return text;
  if (token.kind === 'split') return split(text, token.delimiter);
  return token.size > 0 && token.size < text.length ? token.cut(text, token.size) : text;
}

function randomBelow(buckets: number, random: FractionSource): string {
  return buckets === 0 ? '0' : String(Math.floor(random.fraction() * 0x8000_0000) % buckets);
}

const FNV_OFFSET = 0x811c9dc5;

function partitionOf(subject: readonly string[], indexes: readonly number[], buckets: number): string {
  if (buckets === 0) return '0';
  let key = '';
  if (indexes.length === 0) key = subject.join('.');
  else for (const index of indexes) key += subject[index] ?? '';
  // A negative count is taken by nats-server as the unsigned number with the same bits.
  return String((hashText(key, FNV_OFFSET) >>> 0) % (buckets >>> 0));
}

/** The text in pieces: the first of `first` bytes, the others of `size` (the last may be shorter). */
function slice(text: string, first: number, size: number): string {
  let pieces = text.slice(0, first);
  for (let at = first; at < text.length; at += size) pieces += `.${text.slice(at, at + size)}`;
  return pieces;
}

/** One UTF-8 sequence, or one byte that belongs to none. */
const UTF8_SEQUENCE =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\0-\xff]/g;

/**
 * The non-empty pieces between the delimiters, joined by `.`; an empty delimiter parts the characters. One leading
 * delimiter is swallowed; after two or more the result begins with `.`, as nats-server's does, and so reaches nobody.
 */
function split(text: string, delimiter: string): string {
  const pieces = delimiter === '' ? (text.match(UTF8_SEQUENCE) ?? []) : text.split(delimiter);
  let joined = '';
  for (let i = 0; i < pieces.length; i++) {
    if (pieces[i] === '') continue;
    const followsAnother = i > 1 || (i === 1 && pieces[0] !== '');
    joined += followsAnother ? `.${pieces[i]}` : pieces[i];
  }
  return joined;
}
