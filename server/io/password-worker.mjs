/**
 * The thread that compares passwords with bcrypt hashes, one after the other in the order in which they came. Plain
 * JavaScript, since a thread starts from a file as it is.
 *
 *     ◄── { id, hash, password }      ──► { id, matches }
 */
import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

parentPort?.on('message', ({ id, hash, password }) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage({ id, matches: compareSync(password, hash) });
});
