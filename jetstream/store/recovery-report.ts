/** What a start found in the store. */

export interface RecoveryReport {
  assets: number;
  frames: number;
  /** Bytes of the log that were durable once and can't be read. */
  damagedBytes: number;
  /** What is known to be missing at the end of the log, in words. */
  missingEnd: string | null;
  /** Files that could not be explained, by their new names. */
  readonly movedAside: string[];
}
