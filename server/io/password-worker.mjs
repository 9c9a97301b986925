/**
 * The thread that compares passwords with bcrypt hashes, one after the other in the order in which they came. Plain
 * JavaScript, since a thread starts from a file as it is.
 *
 *     ◄── { id, hash, password }      ──► { id, matches }
 *
 * It works for hours if strangers want it to, so it runs with a low priority: whoever else has something to do on
 * a busy machine, the thread that serves messages above all, comes first. Where priorities are those of processes it
 * keeps the one it has.
 */
import { constants, platform, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

// For Linux this thread is the one that asks; elsewhere it would be the whole process.
if (platform() === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

parentPort?.on('message', ({ id, hash, password }) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage({ id, matches: compareSync(password, hash) });
});
