/** An operating error as the system gives it: with the system's code, and a message of the runtime's shape. */

import type { IoError } from '../io.ts';

/** `ENOENT: open '/data/x'` */
export class SystemError extends Error implements IoError {
  override readonly name = 'SystemError';
  readonly code: string;

  constructor(code: string, what: string) {
    super(`${code}: ${what}`);
    this.code = code;
  }
}
