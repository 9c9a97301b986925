/**
 * Long work in short pieces. Work over many items is written as a generator that yields between pieces; the slicer runs
 * as many pieces as fit into SLICE_MS, lets the event loop do everything else, and goes on.
 */

import type { Io } from './io.ts';

/** So long one piece may take: whoever asks something meanwhile waits for two of them, one for each way. */
export const SLICE_MS = 2;

/**
 * Runs the work to its end; `done` gets what it returned. Errors it throws are thrown from the event loop. What the work
 * yields goes to `holds`: when that answers true, the work rests until `resume` is called.
 */
export function runSliced<T, S>(
  io: Io,
  work: Generator<S, T>,
  done: (result: T) => void,
  holds: (step: S, resume: () => void) => boolean = () => false,
): void {
  const { clock, timers } = io;
  const resume = (): void => {
    timers.afterTurn(slice);
  };
  const slice = (): void => {
    const until = clock.monotonicMs() + SLICE_MS;
    do {
      const step = work.next();
      if (step.done === true) {
        done(step.value);
        return;
      }
      if (holds(step.value, resume)) return;
    } while (clock.monotonicMs() < until);
    resume();
  };
  slice();
}
