/* oxlint-disable vitest/valid-title, vitest/valid-describe-callback, vitest/no-conditional-tests,
   vitest/no-disabled-tests -- tests are wrapped here, and what did not run must show as skipped */
import { describe, test } from 'vitest';

/** Registers tests that need something of the machine; where `absence` says what is missing they show as skipped. */
export function describeUnless(absence: string | null, title: string, tests: () => void): void {
  if (absence === null) describe(title, tests);
  else describe(title, () => test.skip(`skipped: ${absence}`, () => {}));
}
