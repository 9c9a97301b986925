/** How a remote spools: which core messages it keeps while its link is down, and how many. */

export interface SpoolOptions {
  /** Patterns of the subjects; at least one. */
  readonly subjects: readonly string[];
  readonly maxBytes: number;
  /** 0: no limit. */
  readonly maxAgeMs: number;
  readonly whenFull: WhenFull;
}

/** What goes when there is no room: what was spooled first, or what comes. */
export type WhenFull = 'drop_oldest' | 'refuse';

export const SPOOL_BYTES_DEFAULT: number = 64 * 1024 * 1024;
