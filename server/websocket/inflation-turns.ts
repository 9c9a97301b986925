/**
 * Whose turn it is to hand on what was inflated. A few kilobytes of one client inflate to megabytes of operations, and
 * every inflater has its next piece ready while the last one is looked at: a dozen such clients would fill each turn of the
 * event loop between them. So all of them together hand on no more than BYTES_A_TURN, and a piece, in a turn; what comes
 * behind that waits in a queue, one piece of each connection, and goes first in the next turn.
 *
 *     piece ──room in this turn, nobody waits──► handed on
 *       └──otherwise──► queue ──afterTurn──► handed on
 *
 * Where little is inflated nothing waits.
 */

import type { Timers } from '../io/io.ts';

/** A piece of an inflater. */
export const BYTES_A_TURN: number = 16 * 1024;

/** One that has a piece and waits. */
export interface Waiting {
  readonly heldBytes: number;
  /** Hands it on. */
  turnCame(): void;
}

export class InflationTurns {
  private readonly timers: Pick<Timers, 'afterTurn'>;
  private readonly queue = new Set<Waiting>();
  private bytesLeft = BYTES_A_TURN;
  private isScheduled = false;

  constructor(timers: Pick<Timers, 'afterTurn'>) {
    this.timers = timers;
  }

  /** Whether so many bytes can be handed on in this turn, which then counts as done. */
  take(bytes: number): boolean {
    if (this.queue.size > 0 || this.bytesLeft <= 0) return false;
    this.spend(bytes);
    return true;
  }

  /** Calls `turnCame` in a later turn, unless it leaves before. */
  wait(waiting: Waiting): void {
    this.queue.add(waiting);
    this.schedule();
  }

  leave(waiting: Waiting): void {
    this.queue.delete(waiting);
  }

  private spend(bytes: number): void {
    this.bytesLeft -= bytes;
    this.schedule();
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    this.timers.afterTurn(() => this.begin());
  }

  /** Another turn. */
  private begin(): void {
    this.isScheduled = false;
    this.bytesLeft = BYTES_A_TURN;
    for (const waiting of this.queue) {
      if (this.bytesLeft <= 0) break;
      this.queue.delete(waiting);
      this.spend(waiting.heldBytes);
      waiting.turnCame();
    }
    if (this.queue.size > 0) this.schedule();
  }
}
