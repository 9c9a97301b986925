/** What a start found in the store. */

export interface RecoveryReport {
  assets: number;
  frames: number;
  /** Bytes of the log that were durable once and can't be read. */
  damagedBytes: number;
  /** Files that could not be explained, by their new names. */
  readonly movedAside: string[];
}
