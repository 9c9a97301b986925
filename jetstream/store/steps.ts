/** Asynchronous steps one after the other; the first error ends them. */

import type { Done, IoError } from '../../server/io/io.ts';

export type Step = (next: Done) => void;

export function inOrder(steps: readonly Step[], done: Done): void {
  let at = 0;
  const next = (error: IoError | null): void => {
    const step = steps[at++];
    if (error !== null || step === undefined) done(error);
    else step(next);
  };
  next(null);
}
