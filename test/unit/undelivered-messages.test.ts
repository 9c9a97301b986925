/** Who asks what a consumer has yet to deliver while that is being found out is answered when it is known. */
import { expect, it } from 'vitest';
import { ConsumerState } from '../../jetstream/consumer/consumer-state.ts';
import { SubjectFilter } from '../../jetstream/consumer/subject-filter.ts';
import { UndeliveredMessages } from '../../jetstream/consumer/undelivered-messages.ts';
import { MemoryStore } from '../../jetstream/store/memory-store.ts';
import { LOADING } from '../../jetstream/store/store.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';
import { messageOf } from '../helpers/store-messages.ts';

/** A store whose messages are not in memory until it is warm. */
class ColdStore extends MemoryStore {
  private isCold = true;
  private waiting: (() => void) | null = null;

  override next(from: number, accepts: ((subject: number) => boolean) | null): number {
    return this.isCold ? LOADING : super.next(from, accepts);
  }

  override whenReadable(_sequence: number, then: () => void): void {
    this.waiting = then;
  }

  warm(): void {
    this.isCold = false;
    this.waiting?.();
  }
}

function coldSite(): { store: ColdStore; undelivered: UndeliveredMessages } {
  const world = new SimulatedWorld(1);
  const { io } = world.machine('site').start();
  const store = new ColdStore(io.timers, { stored: () => {}, removed: () => {}, purged: () => {} }, 1);
  for (const subject of ['a', 'b', 'b', 'a', 'b'])
    store.append(messageOf(subject, 'x'), { seconds: 1, nanoseconds: 0 });
  world.scheduler.runFor(10);
  // From the second message on, so that they are counted one by one.
  const undelivered = new UndeliveredMessages(
    io,
    store,
    new ConsumerState(2),
    new SubjectFilter('b', store.subjects),
    0,
  );
  return { store, undelivered };
}

it('answers when all is counted', () => {
  const { store, undelivered } = coldSite();
  const counts: number[] = [];
  undelivered.find(
    [],
    () => {},
    () => counts.push(-1),
  );
  undelivered.whenKnown(() => counts.push(undelivered.count));
  expect(counts).toEqual([]);
  store.warm();
  // The consumer itself hears of it first.
  expect(counts).toEqual([-1, 3]);
  undelivered.whenKnown(() => counts.push(undelivered.count));
  expect(counts).toEqual([-1, 3, 3]);
});

it('leaves nobody without an answer when the consumer ends meanwhile', () => {
  const { undelivered } = coldSite();
  let answers = 0;
  undelivered.find(
    [],
    () => {},
    () => expect.unreachable(),
  );
  undelivered.whenKnown(() => answers++);
  undelivered.stop();
  undelivered.whenKnown(() => answers++);
  expect(answers).toBe(2);
});
