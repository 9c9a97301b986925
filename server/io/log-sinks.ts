/** Where log lines go: standard error, or a file that can be opened anew after it was moved away. */

import fs from 'node:fs';
import type { LogSink } from './log.ts';

const FILE_MODE = 0o640;

export interface ReopenableSink {
  readonly write: LogSink;
  /** Opens the file anew under its name. False when the log does not go to a file. */
  reopen(): boolean;
}

export function standardErrorSink(): ReopenableSink {
  const write = (line: string): void => {
    process.stderr.write(line);
  };
  return { write, reopen: () => false };
}

/** Appends to the file. Throws when it can't be opened. */
export function fileSink(path: string): ReopenableSink {
  let descriptor = fs.openSync(path, 'a', FILE_MODE);
  return {
    write: (line) => {
      fs.writeSync(descriptor, line);
    },
    reopen: () => {
      const reopened = fs.openSync(path, 'a', FILE_MODE);
      fs.closeSync(descriptor);
      descriptor = reopened;
      return true;
    },
  };
}
