/**
 * One subject mapping of an account: a source pattern and the destinations among which its messages are divided.
 *
 *     configured                 a: [ {b, 20 %}, {c, 30 %} ]
 *     divided over [0, 100)      │ b: 0..20 │ c: 20..50 │ a: 50..100 │      each keeps the upper end of its share
 *
 * Destinations with a cluster name form sets of their own; in a server of that cluster its set decides, elsewhere the
 * set without a name. What a set leaves of the 100 % goes on unchanged, unless the source itself is one of the
 * mapping's destinations, in whichever set: then that share is dropped, which is how loss is simulated. `foo.$1` is
 * not the source `foo.*` in this sense; only an equal text is.
 *
 * The rules and the texts of errors are nats-server's, with two exceptions. It takes an empty destination and crashes
 * at the first message; here it is an invalid subject. And under a literal source its `partition` hashes the subject or
 * an empty text, depending on which mapping it looked at before; here always the subject.
 */

import type { TransformError, TransformErrorCode } from '../subject/transform-error.ts';
import { transformError } from '../subject/transform-error.ts';
import type { FractionSource } from '../subject/transform-token.ts';
import { compileTransform, validateTransform, wildcardsToPlaceholders } from '../subject/transform.ts';
import type { Compiled, Transform } from '../subject/transform.ts';
import { isValidSubject } from '../subject/subject.ts';

export interface MappingDestination {
  readonly subject: string;
  /** Percent, 0 to 100. */
  readonly weight: number;
  /** The cluster in which this destination counts; everywhere else when absent or empty. */
  readonly cluster?: string;
}

export interface MappingError {
  readonly code: TransformErrorCode | 'duplicate' | 'weight-over-100' | 'total-over-100';
  /** nats-server's text. */
  readonly message: string;
}

/** A destination with the upper end of its share of [0, 100), which is also the weight that /accountz shows. */
export interface Share {
  readonly transform: Transform;
  readonly end: number;
}

export class Mapping {
  readonly source: string;
  /** By cluster name; the set without one is under the empty name and always there. */
  readonly sets: ReadonlyMap<string, readonly Share[]>;
  private readonly common: readonly Share[];

  /** Use `compileMapping`. */
  constructor(source: string, sets: ReadonlyMap<string, readonly Share[]>) {
    this.source = source;
    this.sets = sets;
    this.common = sets.get('') ?? [];
  }

  /** The transform for one message in a server of the named cluster, or `null` if the message is to be dropped. */
  choose(clusterName: () => string, random: FractionSource): Transform | null {
    const shares = this.sets.size === 1 ? this.common : (this.sets.get(clusterName()) ?? this.common);
    const only = shares[0];
    if (only !== undefined && only.end === 100) return only.transform;
    const drawn = random.fraction() * 100;
    for (const share of shares) if (drawn < share.end) return share.transform;
    return null;
  }
}

/** Compiles a mapping, or says why not. */
export function compileMapping(
  source: string,
  destinations: readonly MappingDestination[],
): Compiled<Mapping, MappingError> {
  if (!isValidSubject(source)) return refusal(transformError('bad-subject'));
  const seen = new Set<string>();
  const sets = new Map<string, WeightedTransform[]>([['', []]]);
  for (const destination of destinations) {
    const cluster = destination.cluster ?? '';
    const set = sets.get(cluster) ?? [];
    const compiled = compileDestination(source, destination, seen, set);
    if (compiled.error !== null) return compiled;
    seen.add(destination.subject);
    set.push(compiled.value);
    sets.set(cluster, set);
  }
  const divided = new Map<string, readonly Share[]>();
  for (const [cluster, set] of sets) {
    if (!seen.has(source) && totalOf(set) < 100) {
      const rest = compileTransform(source, wildcardsToPlaceholders(source));
      if (rest.error !== null) return rest;
      set.push({ transform: rest.value, weight: 100 - totalOf(set) });
    }
    divided.set(cluster, divide(set));
  }
  return { value: new Mapping(source, divided), error: null };
}

interface WeightedTransform {
  readonly transform: Transform;
  readonly weight: number;
}

function compileDestination(
  source: string,
  { subject, weight }: MappingDestination,
  seen: ReadonlySet<string>,
  set: readonly WeightedTransform[],
): Compiled<WeightedTransform, MappingError> {
  if (seen.has(subject)) return refusal({ code: 'duplicate', message: `duplicate entry for "${subject}"` });
  if (weight > 100) return refusal({ code: 'weight-over-100', message: 'individual weights need to be <= 100' });
  if (totalOf(set) + weight > 100) {
    return refusal({ code: 'total-over-100', message: 'total weight needs to be <= 100' });
  }
  const invalid: TransformError | null = validateTransform(source, subject);
  if (invalid !== null) return refusal(invalid);
  const compiled = compileTransform(source, subject);
  return compiled.error === null ? { value: { transform: compiled.value, weight }, error: null } : compiled;
}

function totalOf(set: readonly WeightedTransform[]): number {
  return set.reduce((total, { weight }) => total + weight, 0);
}

/** The shares, small ones first. */
function divide(set: readonly WeightedTransform[]): Share[] {
  let end = 0;
  const ascending = [...set].sort((a, b) => a.weight - b.weight);
  return ascending.map(({ transform, weight }) => ({ transform, end: (end += weight) }));
}

function refusal(error: MappingError): { value: null; error: MappingError } {
  return { value: null, error };
}
