/** The first and last message of a subject: from the subject index, or by searching blocks when removals made it vague. */

import type { BlockList } from './block-list.ts';
import { NONE } from './store.ts';
import type { SubjectIndex } from './subject-index.ts';

export class SubjectSearch {
  private readonly list: BlockList;
  private readonly subjects: SubjectIndex;

  constructor(list: BlockList, subjects: SubjectIndex) {
    this.list = list;
    this.subjects = subjects;
  }

  /** The highest sequence of the subject in `[from, to]`, NONE or LOADING. */
  last(subject: number, from: number, to: number): number {
    const { subjects } = this;
    if (subject < 0 || subjects.count(subject) === 0) return NONE;
    const known = subjects.last(subject);
    if (known <= to && subjects.isLastExact(subject)) return known;
    const found = this.list.lastOf(subject, from, Math.min(known, to));
    if (found > 0 && known <= to) subjects.setLast(subject, found);
    return found;
  }

  /** The lowest sequence of the subject up to `to`, NONE or LOADING. */
  first(subject: number, to: number): number {
    const { subjects } = this;
    if (subjects.count(subject) === 0) return NONE;
    const known = subjects.first(subject);
    if (subjects.isFirstExact(subject)) return known;
    const found = this.list.next(known, to, (each) => each === subject);
    if (found > 0) subjects.setFirst(subject, found);
    return found;
  }
}
