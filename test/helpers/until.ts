import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 10;

/**
 * Waits until `condition` gives something other than false, null or undefined, and returns that. Fails after
 * `timeoutMs` with a message that names `what` was awaited; an error thrown by the condition ends the wait at once.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  what: string,
  timeoutMs = 15_000,
): Promise<Exclude<T, false | null | undefined>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value !== false && value !== null && value !== undefined) return value as Exclude<T, false | null | undefined>;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
    await delay(POLL_MS);
  }
}
