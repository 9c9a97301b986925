/**
 * Subject transforms: a source pattern and a destination in which tokens refer to the source's wildcards. Mappings,
 * imports, stream transforms, republish and sources all use this one engine.
 *
 *     source        destination               subject           result
 *     foo.*.*       bar.$2.{{left(1,2)}}      foo.abc.x         bar.x.ab
 *     orders.>      eu.orders.>               orders.new.1      eu.orders.new.1
 *
 *     compiled:     steps  [text bar] [wildcard 2] [left 1 2]      one per destination token, without a last `>`
 *                   tail   tokens of the subject from here on replace the destination's `>`, or -1
 *
 * Rules: source and destination are subjects; both end in `>` or neither does; the destination has no `*`; an index
 * must not exceed the number of `*`; a source without wildcards allows only `partition` (which then takes the whole
 * subject) and `random`. A strict transform can be read backwards, as imports need: it may use only `wildcard`, and has
 * to use each one. Compiling answers with a value, also when it refuses.
 *
 * ADR-30. Pure: `random` draws from the source it is handed.
 */

import { isSubscribableSubject, isSubsetMatch, isValidLiteralSubject } from './subject.ts';
import { transformError } from './transform-error.ts';
import type { TransformError } from './transform-error.ts';
import { expandTransformToken, isPlaceholder, looksLikeFunction, parseTransformToken } from './transform-token.ts';
import type { FractionSource, TransformToken } from './transform-token.ts';

export type Compiled<T, E> = { readonly value: T; readonly error: null } | { readonly value: null; readonly error: E };

export type CompiledTransform = Compiled<Transform, TransformError>;

export interface TransformOptions {
  /** Only `wildcard`, and every wildcard of the source used. */
  readonly strict: boolean;
}

export class Transform {
  readonly source: string;
  readonly destination: string;
  /** The result when it is the same for every subject. */
  readonly constant: string | null;
  private readonly steps: readonly TransformToken[];
  private readonly tail: number;

  /** Use `compileTransform`. */
  constructor(source: string, destination: string, steps: readonly TransformToken[], tail: number) {
    this.source = source;
    this.destination = destination;
    this.steps = steps;
    this.tail = tail;
    this.constant = tail === -1 && steps.every((step) => step.kind === 'text') ? destination : null;
  }

  /**
   * The transformed subject, or `null` if the source does not match it or it is not a literal. `>` to `>` answers with
   * any subject as it is.
   */
  apply(subject: string, random: FractionSource): string | null {
    if (this.source === '>' && this.destination === '>') return subject;
    if (!isValidLiteralSubject(subject) || !isSubsetMatch(subject, this.source)) return null;
    return this.constant ?? this.applyTokens(subject.split('.'), random);
  }

  /** The transformed subject of one that is known to match the source, given its tokens. */
  applyTokens(subject: readonly string[], random: FractionSource): string {
    if (this.constant !== null) return this.constant;
    let result = '';
    for (let i = 0; i < this.steps.length; i++) {
      const expanded = expandTransformToken(this.steps[i] as TransformToken, subject, random);
      result += i === 0 ? expanded : `.${expanded}`;
    }
    if (this.tail === -1) return result;
    const rest = subject.slice(this.tail).join('.');
    return this.steps.length === 0 ? rest : `${result}.${rest}`;
  }

  /**
   * The transform back, strict, or `null` if there is none. It writes this destination's wildcards into the source in
   * the order in which they stand, as nats-server does: right unless three or more wildcards are rotated.
   */
  reverse(): Transform | null {
    const back = placeholdersToWildcards(this.destination);
    const tokens: string[] = [];
    let next = 0;
    for (const token of this.source.split('.')) {
      if (token !== '*') {
        tokens.push(token);
        continue;
      }
      const placeholder = back.placeholders[next++];
      if (placeholder === undefined) return null;
      tokens.push(placeholder);
    }
    return compileTransform(back.pattern, tokens.join('.'), { strict: true }).value;
  }
}

/**
 * Compiles source and destination, or says why not. An empty source stands for `>`. An empty destination is refused:
 * where it means "no transform", ask before.
 */
