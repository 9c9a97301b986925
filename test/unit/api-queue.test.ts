/** Requests that wait: one in a turn, in order, and none when there are too many. */
import { describe, expect, it } from 'vitest';
import { ApiQueue } from '../../jetstream/api/api-queue.ts';

class Turns {
  private ended: (() => void)[] = [];

  readonly timers = {
    after: (): never => {
      throw new Error('no request waits for a time');
    },
    afterTurn: (callback: () => void): void => void this.ended.push(callback),
  };

  /** Ends the present turn. */
  next(): void {
    const { ended } = this;
    this.ended = [];
    for (const callback of ended) callback();
  }

  get areOver(): boolean {
    return this.ended.length === 0;
  }
}

interface Handled {
  readonly request: string;
  readonly done: () => void;
}

function queueOf(limit: number): { turns: Turns; handled: Handled[]; queue: ApiQueue<string> } {
  const turns = new Turns();
  const handled: Handled[] = [];
  const queue = new ApiQueue<string>(turns.timers, limit, (request, done) => handled.push({ request, done }));
  return { turns, handled, queue };
}

describe('a queue of requests', () => {
  it('handles a request behind the turn in which it came', () => {
    const { turns, handled, queue } = queueOf(10);
    expect(queue.push('a')).toBe(0);
    expect(handled).toEqual([]);
    turns.next();
    expect(handled.map(({ request }) => request)).toEqual(['a']);
  });

  it('handles the next one when the one before it is answered, in another turn', () => {
    const { turns, handled, queue } = queueOf(10);
    for (const request of ['a', 'b', 'c']) queue.push(request);
    turns.next();
    turns.next();
    expect(handled).toHaveLength(1);
    handled[0]?.done();
    expect(handled).toHaveLength(1);
    turns.next();
    expect(handled.map(({ request }) => request)).toEqual(['a', 'b']);
    queue.push('d');
    handled[1]?.done();
    turns.next();
    handled[2]?.done();
    turns.next();
    handled[3]?.done();
    expect(handled.map(({ request }) => request)).toEqual(['a', 'b', 'c', 'd']);
    expect(turns.areOver).toBe(true);
  });

  it('drops all that wait when there is one too many, and goes on', () => {
    const { turns, handled, queue } = queueOf(3);
    queue.push('a');
    turns.next();
    expect([queue.push('b'), queue.push('c'), queue.push('d')]).toEqual([0, 0, 3]);
    handled[0]?.done();
    expect(turns.areOver).toBe(true);
    expect(queue.push('e')).toBe(0);
    turns.next();
    expect(handled.map(({ request }) => request)).toEqual(['a', 'e']);
  });

  it('goes on when it is emptied while the next request waits for its turn', () => {
    const { turns, handled, queue } = queueOf(10);
    queue.push('a');
    queue.clear();
    turns.next();
    queue.push('b');
    turns.next();
    expect(handled.map(({ request }) => request)).toEqual(['b']);
  });
});
