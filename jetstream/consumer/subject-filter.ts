/**
 * Which subjects of a stream a consumer wants. Asked by subject number, and answered from a table: a subject's text is
 * compared once.
 */

import { subjectMatches } from '../../server/subject/subject.ts';
import type { SubjectIndex } from '../store/subject-index.ts';

const UNKNOWN = 0;
const ACCEPTED = 1;
const REFUSED = 2;

export class SubjectFilter {
  /** `null`: every subject. */
  readonly accepts: ((subject: number) => boolean) | null;
  private readonly pattern: string;
  private readonly subjects: SubjectIndex;
  private answers = new Uint8Array(64);

  /** `pattern` empty: every subject. */
  constructor(pattern: string, subjects: SubjectIndex) {
    this.pattern = pattern;
    this.subjects = subjects;
    this.accepts = pattern === '' || pattern === '>' ? null : (subject) => this.matches(subject);
  }

  /** Messages that are visible and match. */
  count(): number {
    let count = 0;
    for (let subject = 0; subject < this.subjects.size; subject++) {
      if (this.matches(subject)) count += this.subjects.count(subject);
    }
    return count;
  }

  /** The highest sequence of a matching subject; 0: none. An upper bound after removals. */
  last(): number {
    let last = 0;
    for (let subject = 0; subject < this.subjects.size; subject++) {
      if (this.subjects.count(subject) > 0 && this.matches(subject)) last = Math.max(last, this.subjects.last(subject));
    }
    return last;
  }

  matches(subject: number): boolean {
    if (this.accepts === null) return true;
    if (subject >= this.answers.length) this.grow(subject);
    const known = this.answers[subject] as number;
    if (known !== UNKNOWN) return known === ACCEPTED;
    const accepted = subjectMatches(this.pattern, this.subjects.text(subject));
    this.answers[subject] = accepted ? ACCEPTED : REFUSED;
    return accepted;
  }

  private grow(subject: number): void {
    let length = this.answers.length;
    while (length <= subject) length *= 2;
    const answers = new Uint8Array(length);
    answers.set(this.answers);
    this.answers = answers;
  }
}
