/**
 * The work of one answer, in pieces: as many as fit into a slice, then the event loop does everything else. A piece may
 * have to wait for the disk. No wait is longer than WAIT_MS and all together not longer than WAITS_MS: somebody waits for
 * the answer, and what a slow disk keeps back is left out of it.
 */

import type { Io } from '../io/io.ts';
import { runSliced } from '../io/slicer.ts';

const WAIT_MS = 250;
const WAITS_MS = 1000;

/** Calls back when what is waited for is there, or never. */
export type Wait = (resume: () => void) => void;

/** Yields what it waits for, or nothing: others may have a turn now. */
export type AnswerWork<T = void> = Generator<Wait | void, T>;

export function runAnswer<T>(io: Io, work: AnswerWork<T>, done: (result: T) => void): void {
  const { clock, timers } = io;
  let waitedMs = 0;
  const waitFor = (wait: Wait, goOn: () => void): void => {
    const since = clock.monotonicMs();
    let isOver = false;
    const resume = (): void => {
      if (isOver) return;
      isOver = true;
      timer.cancel();
      waitedMs += clock.monotonicMs() - since;
      goOn();
    };
    const timer = timers.after(Math.min(WAIT_MS, WAITS_MS - waitedMs), resume);
    wait(resume);
  };
  runSliced(io, work, done, (wait, resume) => {
    if (wait === undefined || waitedMs >= WAITS_MS) return false;
    waitFor(wait, resume);
    return true;
  });
}
