/**
 * Where configuration comes from besides the command line: files and the environment, both given by whoever asks, so
 * that nothing in this folder touches the process or the disk itself.
 */

import type { Disk } from '../io/io.ts';

export interface ConfigSources {
  /** The bytes of a file, or why it could not be read. */
  readonly readFile: (path: string) => Uint8Array | Error;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Sources that read the real or simulated disk. */
export function diskSources(
  disk: Pick<Disk, 'readFileNow'>,
  environment: Readonly<Record<string, string | undefined>>,
): ConfigSources {
  const readFile = (path: string): Uint8Array | Error => {
    try {
      return disk.readFileNow(path);
    } catch (error) {
      // Not instanceof: a test runner's realm has another Error.
      if (typeof error === 'object' && error !== null && 'message' in error) return error as Error;
      throw error;
    }
  };
  return { readFile, environment };
}
