/**
 * `exports` of an account: streams and services that others may import. Keys may stand in any order; those of services
 * on a stream are an error. Entries about one subject are one export.
 */

import { goQuote } from '../protocol/go-quote.ts';
import type { ExportOptions, LatencyOptions, ResponseType } from './account-options.ts';
import { parseDuration } from './duration.ts';
import { goString } from './go-text.ts';
import { absent, Keys, readEntries } from './key.ts';
import type { Key } from './key.ts';
import type { Reading } from './reading.ts';
import { subjectOf } from './subject-text.ts';
import { readLatency } from './service-sampling.ts';
import { ConfigError, goType, isMap } from './tree.ts';
import type { ConfigNode, Place } from './tree.ts';

const RESPONSE_THRESHOLD_MS = 120_000;

interface ExportDraft {
  kind: 'stream' | 'service' | null;
  subject: string;
  accounts: string[] | null;
  accountTokenPosition: number;
  responseType: ResponseType;
  responseThresholdMs: number;
  latency: LatencyOptions | null;
  latencyPlace: Place | null;
  /** Where something stands that only services have. */
  responsePlace: Place | null;
}

const RESPONSE_TYPES: ReadonlyMap<string, ResponseType> = new Map([
  ['single', 'singleton'],
  ['singleton', 'singleton'],
  ['stream', 'stream'],
  ['chunk', 'chunked'],
  ['chunked', 'chunked'],
]);

const keys = new Keys<ExportDraft>(null);

export const EXPORT_KEYS: readonly Key<ExportDraft>[] = [
  keys.custom('stream', 'subject', { live: 'Accounts', doc: 'Subject of a stream.' }, (draft, node, reading) => {
    if (draft.kind === 'service') {
      reading.error(node.place, `Detected stream ${goQuote(goString(node.value))} but already saw a service`);
    } else readSubject(draft, 'stream', node, reading);
  }),
  keys.custom('service', 'subject', { live: 'Accounts', doc: 'Subject of a service.' }, (draft, node, reading) => {
    if (draft.kind === 'stream') {
      reading.error(node.place, `Detected service ${goQuote(goString(node.value))} but already saw a stream`);
    } else readSubject(draft, 'service', node, reading);
  }),
  keys.custom(
    'response_type',
    'singleton, stream or chunked',
    { aliases: ['response'], default: 'singleton', live: 'Accounts', doc: 'How often the service answers.' },
    (draft, node, reading) => {
      draft.responsePlace ??= node.place;
      const { value } = node;
      const type = typeof value === 'string' ? RESPONSE_TYPES.get(value.toLowerCase()) : undefined;
      if (type !== undefined) draft.responseType = type;
      else if (typeof value === 'string') reading.error(node.place, `Unknown response type: ${goQuote(value)}`);
      else reading.error(node.place, `Expected response type to be string, got ${goType(value)}`);
    },
  ),
  keys.custom(
    'response_threshold',
    'duration',
    {
      aliases: ['threshold', 'response_max_time', 'response_time'],
      default: '2m',
      live: 'Accounts',
      doc: 'How long an answer may take.',
    },
    (draft, node, reading) => {
      draft.responsePlace ??= node.place;
      draft.responseThresholdMs = readThreshold(node, reading) || RESPONSE_THRESHOLD_MS;
    },
  ),
  keys.custom(
    'accounts',
    'list of names',
    { live: 'Accounts', doc: 'Who may import it; everybody if not given.' },
    (draft, node, reading) => {
      if (!Array.isArray(node.value)) {
        reading.error(node.place, `interface conversion: interface {} is ${goType(node.value)}, not []interface {}`);
        return;
      }
      const names = node.value.map((entry) => reading.string(entry)).filter((name) => name !== null);
      // An empty list is as good as none.
      draft.accounts = names.length === 0 ? null : names;
    },
  ),
  keys.integer('account_token_position', 'accountTokenPosition', {
    default: '0',
    live: 'Accounts',
    doc: 'Which token of the subject has to be the name of the importing account.',
  }),
  keys.custom(
    'latency',
    'subject or map of sampling (1 to 100, or headers) and subject',
    { live: 'Accounts', doc: 'Where latencies of a service are published, and of how many requests.' },
    (draft, node, reading) => {
      draft.latencyPlace = node.place;
      draft.latency = readLatency(node, reading);
    },
  ),
  absent('allow_trace', 'boolean', {
    accepts: [false],
    default: 'false',
    live: 'Accounts',
    doc: 'Traces of messages go on in this account.',
  }),
];

