/**
 * Passwords against bcrypt hashes, in a thread of their own: a comparison takes between a millisecond and seconds, and
 * neither messages nor the disk may wait for it. The thread starts with the first comparison and keeps nobody from
 * ending the process.
 *
 * Bound: `WAITING_MAX` comparisons; one more is refused at once.
 */

import type { Worker } from 'node:worker_threads';
import type { Passwords } from './io.ts';
import { startPasswordWorker } from './password-worker-start.ts';

const WAITING_MAX = 1_024;

interface Answer {
  readonly id: number;
  readonly matches: boolean;
}

export class RealPasswords implements Passwords {
  private worker: Worker | null = null;
  private nextId = 1;
  private readonly waiting = new Map<number, (matches: boolean) => void>();

  compare(hash: string, password: string, done: (matches: boolean) => void): boolean {
    if (this.waiting.size >= WAITING_MAX) return false;
    this.worker ??= this.start();
    const id = this.nextId++;
    this.waiting.set(id, done);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    this.worker.postMessage({ id, hash, password });
    return true;
  }

  private start(): Worker {
    const worker = startPasswordWorker();
    worker.on('message', ({ id, matches }: Answer) => {
      const done = this.waiting.get(id);
      this.waiting.delete(id);
      done?.(matches);
    });
    // Without its thread nobody logs in with a password; the next one who tries gets a new thread.
    worker.on('error', () => this.lost());
    worker.unref();
    return worker;
  }

  private lost(): void {
    this.worker = null;
    const unanswered = [...this.waiting.values()];
    this.waiting.clear();
    for (const done of unanswered) done(false);
  }
}
