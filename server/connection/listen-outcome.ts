/** What becomes of a listener: it says once whether listening began; failures after that are of single connections. */

import type { Io, IoError, ListenHandler } from '../io/io.ts';
import type { Log } from '../io/log.ts';
import { AcceptFailures } from './accept-failures.ts';

/** `finish` hears the port, or why there is none. */
export function listenOutcome(
  { io, log }: { readonly io: Io; readonly log: Log },
  finish: (port: number, error: IoError | null) => void,
): Omit<ListenHandler, 'accepted'> {
  const failures = new AcceptFailures(log, io.clock);
  let isOpen = false;
  return {
    listening: ({ port }) => {
      isOpen = true;
      finish(port, null);
    },
    failed: (error) => {
      if (isOpen) failures.note(error);
      else finish(0, error);
    },
  };
}
