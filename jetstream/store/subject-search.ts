/**
 * Finds messages by subject: the next one that somebody accepts, the first and the last of a subject. From the subject
 * index, or by searching blocks when that does not know or removals made it vague.
 *
 * A search that needs an index which is not in memory, or takes too long for one turn, answers LOADING, and goes on where
 * it was when it is asked again: what it passed holds nothing it looks for, and never will.
 *
 * Bound: MEMOS_MAX searches go on like this, others begin again.
 */

import type { BlockList } from './block-list.ts';
import type { MessageBlock } from './message-block.ts';
import { LOADING, NONE } from './store.ts';
import type { SubjectIndex } from './subject-index.ts';

const MEMOS_MAX = 256;

type Accepts = (subject: number) => boolean;

/** Nothing that is accepted stands in `[from, reached)`. */
interface Memo {
  readonly from: number;
  readonly reached: number;
}

export class SubjectSearch {
  private readonly list: BlockList;
  private readonly subjects: SubjectIndex;
  /** Called before LOADING is answered: with the block whose index is needed, or `null` when a turn was too short. */
  private readonly onStop: (missing: MessageBlock | null) => void;
  private readonly memos = new Map<Accepts | null, Memo>();
  private lastMemo = { subject: -1, to: 0, reached: 0 };

  constructor(list: BlockList, subjects: SubjectIndex, onStop: (missing: MessageBlock | null) => void) {
    this.list = list;
    this.subjects = subjects;
    this.onStop = onStop;
  }

  /** The lowest sequence in `[from, to]` whose subject `accepts`, NONE or LOADING. */
  next(from: number, to: number, accepts: Accepts | null): number {
    const memo = this.memos.size === 0 ? undefined : this.memos.get(accepts);
    const goesOn = memo !== undefined && from >= memo.from && from <= memo.reached;
    const found = this.list.next(goesOn ? memo.reached : from, to, accepts);
    if (memo !== undefined) this.memos.delete(accepts);
    if (found === LOADING) this.remember(accepts, { from: goesOn ? memo.from : from, reached: this.list.reached });
    return found === LOADING ? this.stop() : found;
  }

  /** The highest sequence of the subject in `[from, to]`, NONE or LOADING. */
  last(subject: number, from: number, to: number): number {
    const { subjects, list } = this;
    if (subject < 0 || subjects.count(subject) === 0) return NONE;
    const known = subjects.last(subject);
    if (known > to) return this.lastUpTo(subject, from, to);
    if (subjects.isLastExact(subject)) return known;
    const found = list.lastOf(subject, from, known);
    if (found > 0) subjects.setLast(subject, found);
    else if (found === LOADING) subjects.lowerLast(subject, list.reached);
    return found === LOADING ? this.stop() : found;
  }

  /** The lowest sequence of the subject up to `to`, NONE or LOADING. */
  first(subject: number, to: number): number {
    const { subjects, list } = this;
    if (subjects.count(subject) === 0) return NONE;
    for (;;) {
      const known = subjects.first(subject);
      if (subjects.isFirstExact(subject)) return known;
      const found = list.next(known, to, (each) => each === subject);
      if (found > 0) subjects.setFirst(subject, found);
      else if (found === LOADING) subjects.raiseFirst(subject, list.reached);
      // Limits are enforced now: only an index that is not there makes them wait.
      if (found === LOADING && list.missing === null) continue;
      return found === LOADING ? this.stop() : found;
    }
  }

  private lastUpTo(subject: number, from: number, to: number): number {
    const { lastMemo, list } = this;
    const goesOn = lastMemo.subject === subject && lastMemo.to === to;
    const found = list.lastOf(subject, from, goesOn ? lastMemo.reached : to);
    this.lastMemo = { subject: found === LOADING ? subject : -1, to, reached: list.reached };
    return found === LOADING ? this.stop() : found;
  }

  private remember(accepts: Accepts | null, memo: Memo): void {
    this.memos.set(accepts, memo);
    for (const oldest of this.memos.keys()) {
      if (this.memos.size <= MEMOS_MAX) return;
      this.memos.delete(oldest);
    }
  }

  private stop(): number {
    this.onStop(this.list.missing);
    return LOADING;
  }
}