export function compileTransform(
  source: string,
  destination: string,
  options: TransformOptions = { strict: false },
): CompiledTransform {
  const from = shapeOf(source === '' ? '>' : source);
  const to = shapeOf(destination);
  if (from === null || to === null || to.stars.length > 0 || from.endsInRest !== to.endsInRest) {
    return refusal(transformError('bad-subject'));
  }
  const steps: TransformToken[] = [];
  let references = 0;
  for (const token of to.endsInRest ? to.tokens.slice(0, -1) : to.tokens) {
    const parsed = parseTransformToken(token);
    if (parsed.kind === 'error') return refusal(parsed.error);
    const error = checkStep(parsed, token, from, options.strict);
    if (error !== null) return refusal(error);
    steps.push(located(parsed, from));
    references += indexesOf(parsed).length;
  }
  if (options.strict && references < from.stars.length) {
    return refusal(transformError('not-all-wildcards', destination));
  }
  const tail = from.endsInRest ? from.tokens.length - 1 : -1;
  return { value: new Transform(from.tokens.join('.'), destination, steps, tail), error: null };
}

/**
 * What configuration and API requests ask of a transform before it is compiled: `null` if it may be used. Stricter
 * than `compileTransform` about blanks. An empty destination means no transform and is fine.
 */
export function validateTransform(source: string, destination: string): TransformError | null {
  if (destination === '') return null;
  let ended = false;
  for (const token of destination.split('.')) {
    if (token === '' || ended) return transformError('invalid-transform', token);
    if (looksLikeFunction(token)) {
      const parsed = parseTransformToken(token);
      if (parsed.kind === 'error' && parsed.error.code === 'unknown-function') return parsed.error;
    } else if (token === '>') ended = true;
    else if (/[\t\n\f\r ]/.test(token)) return transformError('invalid-transform');
  }
  return compileTransform(source, destination).error;
}

/** A pattern as the destination that leaves everything in place: `foo.*.*` as `foo.$1.$2`. */
export function wildcardsToPlaceholders(pattern: string): string {
  let index = 0;
  const numbered = (token: string): string => (token === '*' ? `$${++index}` : token);
  return pattern.split('.').map(numbered).join('.');
}

/** A destination as the pattern of what it can produce, and what stood at each `*`: `foo.$2.$1` as `foo.*.*`. */
export function placeholdersToWildcards(destination: string): { pattern: string; placeholders: string[] } {
  const tokens = destination.split('.');
  const placeholders = tokens.filter(isPlaceholder);
  return { pattern: tokens.map((token) => (isPlaceholder(token) ? '*' : token)).join('.'), placeholders };
}

interface PatternShape {
  readonly tokens: readonly string[];
  /** The positions of the `*`. */
  readonly stars: readonly number[];
  readonly endsInRest: boolean;
}

/** `null` for a token that is empty or behind `>`; blanks are not looked for. */
function shapeOf(pattern: string): PatternShape | null {
  if (!isSubscribableSubject(pattern)) return null;
  const tokens = pattern.split('.');
  const stars = tokens.flatMap((token, position) => (token === '*' ? [position] : []));
  return { tokens, stars, endsInRest: tokens.at(-1) === '>' };
}

function refusal(error: TransformError): CompiledTransform {
  return { value: null, error };
}

function indexesOf(step: TransformToken): readonly number[] {
  if (step.kind === 'partition') return step.indexes;
  return step.kind === 'text' || step.kind === 'random' ? [] : [step.index];
}

/** Whether the source and the strictness allow this step; `token` is its text. */
function checkStep(step: TransformToken, token: string, from: PatternShape, strict: boolean): TransformError | null {
  if (step.kind === 'text') return null;
  if (from.stars.length === 0 && !from.endsInRest) {
    const allowed = step.kind === 'partition' || step.kind === 'random';
    return allowed ? null : transformError('index-out-of-range', token);
  }
  if (strict && step.kind !== 'wildcard') return transformError('not-for-imports', token);
  const beyond = indexesOf(step).find((index) => index > from.stars.length);
  return beyond === undefined ? null : transformError('index-out-of-range', `${token}: [${beyond}]`);
}

/** The step with its indexes of wildcards turned into positions of the source's tokens. */
function located(step: TransformToken, from: PatternShape): TransformToken {
  const position = (index: number): number => from.stars[index - 1] ?? 0;
  if (step.kind === 'text' || step.kind === 'random') return step;
  if (step.kind !== 'partition') return { ...step, index: position(step.index) };
  // Without wildcards in the source there is nothing to choose from: the whole subject is hashed.
  const choosable = from.stars.length > 0 || from.endsInRest;
  return { ...step, indexes: choosable ? step.indexes.map(position) : [] };
}