export function readExports(node: ConfigNode, reading: Reading): ExportOptions[] {
  if (!Array.isArray(node.value)) {
    reading.error(node.place, `Exports should be an array, got ${goType(node.value)}`);
    return [];
  }
  const bySubject = new Map<string, ExportOptions>();
  for (const entry of node.value) {
    const each = readExport(entry, reading);
    if (each === null) continue;
    const key = `${each.kind} ${each.subject}`;
    const earlier = bySubject.get(key);
    bySubject.set(key, earlier === undefined ? each : bothExports(earlier, each));
  }
  return [...bySubject.values()];
}

/**
 * One export that the configuration tells in two entries. Accounts that either of them names are approved, and only these:
 * an entry for everybody doesn't open what another one keeps for some. Latencies are those of services that answer once.
 */
function bothExports(earlier: ExportOptions, later: ExportOptions): ExportOptions {
  const isRestricted = later.accounts !== null || later.accountTokenPosition > 0;
  const responseType = later.responseType === 'singleton' ? earlier.responseType : later.responseType;
  return {
    ...later,
    accounts:
      earlier.accounts === null || later.accounts === null
        ? (earlier.accounts ?? later.accounts)
        : [...new Set([...earlier.accounts, ...later.accounts])],
    accountTokenPosition: (isRestricted ? later : earlier).accountTokenPosition,
    responseType,
    latency: later.latency ?? (responseType === 'singleton' ? earlier.latency : null),
  };
}

function readExport(node: ConfigNode, reading: Reading): ExportOptions | null {
  if (!isMap(node.value)) {
    reading.error(node.place, `Export Items should be a map with type entry, got ${goType(node.value)}`);
    return null;
  }
  const draft: ExportDraft = {
    kind: null,
    subject: '',
    accounts: null,
    accountTokenPosition: 0,
    responseType: 'singleton',
    responseThresholdMs: RESPONSE_THRESHOLD_MS,
    latency: null,
    latencyPlace: null,
    responsePlace: null,
  };
  readEntries(EXPORT_KEYS, node.value, draft, reading);
  const { kind, responsePlace, latencyPlace, ...options } = draft;
  if (kind === 'stream' && responsePlace !== null) {
    reading.error(responsePlace, 'Detected response directive on non-service');
  } else if (kind === 'stream' && latencyPlace !== null) {
    reading.error(latencyPlace, 'Detected latency directive on non-service');
  }
  return kind === null ? null : { ...options, kind };
}

function readSubject(draft: ExportDraft, kind: 'stream' | 'service', node: ConfigNode, reading: Reading): void {
  if (typeof node.value !== 'string') {
    reading.error(node.place, `Expected ${kind} name to be string, got ${goType(node.value)}`);
    return;
  }
  draft.kind = kind;
  draft.subject = subjectOf(node.value);
}

function readThreshold({ value, place }: ConfigNode, reading: Reading): number {
  const wanted = 'Expected response threshold to be a parseable time duration, got';
  if (typeof value !== 'string') {
    reading.error(place, `${wanted} ${goType(value)}`);
    return 0;
  }
  try {
    return parseDuration(value);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    reading.error(place, `${wanted} ${goQuote(value)}`);
    return 0;
  }
}
