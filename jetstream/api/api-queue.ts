/**
 * Requests to the API that wait for their turn: each is handled when the one before it is answered, and in a turn of its
 * own, so that thousands of them delay nobody else's messages.
 *
 * Bound: `limit` requests. Whoever overfills the queue empties it: nobody could say which of them still matter.
 */

import type { Timers } from '../../server/io/io.ts';

/** Deals with one request; calls `done` once, when it is answered. */
export type HandleRequest<Request> = (request: Request, done: () => void) => void;

export class ApiQueue<Request> {
  private readonly timers: Timers;
  private readonly limit: number;
  private readonly handle: HandleRequest<Request>;
  private waiting: Request[] = [];
  /** Where in `waiting` the next one is. */
  private head = 0;
  private isBusy = false;

  constructor(timers: Timers, limit: number, handle: HandleRequest<Request>) {
    this.timers = timers;
    this.limit = limit;
    this.handle = handle;
  }

  /** Puts the request at the end; how many were dropped because there are too many now, with this one. */
  push(request: Request): number {
    this.waiting.push(request);
    const count = this.waiting.length - this.head;
    if (count >= this.limit) {
      this.clear();
      return count;
    }
    if (!this.isBusy) this.next();
    return 0;
  }

  clear(): void {
    this.waiting = [];
    this.head = 0;
  }

  private next(): void {
    this.isBusy = this.head < this.waiting.length;
    if (this.isBusy) this.timers.afterTurn(() => this.handleFirst());
  }

  private handleFirst(): void {
    const request = this.waiting[this.head];
    if (request === undefined) {
      this.clear();
      this.isBusy = false;
      return;
    }
    this.head++;
    if (this.head === this.waiting.length) this.clear();
    this.handle(request, () => this.next());
  }
}
