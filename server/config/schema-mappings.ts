/**
 * `mappings`: subjects that become others on the way in. Sources and destinations are checked here as nats-server
 * checks them, so that whoever applies the mappings can rely on them to compile; what an incomplete set of weights
 * leaves over is given out there.
 */

import { validateTransform } from '../subject/transform.ts';
import { isValidSubject } from '../subject/subject.ts';
import type { Draft } from './draft.ts';
import { goQuote } from '../protocol/go-quote.ts';
import { goValue } from './go-text.ts';
import { parseDecimal } from './host-port.ts';
import { Keys, readEntries } from './key.ts';
import type { Key } from './key.ts';
import type { MappingDestination, MappingOptions } from './options.ts';
import { safeNumber } from './reading.ts';
import type { Reading } from './reading.ts';
import { subjectOf, subjectText } from './subject-text.ts';
import { isMap } from './tree.ts';
import type { ConfigNode } from './tree.ts';

const keys = new Keys<Draft>((options) => options);

export const MAPPING_KEYS: readonly Key<Draft>[] = [
  keys.custom(
    'mappings',
    'map of subjects to destinations',
    {
      aliases: ['maps'],
      live: 'Accounts',
      doc: 'Subjects that become others when they are published: a subject, or destinations with weights.',
      value: (options) => options.mappings,
    },
    (draft, node, reading) => {
      draft.mappings = readMappings(node, reading) ?? draft.mappings;
    },
  ),
];

/** The mappings of the server or of one account; `null`, with an error, if they are no map. */
export function readMappings(node: ConfigNode, reading: Reading): MappingOptions[] | null {
  const map = reading.map(node);
  if (map === null) return null;
  const mappings: MappingOptions[] = [];
  for (const [text, entry] of map) {
    const source = subjectOf(text);
    if (!isValidSubject(source)) {
      reading.error(node.place, `Subject ${goQuote(text)} is not a valid subject`);
      continue;
    }
    const destinations = readDestinations(entry, reading);
    if (destinations === null) continue;
    const fault = faultOf(source, destinations);
    if (fault === null) {
      mappings.push({ source, destinations });
    } else {
      const to = typeof entry.value === 'string' ? ` to ${goQuote(entry.value)}` : '';
      reading.error(entry.place, `Error adding mapping for ${goQuote(text)}${to} : ${fault}`);
    }
  }
  return mappings;
}

/** The destinations of one source; null if there are none to go on with. */
function readDestinations(entry: ConfigNode, reading: Reading): MappingDestination[] | null {
  if (typeof entry.value === 'string') {
    return [{ subject: subjectOf(entry.value), weight: 100, cluster: '' }];
  }
  if (Array.isArray(entry.value)) {
    return entry.value.map((node) => readDestination(node, reading)).filter((destination) => destination !== null);
  }
  const destination = readDestination(entry, reading);
  return destination === null ? null : [destination];
}

interface DestinationDraft {
  subject: string;
  weight: number | null;
  cluster: string;
  /** A mistake in it was reported, so that it is of no use. */
  isBroken: boolean;
}

const destination = new Keys<DestinationDraft>(null);

export const DESTINATION_KEYS: readonly Key<DestinationDraft>[] = [
  destination.custom(
    'destination',
    'subject',
    { aliases: ['dest'], live: 'Accounts', doc: 'Subject to publish to, with $1 or functions for wildcards.' },
    (draft, node, reading) => {
      const text = reading.string(node);
      draft.subject = subjectOf(text ?? '');
      draft.isBroken ||= text === null;
    },
  ),
  destination.custom(
    'weight',
    'percent',
    { live: 'Accounts', doc: 'Share of the messages that goes there, 0 to 100 with or without %.' },
    (draft, node, reading) => {
      draft.weight = readWeight(node, reading);
      draft.isBroken ||= draft.weight === null;
    },
  ),
  destination.custom(
    'cluster',
    'string',
    { live: 'Accounts', doc: 'Name of the cluster in which it applies.' },
    (draft, node, reading) => {
      const text = reading.string(node);
      draft.cluster = text ?? '';
      draft.isBroken ||= text === null;
    },
  ),
];

function readDestination(node: ConfigNode, reading: Reading): MappingDestination | null {
  const { value: map, place } = node;
  if (!isMap(map)) {
    reading.error(place, 'Expected an entry for the mapping destination');
    return null;
  }
  const draft: DestinationDraft = { subject: '', weight: null, cluster: '', isBroken: false };
  reading.blaming(place, () => {
    readEntries(DESTINATION_KEYS, map, draft, reading, (name) => {
      draft.isBroken = true;
      return `Unknown field ${goQuote(name)} for mapping destination`;
    });
  });
  const { subject, weight, cluster, isBroken } = draft;
  if (isBroken) return null;
  if (weight !== null) return { subject, weight, cluster };
  reading.error(place, `Missing weight for mapping destination ${goQuote(subjectText(subject))}`);
  return null;
}

/** 0 to 100, with or without a percent sign. */
function readWeight({ value, place }: ConfigNode, reading: Reading): number | null {
  if (typeof value !== 'string' && typeof value !== 'bigint') {
    reading.error(place, `Unknown entry type for weight of ${goValue(value)}\n`);
    return null;
  }
  const text = typeof value === 'string' ? value.replace(/%$/, '') : '';
  const weight = typeof value === 'string' ? parseDecimal(text) : safeNumber(value);
  if (weight !== null && weight >= 0 && weight <= 100) return weight;
  const shown = weight === null ? goQuote(text) : String(weight);
  reading.error(place, `Invalid weight ${shown} for mapping destination`);
  return null;
}

/** Why the destinations cannot be used together, or one of them not with this source. */
function faultOf(source: string, destinations: readonly MappingDestination[]): string | null {
  const seen = new Set<string>();
  const totals = new Map<string, number>();
  for (const { subject, weight, cluster } of destinations) {
    if (seen.has(subject)) return `duplicate entry for ${goQuote(subjectText(subject))}`;
    seen.add(subject);
    const total = (totals.get(cluster) ?? 0) + weight;
    if (total > 100) return 'total weight needs to be <= 100';
    totals.set(cluster, total);
    if (subject === '') return 'a destination without a subject';
    const error = validateTransform(source, subject);
    if (error !== null) return subjectText(error.message);
  }
  return null;
}
