/** Starts the thread of `password-worker.mjs`. In the built binary this file is replaced by one that holds its text. */

import { Worker } from 'node:worker_threads';

export function startPasswordWorker(): Worker {
  return new Worker(new URL('password-worker.mjs', import.meta.url));
}
