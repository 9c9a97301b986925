/**
 * `latency` of an exported service: the subject under which latencies are published, or a map with how many requests are
 * measured beside it. Sampling is a number, a percentage as text, or `headers`.
 */

import { goQuote } from '../protocol/go-quote.ts';
import type { LatencyOptions } from './account-options.ts';
import type { Reading } from './reading.ts';
import { subjectOf } from './subject-text.ts';
import { goType, isMap } from './tree.ts';
import type { ConfigNode } from './tree.ts';

const SAMPLING_PERCENT = 100;
const BY_HEADERS = 0;

/** What is said of latencies; `null`, and an error, if that can't be. */
export function readLatency(node: ConfigNode, reading: Reading): LatencyOptions | null {
  const { value, place } = node;
  if (typeof value === 'string') return { samplingPercent: SAMPLING_PERCENT, subject: subjectOf(value) };
  const refused = (reason: string): null => {
    reading.error(place, reason);
    return null;
  };
  if (!isMap(value)) return refused(`Expected latency entry to be a map/struct or string, got ${goType(value)}`);
  const sampling = value.get('sampling');
  const samplingPercent = sampling === undefined ? SAMPLING_PERCENT : readSampling(sampling, reading);
  if (samplingPercent === null) return null;
  const subject = value.get('subject');
  if (subject === undefined) return refused('Latency subject required, but missing');
  if (typeof subject.value === 'string') return { samplingPercent, subject: subjectOf(subject.value) };
  // nats-server shows the type that it wanted.
  reading.error(subject.place, 'Expected latency subject to be a string, got string');
  return null;
}

function readSampling({ value, place }: ConfigNode, reading: Reading): number | null {
  const percent = percentOf(value);
  if (typeof percent === 'string') reading.error(place, percent);
  else if (percent !== BY_HEADERS && !(percent >= 1 && percent <= 100)) {
    reading.error(place, 'bad sampling percentage, should be 1-100');
  } else if (percent === BY_HEADERS && typeof value !== 'string') {
    reading.error(place, 'bad sampling percentage, should be 1-100');
  } else return percent;
  return null;
}

/** The percentage, or what is wrong. */
function percentOf(value: ConfigNode['value']): number | string {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'string') return `Expected latency sample to be a string or map/struct, got ${goType(value)}`;
  if (value.trim().toLowerCase() === 'headers') return BY_HEADERS;
  const digits = value.replace(/%$/, '');
  if (/^[+-]?\d+$/.test(digits)) return Number(digits) === 0 ? -1 : Number(digits);
  return `Failed to parse latency sample: strconv.Atoi: parsing ${goQuote(digits)}: invalid syntax`;
}
