/**
 * `compression` of links: a word, a boolean, or a map of a mode and, for `s2_auto`, the round trips from which on more
 * is done about size.
 *
 *     s2_auto     rtt ≤ 1st threshold: s2_uncompressed;  ≤ 2nd: s2_fast;  ≤ 3rd: s2_better;  above: s2_best
 *
 * A threshold of 0 leaves its step out. nats-server does not take `s2_uncompressed` here, though its links come to it.
 */

import { formatDuration, parseDuration } from './duration.ts';
import { goQuote } from '../protocol/go-quote.ts';
import type { Reading } from './reading.ts';
import { ConfigError, goType, isMap } from './tree.ts';
import type { ConfigMap, ConfigNode } from './tree.ts';

export type CompressionMode = CompressionLevel | 'not supported' | 'off' | 'accept' | 's2_auto';
/** What can be done to a stream; each is read by anybody who reads one. */
export type CompressionLevel = 's2_uncompressed' | 's2_fast' | 's2_better' | 's2_best';

export interface CompressionOptions {
  readonly mode: CompressionMode;
  /** Of `s2_auto`, in milliseconds. */
  readonly rttThresholdsMs: readonly number[];
}

const THRESHOLDS_MAX = 4;

export const AUTOMATIC_COMPRESSION: CompressionOptions = { mode: 's2_auto', rttThresholdsMs: [10, 50, 100] };
const NO_COMPRESSION: CompressionOptions = { mode: 'off', rttThresholdsMs: [] };

const WORDS: ReadonlyMap<string, CompressionMode> = new Map([
  ...(['on', 'enabled', 'true', 'auto', 's2_auto'] as const).map((word) => [word, 's2_auto'] as const),
  ...(['disabled', 'off', 'false'] as const).map((word) => [word, 'off'] as const),
  ...(['not supported', 'not_supported'] as const).map((word) => [word, 'not supported'] as const),
  ...(['uncompressed', 'fast', 'better', 'best'] as const).map((word) => [`s2_${word}`, `s2_${word}`] as const),
  ...(['fast', 'better', 'best'] as const).map((word) => [word, `s2_${word}`] as const),
  ['accept', 'accept'],
]);

/** What the key `name` says; off where there is a mistake, which is reported. */
export function readCompression(node: ConfigNode, reading: Reading, name: string): CompressionOptions {
  const { value, place } = node;
  if (isMap(value)) return readBlock(value, node, reading);
  if (typeof value === 'boolean') return value ? AUTOMATIC_COMPRESSION : NO_COMPRESSION;
  if (typeof value === 'string') return optionsOf(value, [], node, reading);
  reading.error(place, `field ${goQuote(name)} should be a boolean or a structure, got ${goType(value)}`);
  return NO_COMPRESSION;
}

function readBlock(map: ConfigMap, node: ConfigNode, reading: Reading): CompressionOptions {
  let mode = '';
  let thresholds: readonly number[] | null = [];
  for (const [key, entry] of map) {
    const lower = key.toLowerCase();
    if (lower === 'mode') mode = reading.string(entry) ?? 'off';
    else if (['rtt_thresholds', 'thresholds', 'rtts', 'rtt'].includes(lower)) {
      thresholds = readThresholds(entry, reading);
    } else if (!entry.usedAsVariable) reading.error(entry.place, `unknown field ${goQuote(key)}`);
  }
  return thresholds === null ? NO_COMPRESSION : optionsOf(mode, thresholds, node, reading);
}

/** Milliseconds; null where there is a mistake. */
function readThresholds(node: ConfigNode, reading: Reading): readonly number[] | null {
  if (!Array.isArray(node.value)) {
    reading.error(node.place, `interface conversion: interface {} is ${goType(node.value)}, not []interface {}`);
    return null;
  }
  const thresholds: number[] = [];
  for (const each of node.value) {
    const text = reading.string(each);
    if (text === null) return null;
    try {
      thresholds.push(parseDuration(text));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      reading.error(node.place, error.message);
      return null;
    }
  }
  return thresholds;
}

function optionsOf(
  word: string,
  thresholds: readonly number[],
  { place }: ConfigNode,
  reading: Reading,
): CompressionOptions {
  // Without a word it is as if the key was not there.
  const mode = word === '' ? 's2_auto' : WORDS.get(word.toLowerCase());
  if (mode === undefined) {
    reading.error(place, `unsupported compression mode ${goQuote(word)}`);
    return NO_COMPRESSION;
  }
  if (mode !== 's2_auto') return { mode, rttThresholdsMs: [] };
  if (thresholds.length === 0 || word === '') return AUTOMATIC_COMPRESSION;
  const steps = stepsOf(thresholds, word);
  if (typeof steps !== 'string') return { mode, rttThresholdsMs: steps };
  reading.error(place, steps);
  return AUTOMATIC_COMPRESSION;
}

function goDurations(thresholds: readonly number[]): string {
  return `[${thresholds.map(formatDuration).join(' ')}]`;
}

/** The thresholds without zeros at the end, or what is wrong with them. */
function stepsOf(thresholds: readonly number[], word: string): readonly number[] | string {
  const steps: number[] = [];
  for (const each of thresholds) {
    const step = Math.max(0, each);
    if (step !== 0 && steps.some((before) => step < before)) {
      return `RTT threshold values ${goDurations(thresholds)} should be in ascending order`;
    }
    steps.push(step);
  }
  while (steps.at(-1) === 0) steps.pop();
  const mode = `compression mode ${goQuote(word)}`;
  if (steps.length > THRESHOLDS_MAX) {
    return `${mode} should have no more than ${THRESHOLDS_MAX} RTT thresholds: ${goDurations(thresholds)}`;
  }
  return steps.length === 0 ? `${mode} requires at least one RTT threshold` : steps;
}
