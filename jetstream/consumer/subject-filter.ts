/**
 * Which subjects of a stream a consumer wants: those that match one of its filters, or all. Asked by subject number, and
 * answered from a table: a subject's text is compared once, whole with all literal filters together, and with those
 * wildcard filters alone that begin with its first token or a wildcard.
 */

import { subjectMatches } from '../../server/subject/subject.ts';
import type { SubjectIndex } from '../store/subject-index.ts';
import type { ConsumerConfig } from './consumer-config-fields.ts';

const UNKNOWN = 0;
const ACCEPTED = 1;
const REFUSED = 2;
const NO_PATTERNS: readonly string[] = [];

/** The filters of a configuration; none: every subject. */
export function filtersOf(config: ConsumerConfig): readonly string[] {
  const filters = config.filterSubjects ?? [];
  return config.filterSubject === '' ? filters : [...filters, config.filterSubject];
}

export class SubjectFilter {
  /** `null`: every subject. */
  readonly accepts: ((subject: number) => boolean) | null;
  private readonly literals = new Set<string>();
  /** Wildcard filters by their first token; under `''` those that begin with a wildcard. */
  private readonly patterns = new Map<string, string[]>();
  private readonly subjects: SubjectIndex;
  private answers = new Uint8Array(64);

  /** No filters, or an empty one alone: every subject. */
  constructor(wanted: string | readonly string[], subjects: SubjectIndex) {
    const filters = typeof wanted === 'string' ? [wanted].filter((each) => each !== '') : wanted;
    this.subjects = subjects;
    for (const filter of filters) this.add(filter);
    const isAll = filters.length === 0 || filters.includes('>');
    this.accepts = isAll ? null : (subject) => this.matches(subject);
  }

  private add(filter: string): void {
    const tokens = filter.split('.');
    if (!tokens.includes('*') && tokens.at(-1) !== '>') {
      this.literals.add(filter);
      return;
    }
    const [first] = tokens as [string];
    const key = first === '*' || first === '>' ? '' : first;
    const patterns = this.patterns.get(key);
    if (patterns === undefined) this.patterns.set(key, [filter]);
    else patterns.push(filter);
  }

  /** Messages that are visible and match. */
  count(): number {
    let count = 0;
    for (let subject = 0; subject < this.subjects.size; subject++) {
      if (this.matches(subject)) count += this.subjects.count(subject);
    }
    return count;
  }

  matches(subject: number): boolean {
    if (this.accepts === null) return true;
    if (subject >= this.answers.length) this.grow(subject);
    const known = this.answers[subject] as number;
    if (known !== UNKNOWN) return known === ACCEPTED;
    const accepted = this.matchesText(this.subjects.text(subject));
    this.answers[subject] = accepted ? ACCEPTED : REFUSED;
    return accepted;
  }

  matchesText(subject: string): boolean {
    if (this.accepts === null || this.literals.has(subject)) return true;
    if (this.patterns.size === 0) return false;
    const dot = subject.indexOf('.');
    const first = dot < 0 ? subject : subject.slice(0, dot);
    const fits = (pattern: string): boolean => subjectMatches(pattern, subject);
    return (this.patterns.get(first) ?? NO_PATTERNS).some(fits) || (this.patterns.get('') ?? NO_PATTERNS).some(fits);
  }

  private grow(subject: number): void {
    let { length } = this.answers;
    while (length <= subject) length *= 2;
    const answers = new Uint8Array(length);
    answers.set(this.answers);
    this.answers = answers;
  }
}
