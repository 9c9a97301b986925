import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * Makes an empty folder and returns its path. It is removed with everything in it when the running test has finished;
 * outside a test pass the hook that says when: `temporaryDirectory(afterAll)`.
 */
export function temporaryDirectory(whenDone: (remove: () => void) => void = onTestFinished): string {
  const path = makeTemporaryDirectory();
  whenDone(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** The same folder for callers outside vitest's hooks, who remove it themselves. */
export function makeTemporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'petiole-test-'));
}
