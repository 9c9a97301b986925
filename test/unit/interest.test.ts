/** What a stream keeps for its consumers, asked directly: a store in memory and consumers that are two numbers each. */
import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../../jetstream/store/memory-store.ts';
import { Interest, type InterestedConsumer } from '../../jetstream/stream/interest.ts';
import type { Timers } from '../../server/io/io.ts';
import { subjectMatches } from '../../server/subject/subject.ts';
import { messageOf } from '../helpers/store-messages.ts';

/** Wants what its pattern lets through, and is done with everything below a sequence. */
class PlainConsumer implements InterestedConsumer {
  pattern: string;
  nextSequence = 1;
  private readonly site: Site;

  constructor(site: Site, pattern: string) {
    this.site = site;
    this.pattern = pattern;
  }

  get wantsAll(): boolean {
    return this.pattern === '>';
  }

  wants(subject: number): boolean {
    return this.wantsText(this.site.store.subjects.text(subject));
  }

  wantsText(subject: string): boolean {
    return subjectMatches(this.pattern, subject);
  }

  awaits(sequence: number): boolean {
    return sequence >= this.nextSequence;
  }

  /** Is done with what comes next. */
  settle(count: number): void {
    for (let left = count; left > 0; left--) this.site.interest.settled(this.nextSequence++);
    this.site.endTurn();
  }
}

class Site {
  readonly store: MemoryStore;
  readonly interest: Interest;
  private later: (() => void)[] = [];

  constructor(policy: 'interest' | 'workqueue') {
    const timers = { afterTurn: (run: () => void) => this.later.push(run) } as unknown as Timers;
    const nobody = { stored: () => undefined, removed: () => undefined, purged: () => undefined };
    this.store = new MemoryStore(timers, nobody, 1);
    this.interest = new Interest(this.store, timers, policy);
    this.interest.start();
  }

  consumer(pattern: string): PlainConsumer {
    const consumer = new PlainConsumer(this, pattern);
    this.interest.add(consumer);
    return consumer;
  }

  publish(...subjects: string[]): void {
    for (const [at, subject] of subjects.entries())
      this.store.append(messageOf(subject, ''), { seconds: at, nanoseconds: 0 });
    this.endTurn();
  }

  isWanted(subject: string): boolean {
    return this.interest.isWanted(messageOf(subject, ''));
  }

  /** Everything that was put off happens. */
  endTurn(): void {
    for (let next = this.later.shift(); next !== undefined; next = this.later.shift()) next();
  }

  held(): number[] {
    const sequences: number[] = [];
    for (let at = this.store.next(1, null); at > 0; at = this.store.next(at + 1, null)) sequences.push(at);
    return sequences;
  }
}

describe('a stream that keeps messages by interest', () => {
  it('knows what is wanted as consumers come, change and go', () => {
    const site = new Site('interest');
    expect(site.isWanted('a')).toBe(false);
    const consumers = Array.from({ length: 100 }, (_, at) => site.consumer(`a.${at}`));
    site.publish('a.5', 'a.7');
    expect(['a.5', 'a.7', 'a.99', 'a.100', 'a'].map((each) => site.isWanted(each))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    for (let at = 0; at < 3000; at++) expect(site.isWanted(`b.${at}`)).toBe(false);
    const [, , , , , fifth] = consumers as [unknown, unknown, unknown, unknown, unknown, PlainConsumer];
    fifth.pattern = 'b.*';
    site.interest.changed();
    site.endTurn();
    expect(['a.5', 'b.5', 'a.7'].map((each) => site.isWanted(each))).toEqual([false, true, true]);
    expect(site.held()).toEqual([2]);
    const everything = site.consumer('>');
    expect(site.isWanted('c')).toBe(true);
    site.interest.remove(everything);
    expect(site.isWanted('c')).toBe(false);
  });

  it('lets go what the last one is done with', () => {
    const site = new Site('interest');
    const [one, two] = [site.consumer('>'), site.consumer('a')];
    site.publish('a', 'b', 'a');
    one.settle(3);
    expect(site.held()).toEqual([1, 3]);
    two.settle(1);
    expect(site.held()).toEqual([3]);
    site.interest.remove(two);
    site.interest.changed();
    site.endTurn();
    expect(site.held()).toEqual([]);
  });

  it('reviews more than one turn takes, and tells when it is through', () => {
    const site = new Site('interest');
    const consumers = Array.from({ length: 40 }, () => site.consumer('a'));
    site.publish(...Array.from({ length: 5000 }, (_, at) => (at % 2 === 0 ? 'a' : 'b')));
    for (const consumer of consumers) consumer.nextSequence = 2001;
    site.interest.changed();
    let isReviewed = false;
    site.interest.whenReviewed(() => (isReviewed = true));
    expect(isReviewed).toBe(false);
    site.endTurn();
    expect(isReviewed).toBe(true);
    expect(site.held()).toEqual(Array.from({ length: 1500 }, (_, at) => 2001 + 2 * at));
  });

  it('keeps nothing when the last consumer is gone, nor when it is told to keep by interest and has none', () => {
    const site = new Site('interest');
    const consumer = site.consumer('>');
    site.publish('a', 'b');
    site.interest.remove(consumer);
    site.interest.changed();
    expect(site.held()).toEqual([]);
    site.interest.setPolicy('limits');
    site.publish('a', 'b');
    site.interest.changed();
    site.interest.settled(3);
    expect(site.held()).toEqual([3, 4]);
    site.interest.setPolicy('interest');
    expect(site.held()).toEqual([]);
  });
});

describe('a work queue', () => {
  it('keeps what nobody wants, and lets go what its consumer is done with', () => {
    const site = new Site('workqueue');
    site.publish('a', 'b', 'c');
    expect(site.isWanted('d')).toBe(false);
    expect(site.interest.isSelective).toBe(false);
    const consumer = site.consumer('a');
    consumer.settle(1);
    expect(site.held()).toEqual([2, 3]);
    site.interest.remove(consumer);
    site.interest.changed();
    site.endTurn();
    expect(site.held()).toEqual([2, 3]);
  });

  it('lets go at start what its consumer was done with before', () => {
    const site = new Site('workqueue');
    site.publish('a', 'b', 'a', 'a');
    site.interest.stop();
    const consumer = site.consumer('a');
    consumer.nextSequence = 4;
    site.interest.start();
    site.endTurn();
    expect(site.held()).toEqual([2, 4]);
  });
});
