/**
 * Schedules that are over: their messages go when the message that says so is visible, all that stand under their subject
 * before it. What was asked and is not durable yet is asked again after a restart.
 */

import { LOADING, type MessageStore, NONE } from '../store/store.ts';

export interface SchedulePurge {
  readonly subject: number;
  /** The sequence of the message that says so. */
  readonly before: number;
}

interface Purge extends SchedulePurge {
  /** Messages that are on their way out. */
  leaving: number;
  isAsked: boolean;
}

export class SchedulePurges {
  private readonly store: MessageStore;
  private purges: Purge[] = [];

  constructor(store: MessageStore) {
    this.store = store;
  }

  /** Messages of the subject below `before` go when that is visible. */
  add(subject: number, before: number): void {
    this.purges.push({ subject, before, leaving: 0, isAsked: false });
  }

  /** Those that a checkpoint must not forget, which reflects messages up to `lastSequence`. */
  unfinished(lastSequence: number): readonly SchedulePurge[] {
    return this.purges.filter(({ before }) => before <= lastSequence);
  }

  visible(sequence: number): void {
    if (this.purges.length === 0) return;
    for (const purge of this.purges) if (purge.before <= sequence && !purge.isAsked) this.ask(purge, purge.before - 1);
    this.forgetFinished();
  }

  removed(sequence: number, subject: number): void {
    if (this.purges.length === 0) return;
    for (const purge of this.purges) {
      if (purge.leaving > 0 && purge.subject === subject && sequence < purge.before) purge.leaving--;
    }
    this.forgetFinished();
  }

  /** Has the messages up to `upTo` removed, the last one first. */
  private ask(purge: Purge, upTo: number): void {
    const { store } = this;
    purge.isAsked = true;
    for (let at = store.lastOf(purge.subject, upTo); at !== NONE; at = store.lastOf(purge.subject, at - 1)) {
      if (at === LOADING) {
        purge.isAsked = false;
        store.whenReadable(Math.max(1, upTo), () => this.visible(store.lastSequence));
        return;
      }
      purge.leaving++;
      // It may be on its way out already.
      if (!store.remove(at)) purge.leaving--;
    }
  }

  private forgetFinished(): void {
    this.purges = this.purges.filter(({ isAsked, leaving }) => !isAsked || leaving > 0);
  }
}
