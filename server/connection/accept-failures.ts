/**
 * What the log says of connections that could not be accepted. The system may say so thousands of times a second, for
 * as long as it has no file descriptor to spare: the first time is logged at once, and what follows as a count, at most
 * one line in INTERVAL_MS.
 */

import type { Clock, IoError } from '../io/io.ts';
import type { Log } from '../io/log.ts';

const INTERVAL_MS = 10_000;

export class AcceptFailures {
  private readonly log: Log;
  private readonly clock: Clock;
  private loggedMs: number = Number.NEGATIVE_INFINITY;
  private unlogged = 0;

  constructor(log: Log, clock: Clock) {
    this.log = log;
    this.clock = clock;
  }

  note(error: IoError): void {
    const now = this.clock.monotonicMs();
    if (now - this.loggedMs < INTERVAL_MS) {
      this.unlogged++;
      return;
    }
    const before = this.unlogged === 0 ? '' : ` (${this.unlogged} more since the last report)`;
    this.loggedMs = now;
    this.unlogged = 0;
    this.log.error(`Error accepting a client connection: ${error.message}${before}`);
  }
}
