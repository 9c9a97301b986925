/**
 * Work over many messages, in short pieces: a generator that yields what it waits for.
 *
 *     0           nothing: others may have a turn now
 *     a sequence  the message, or what is needed to find it, is to be in memory
 *     CONGESTED   the receiver has much unsent
 *
 * The first piece is done at once, so short work answers in the turn in which it was asked.
 */

import type { Io } from '../../server/io/io.ts';
import { SLICE_MS } from '../../server/io/slicer.ts';
import type { MessageStore } from './store.ts';

export const CONGESTED = -1;

const CONGESTED_RETRY_MS = 2;

export type Paced<T> = Generator<number, T>;

/** Runs the work to its end, where `done` gets its result, or until it `isOver`. */
export function runPaced<T>(
  io: Io,
  store: MessageStore,
  work: Paced<T>,
  isOver: () => boolean,
  done: (result: T) => void,
): void {
  const { clock, timers } = io;
  const run = (): void => {
    if (isOver()) return;
    const until = clock.monotonicMs() + SLICE_MS;
    for (;;) {
      const step = work.next();
      if (step.done === true) {
        done(step.value);
        return;
      }
      if (step.value > 0) {
        store.whenReadable(step.value, run);
        return;
      }
      if (step.value === CONGESTED) {
        timers.after(CONGESTED_RETRY_MS, run);
        return;
      }
      if (clock.monotonicMs() >= until) {
        timers.afterTurn(run);
        return;
      }
    }
  };
  run();
}
