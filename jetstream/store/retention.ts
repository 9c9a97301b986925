/**
 * What the limits of a stream remove: messages above a number or a size, oldest first, and the oldest of a subject that
 * has too many; then what a message replaces that became visible. This is done after each message that becomes visible,
 * so that the same messages go whatever came in one batch.
 *
 * A message can only be removed while its block's index is in memory. Enforcing stops where it is not, and goes on when it
 * is called again; what it has not come to is remembered here.
 */

import { isLiteral, subjectMatches } from '../../server/subject/subject.ts';
import { LOADING, type StoreLimits } from './store.ts';
import type { SubjectIndex } from './subject-index.ts';

const NO_SUBJECT = -1;
/** After so many removals somebody else may have a turn. */
const REMOVALS_PER_TURN = 1000;
/** The same after a look at so many subjects. */
const REVIEWS_PER_TURN = 8192;

/** What is limited: visible messages, and the ways to take some away. */
export interface Retained {
  readonly messages: number;
  readonly bytes: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly subjects: SubjectIndex;
  /** The first message of the subject, NONE or LOADING. */
  firstOf(subject: number): number;
  /** Removes a visible message; false when an index has to be loaded first. */
  removeVisible(sequence: number): boolean;
  /** `firstSequence` is the first message again; false when an index has to be loaded first. */
  settleFirst(): boolean;
  /** Removes all visible messages below `below`; false when that has to be taken again. */
  purgeVisible(below: number): boolean;
  /** Amid many removals: false when the rest is to be done in another turn. */
  goesOn(): boolean;
}

export class Retention {
  limits: StoreLimits = { maxMessages: 0, maxBytes: 0, maxMessagesPerSubject: 0 };
  private readonly store: Retained;
  private maxMessages = Infinity;
  private maxBytes = Infinity;
  private maxPerSubject = Infinity;
  /** This subject may have too many messages. */
  private crowded = NO_SUBJECT;
  /** Subjects from this number on have not been looked at since the limit changed. */
  private reviewAt = Infinity;
  /** The last message of this subject replaces the others. */
  private replaced = NO_SUBJECT;
  /** Its text where that is a pattern: what is stored under subjects that match is replaced, too; else `null`. */
  private pattern: string | null = null;
  /** Subjects from this number on have not been compared with the pattern. */
  private comparedAt = 0;
  /** The message with this sequence replaces all others; 0: none does. */
  private replacedBelow = 0;
  /** The message with this sequence goes itself; 0: none does. */
  private vanishing = 0;
  private isOver = false;

  constructor(store: Retained) {
    this.store = store;
  }

  /** Takes over limits; `enforce` applies them. */
  set(limits: StoreLimits): void {
    this.limits = limits;
    this.maxMessages = limits.maxMessages > 0 ? limits.maxMessages : Infinity;
    this.maxBytes = limits.maxBytes > 0 ? limits.maxBytes : Infinity;
    this.maxPerSubject = limits.maxMessagesPerSubject > 0 ? limits.maxMessagesPerSubject : Infinity;
    this.reviewAt = this.maxPerSubject < Infinity ? 0 : Infinity;
    this.isOver = true;
  }

  /** A message of the subject became visible; whether something has to go. */
  added(subject: number): boolean {
    const { store } = this;
    if (store.subjects.count(subject) > this.maxPerSubject) this.crowded = subject;
    else if (store.messages <= this.maxMessages && store.bytes <= this.maxBytes) return false;
    this.isOver = true;
    return true;
  }

  /** Removes what is too much; false when an index has to be loaded first. */
  enforce(): boolean {
    if (!this.isOver) return true;
    // What nobody wants pushes nothing out.
    if (this.vanishing > 0 && !this.store.removeVisible(this.vanishing)) return false;
    this.vanishing = 0;
    if (this.crowded !== NO_SUBJECT && !this.thinOut(this.crowded, this.maxPerSubject)) return false;
    this.crowded = NO_SUBJECT;
    // After a change of limits nats-server looks at the whole first, too, and then at each subject.
    if (!this.removeFirst() || !this.reviewSubjects() || !this.removeReplaced()) return false;
    this.isOver = false;
    return true;
  }

  private removeFirst(): boolean {
    const { store } = this;
    for (let removals = 1; store.messages > this.maxMessages || store.bytes > this.maxBytes; removals++) {
      if (store.messages === 0) break;
      if (removals % REMOVALS_PER_TURN === 0 && !store.goesOn()) return false;
      const { messages } = store;
      if (!store.settleFirst() || !store.removeVisible(store.firstSequence)) return false;
      // Nothing went: what is counted and not there is damaged.
      if (store.messages === messages) break;
    }
    return true;
  }

  private reviewSubjects(): boolean {
    const { store } = this;
    while (this.reviewAt < store.subjects.size) {
      if (!this.thinOut(this.reviewAt, this.maxPerSubject)) return false;
      this.reviewAt++;
      if (this.reviewAt % REVIEWS_PER_TURN === 0 && !store.goesOn()) return false;
    }
    this.reviewAt = Infinity;
    return true;
  }

  /** The message that became visible is the only one under its subject, or what that matches, from now on. */
  replacesSubject(subject: number): void {
    const text = this.store.subjects.text(subject);
    this.replaced = subject;
    this.pattern = isLiteral(text) ? null : text;
    this.comparedAt = 0;
    this.isOver = true;
  }

  /** The message that became visible is the only one from now on. */
  replacesAll(sequence: number): void {
    this.replacedBelow = sequence;
    this.isOver = true;
  }

  /** The message that became visible goes at once. */
  replacesItself(sequence: number): void {
    this.vanishing = sequence;
    this.isOver = true;
  }

  private removeReplaced(): boolean {
    if (this.replaced !== NO_SUBJECT && !this.thinOut(this.replaced, 1)) return false;
    if (this.pattern !== null && !this.removeMatching(this.pattern)) return false;
    this.pattern = null;
    this.replaced = NO_SUBJECT;
    if (this.replacedBelow > 0 && !this.store.purgeVisible(this.replacedBelow)) return false;
    this.replacedBelow = 0;
    return true;
  }

  private removeMatching(pattern: string): boolean {
    const { subjects } = this.store;
    while (this.comparedAt < subjects.size) {
      const subject = this.comparedAt;
      const isThere = subject !== this.replaced && subjects.count(subject) > 0;
      if (isThere && subjectMatches(pattern, subjects.text(subject)) && !this.thinOut(subject, 0)) return false;
      this.comparedAt++;
      if (this.comparedAt % REVIEWS_PER_TURN === 0 && !this.store.goesOn()) return false;
    }
    return true;
  }

  private thinOut(subject: number, max: number): boolean {
    const { store } = this;
    for (let removals = 1; store.subjects.count(subject) > max; removals++) {
      if (removals % REMOVALS_PER_TURN === 0 && !store.goesOn()) return false;
      const first = store.firstOf(subject);
      if (first === LOADING) return false;
      // Nothing: what there is of the subject is damaged, and doesn't count any more when that is found.
      if (first <= 0) return true;
      const { messages } = store;
      if (!store.removeVisible(first)) return false;
      if (store.messages === messages) return true;
    }
    return true;
  }
}
