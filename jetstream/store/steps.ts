/** Asynchronous steps one after the other; the first error ends them. Steps that are done at once nest nothing. */

import type { Done, IoError } from '../../server/io/io.ts';

export type Step = (next: Done) => void;

export function inOrder(steps: readonly Step[], done: Done): void {
  let at = 0;
  let isRunning = false;
  let isAnswered = true;
  let failure: IoError | null = null;
  const run = (): void => {
    if (isRunning) return;
    isRunning = true;
    while (isAnswered) {
      const step = steps[at++];
      if (failure !== null || step === undefined) {
        done(failure);
        return;
      }
      isAnswered = false;
      step((error) => {
        isAnswered = true;
        failure = error;
        run();
      });
    }
    isRunning = false;
  };
  run();
}
