/**
 * Purging: everything, below a sequence, all but the last few; of one subject or of all. Messages of one subject are
 * removed one by one, PER_TURN in a turn; the rest goes at once.
 *
 * Source: ADR-10.
 */

import { SubjectFilter } from '../consumer/subject-filter.ts';
import { LOADING, NONE } from '../store/store.ts';
import type { Stream } from '../stream/stream.ts';
import type { PurgeBody } from './request-bodies.ts';

const PER_TURN = 1000;

/** Calls back with the number of messages removed, when their removal is durable. */
export function purgeStream(stream: Stream, body: PurgeBody, done: (purged: number) => void): void {
  const { filter, sequence, keep } = body;
  const { store } = stream;
  const isWhole = filter === '' || filter === '>';
  if (!isWhole || keep > 0) {
    new Purge(stream, filter, sequence, keep, done).run();
    return;
  }
  const before = store.messages;
  store.purgeBelow(sequence > 0 ? sequence : store.lastSequence + 1);
  stream.whenDurable(() => done(before - store.messages));
}

class Purge {
  private readonly stream: Stream;
  private readonly filter: SubjectFilter;
  private readonly done: (purged: number) => void;
  private readonly below: number;
  private remaining: number;
  private purged = 0;
  private at: number;

  constructor(stream: Stream, filter: string, sequence: number, keep: number, done: (purged: number) => void) {
    const { store } = stream;
    this.stream = stream;
    this.filter = new SubjectFilter(filter, store.subjects);
    this.done = done;
    this.at = store.firstSequence;
    this.below = sequence > 0 ? sequence : store.lastSequence + 1;
    const matching = this.filter.accepts === null ? store.messages : this.filter.count();
    this.remaining = keep > 0 ? Math.max(0, matching - keep) : matching;
  }

  run(): void {
    const { store } = this.stream;
    for (let count = 0; count < PER_TURN; count++) {
      const next = this.remaining > 0 ? store.next(this.at, this.filter.accepts) : NONE;
      if (next === LOADING) {
        store.whenReadable(this.at, () => this.run());
        return;
      }
      if (next === NONE || next >= this.below) {
        this.stream.whenDurable(() => this.done(this.purged));
        return;
      }
      if (store.remove(next)) this.purged++;
      this.remaining--;
      this.at = next + 1;
    }
    this.stream.host.io.timers.afterTurn(() => this.run());
  }
}
